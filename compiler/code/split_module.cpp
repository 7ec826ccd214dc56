#include "split_module.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <weft/error.h>

namespace weft {
namespace {

// By part: names of its functions. The largest first, each to the part that has the least.
std::vector<std::set<std::string>> share_out(const llvm::Module& module, int most) {
  struct Sized {
    std::size_t size, place;
    const llvm::Function* function;
  };
  std::vector<Sized> sizes;
  std::size_t total = 0;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) sizes.push_back({function.getInstructionCount(), sizes.size(), &function}), total += sizes.back().size;
  std::sort(sizes.begin(), sizes.end(), [](const Sized& a, const Sized& b) { return a.size != b.size ? a.size > b.size : a.place < b.place; });
  const int functions = std::max(static_cast<int>(sizes.size()), 1);
  std::vector<std::set<std::string>> parts(static_cast<std::size_t>(std::min(functions, parts_worth_threads(total, most))));
  std::vector<std::size_t> load(parts.size(), 0);
  for (const auto& [size, place, function] : sizes) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[least] += size;
    parts[least].insert(function->getName().str());
  }
  return parts;
}

void leave_bodies_of(llvm::Module& module, const std::set<std::string>& names) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && names.count(function.getName().str()) == 0) function.deleteBody();
}

// A copy in a context of its own, as contexts are not for several threads. Bodies that it leaves out are not read.
OwnedModule part_of(llvm::ArrayRef<char> bitcode, const std::set<std::string>& names) {
  OwnedModule part;
  const auto check = [](llvm::Error error) {
    if (error) fail(ErrorKind::internal, "cannot copy a part of a module: " + llvm::toString(std::move(error)));
  };
  auto read = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(llvm::StringRef(bitcode.data(), bitcode.size()), "part"), *part.context);
  if (!read) check(read.takeError());
  part.module = std::move(*read);
  leave_bodies_of(*part.module, names);
  check(part.module->materializeAll());
  return part;
}

}  // namespace

int parts_worth_threads(std::size_t instructions, int most) {
  constexpr std::size_t worth_a_thread = 150;           // some 2 ms of code generation, for .4 that it takes to share them
  return std::clamp(static_cast<int>(instructions / worth_a_thread), 1, std::max(most, 1));
}

std::vector<std::function<OwnedModule()>> split_module(OwnedModule whole, int most) {
  auto first = std::make_shared<OwnedModule>(std::move(whole));         // a std::function can be copied
  llvm::Module& module = *first->module;
  const auto shares = share_out(module, most);
  std::vector<std::function<OwnedModule()>> parts{[first] { return std::move(*first); }};
  if (shares.size() == 1) return parts;
  for (llvm::Function& function : module)
    if (function.hasLocalLinkage()) function.setLinkage(llvm::GlobalValue::ExternalLinkage), function.setDSOLocal(true);
  auto bitcode = std::make_shared<llvm::SmallVector<char, 0>>();
  llvm::raw_svector_ostream out(*bitcode);
  llvm::WriteBitcodeToFile(module, out);
  leave_bodies_of(module, shares[0]);
  for (std::size_t part = 1; part < shares.size(); ++part) parts.push_back([bitcode, names = shares[part]] { return part_of(*bitcode, names); });
  return parts;
}

}  // namespace weft
