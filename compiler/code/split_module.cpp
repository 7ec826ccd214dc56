#include "split_module.h"

#include <algorithm>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <weft/error.h>

namespace weft {
namespace {

// Instructions that are worth a thread: some 20 ms of code generation, for a copy of a tenth of that.
constexpr std::size_t worth_a_thread = 1000;

// By part: its functions. The largest first, each to the part that has the least.
std::vector<std::vector<const llvm::Function*>> share_out(const llvm::Module& module, std::size_t most) {
  struct Sized {
    std::size_t size, place;
    const llvm::Function* function;
  };
  std::vector<Sized> sizes;
  std::size_t total = 0;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) sizes.push_back({function.getInstructionCount(), sizes.size(), &function}), total += sizes.back().size;
  std::sort(sizes.begin(), sizes.end(), [](const Sized& a, const Sized& b) { return a.size != b.size ? a.size > b.size : a.place < b.place; });
  std::vector<std::vector<const llvm::Function*>> parts(std::clamp<std::size_t>(std::min(total / worth_a_thread, sizes.size()), 1, most));
  std::vector<std::size_t> load(parts.size(), 0);
  for (const auto& [size, place, function] : sizes) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[least] += size;
    parts[least].push_back(function);
  }
  return parts;
}

// A copy that has the bodies of these functions, in a context of its own: contexts are not for several threads.
OwnedModule part_of(const llvm::Module& module, const std::vector<const llvm::Function*>& functions) {
  llvm::ValueToValueMapTy copies;
  const auto copy = llvm::CloneModule(module, copies, [&](const llvm::GlobalValue* value) {
    return !llvm::isa<llvm::Function>(value) || std::find(functions.begin(), functions.end(), value) != functions.end();
  });
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::WriteBitcodeToFile(*copy, out);
  OwnedModule part;
  auto read = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), "part"), *part.context);
  if (!read) fail(ErrorKind::internal, "cannot copy a part of a module: " + llvm::toString(read.takeError()));
  part.module = std::move(*read);
  return part;
}

}  // namespace

std::vector<OwnedModule> split_module(OwnedModule whole, std::size_t most) {
  const auto shares = share_out(*whole.module, std::max<std::size_t>(most, 1));
  std::vector<OwnedModule> parts;
  if (shares.size() == 1) {
    parts.push_back(std::move(whole));
    return parts;
  }
  for (llvm::Function& function : *whole.module)
    if (function.hasLocalLinkage()) function.setLinkage(llvm::GlobalValue::ExternalLinkage), function.setDSOLocal(true);
  for (const auto& functions : shares) parts.push_back(part_of(*whole.module, functions));
  return parts;
}

}  // namespace weft
