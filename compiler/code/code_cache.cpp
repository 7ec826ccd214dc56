#include "code_cache.h"

#include <chrono>
#include <cstdint>
#include <cstring>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/CachePruning.h>
#include <llvm/Support/FileOutputBuffer.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <weft/error.h>
#include <weft/text.h>

#include "source_hash.h"
#include "target.h"

namespace weft {
namespace {

using Digest = llvm::BLAKE3Result<>;
using Count = std::uint64_t;

Digest digest_of(llvm::ArrayRef<std::uint8_t> bytes) { return llvm::BLAKE3::hash<>(bytes); }

// Of what a file of this name has: that of another one, under a name that is not its own, is none.
Digest digest_of(llvm::StringRef path, llvm::ArrayRef<std::uint8_t> bytes) {
  llvm::BLAKE3 hash;
  hash.update(llvm::sys::path::filename(path));
  hash.update(bytes);
  return hash.final<sizeof(Digest)>();
}

std::string key_of(const llvm::Module& module) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  const auto target = target_of_host();
  out << WEFT_SOURCE_HASH << '\n' << LLVM_VERSION_STRING << '\n' << target.getCPU() << '\n' << target.getFeatures().getString() << '\n';
  llvm::WriteBitcodeToFile(module, out);
  return llvm::toHex(digest_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}), /*LowerCase=*/true);
}

// A file: the digest of its name and of the rest, the number of objects, their sizes, their bytes.
std::vector<std::uint8_t> contents_of(llvm::StringRef path, const std::vector<Bytes>& objects) {
  std::vector<std::uint8_t> contents(sizeof(Digest));
  const auto append = [&](const void* data, std::size_t size) { contents.insert(contents.end(), static_cast<const std::uint8_t*>(data), static_cast<const std::uint8_t*>(data) + size); };
  const auto append_count = [&](Count count) { append(&count, sizeof count); };
  append_count(objects.size());
  for (const Bytes& object : objects) append_count(object.size());
  for (const Bytes& object : objects) append(object.data(), object.size());
  const Digest digest = digest_of(path, llvm::ArrayRef(contents).drop_front(sizeof(Digest)));
  std::memcpy(contents.data(), digest.data(), digest.size());
  return contents;
}

// Nothing if these are not whole contents of that file.
std::optional<std::vector<Bytes>> objects_in(llvm::StringRef path, llvm::ArrayRef<std::uint8_t> contents) {
  if (contents.size() < sizeof(Digest) + sizeof(Count)) return std::nullopt;
  auto rest = contents.drop_front(sizeof(Digest));
  const Digest digest = digest_of(path, rest);
  if (std::memcmp(contents.data(), digest.data(), digest.size()) != 0) return std::nullopt;
  const auto take_count = [&] {
    Count count;
    std::memcpy(&count, rest.data(), sizeof count);
    rest = rest.drop_front(sizeof count);
    return static_cast<std::size_t>(count);
  };
  std::vector<std::size_t> sizes(take_count());
  for (std::size_t& size : sizes) size = take_count();
  std::vector<Bytes> objects;
  for (std::size_t size : sizes) {
    objects.emplace_back(rest.begin(), rest.begin() + size);
    rest = rest.drop_front(size);
  }
  return objects;
}

constexpr const char* prefix = "llvmcache-weft-";          // LLVM prunes files that begin with llvmcache-

void prune(const std::string& directory) {
  llvm::CachePruningPolicy policy;
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = std::uint64_t{1} << 30;
  llvm::pruneCache(directory, policy);
}

}  // namespace

std::string open_cache_dir(const std::string& directory) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> path(directory);
  std::error_code error = fs::make_absolute(path);
  if (!error) error = fs::create_directories(path, /*IgnoreExisting=*/true, fs::owner_all);
  if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error) error = fs::access(path, fs::AccessMode::Write);
  WEFT_REQUIRE(!error, usage, "Options::cache_dir: expected a directory to keep machine code in, got ", directory, ": ", error.message(),
               "\n  name a directory that can be written to or made, or none");
  return path.str().str();
}

CodeCache::CodeCache(const std::string& directory, const llvm::Module& module) : directory_(directory) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, prefix + key_of(module));
  path_ = path.str().str();
}

std::optional<std::vector<Bytes>> CodeCache::find() const {
  if (!llvm::sys::fs::is_regular_file(path_)) return std::nullopt;          // a pipe would be waited for
  // Read, not mapped: a mapped file that another process cuts short is a crash.
  const auto file = llvm::MemoryBuffer::getFile(path_, /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!file) return std::nullopt;
  return objects_in(path_, llvm::arrayRefFromStringRef((*file)->getBuffer()));
}

void CodeCache::keep(const std::vector<Bytes>& objects) const {
  const auto contents = contents_of(path_, objects);
  auto file = llvm::FileOutputBuffer::create(path_, contents.size());
  if (!file) return llvm::consumeError(file.takeError());
  std::memcpy((*file)->getBufferStart(), contents.data(), contents.size());
  if (auto error = (*file)->commit()) return llvm::consumeError(std::move(error));
  prune(directory_);
}

}  // namespace weft
