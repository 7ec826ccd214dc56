// With WEFT_EMULATE=avx512f,avx512bw,.. in the environment, all tests of a binary that has this are those of a processor that has these features too:
// loops are chosen and emitted for it; then each of its instructions becomes a call of what says in C++ what it does (avx512.h), and the rest is code
// for this machine.
#include "avx512.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <weft/error.h>

#include "code/features.h"

namespace {

using namespace llvm;

// An instruction that gives `lanes` numbers of three vectors, if it has so many, and a number that it contains.
using Instruction = void (*)(int lanes, void* result, const void* a, const void* b, const void* c, int control);

template <class T, class Each> void each_lane(int lanes, void* result, const Each& each) {
  std::array<T, 64> results{};
  for (int k = 0; k < lanes; ++k) results[static_cast<std::size_t>(k)] = each(k);
  std::memcpy(result, results.data(), sizeof(T) * static_cast<std::size_t>(lanes));
}

template <class T, auto function> void of_one(int lanes, void* result, const void* a, const void*, const void*, int) {
  each_lane<T>(lanes, result, [&](int k) { return function(static_cast<const T*>(a)[k]); });
}
template <class T> void getmant(int lanes, void* result, const void* a, const void*, const void*, int control) {
  each_lane<T>(lanes, result, [&](int k) { return avx512::getmant(static_cast<const T*>(a)[k], control); });
}
template <class T> void scalef(int lanes, void* result, const void* a, const void* b, const void*, int) {
  each_lane<T>(lanes, result, [&](int k) { return avx512::scalef(static_cast<const T*>(a)[k], static_cast<const T*>(b)[k]); });
}
template <class T> void range(int lanes, void* result, const void* a, const void* b, const void*, int control) {
  each_lane<T>(lanes, result, [&](int k) { return avx512::range(static_cast<const T*>(a)[k], static_cast<const T*>(b)[k], control); });
}
template <class T> void fixupimm(int lanes, void* result, const void* a, const void* b, const void* c, int) {
  each_lane<T>(lanes, result, [&](int k) { return avx512::fixupimm(static_cast<const T*>(a)[k], static_cast<const T*>(b)[k], static_cast<const avx512::Bits<T>*>(c)[k]); });
}
template <class T, class Place> void permute(int lanes, void* result, const void* a, const void* places, const void*, int) {
  each_lane<T>(lanes, result, [&](int k) { return static_cast<const T*>(a)[static_cast<const Place*>(places)[k] % static_cast<Place>(lanes)]; });
}
template <class T, class Place> void permute_two(int lanes, void* result, const void* a, const void* places, const void* c, int) {
  each_lane<T>(lanes, result, [&](int k) {
    const int place = static_cast<int>(static_cast<const Place*>(places)[k] % static_cast<Place>(2 * lanes));
    return place < lanes ? static_cast<const T*>(a)[place] : static_cast<const T*>(c)[place - lanes];
  });
}

// By the names of LLVM's intrinsics, up to the number of bits; and which of its operands are vectors and the number, the others being "all lanes".
struct Meaning {
  Instruction instruction;
  unsigned vectors;
  int control = -1;
};
const std::map<std::string, Meaning, std::less<>>& meanings() {
  using u8 = std::uint8_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  static const std::map<std::string, Meaning, std::less<>> all{
      {"mask.getexp.ps", {of_one<float, avx512::getexp<float>>, 1}}, {"mask.getexp.pd", {of_one<double, avx512::getexp<double>>, 1}},
      {"rcp14.ps", {of_one<float, avx512::rcp14<float>>, 1}}, {"rcp14.pd", {of_one<double, avx512::rcp14<double>>, 1}},
      {"rsqrt14.ps", {of_one<float, avx512::rsqrt14<float>>, 1}}, {"rsqrt14.pd", {of_one<double, avx512::rsqrt14<double>>, 1}},
      {"mask.getmant.ps", {getmant<float>, 1, 1}}, {"mask.getmant.pd", {getmant<double>, 1, 1}},
      {"mask.scalef.ps", {scalef<float>, 2}}, {"mask.scalef.pd", {scalef<double>, 2}},
      {"mask.range.ps", {range<float>, 2, 2}}, {"mask.range.pd", {range<double>, 2, 2}},
      {"mask.fixupimm.ps", {fixupimm<float>, 3}}, {"mask.fixupimm.pd", {fixupimm<double>, 3}},
      {"permvar.sf", {permute<float, u32>, 2}}, {"permvar.df", {permute<double, u64>, 2}},
      {"vpermi2var.ps", {permute_two<float, u32>, 3}}, {"vpermi2var.pd", {permute_two<double, u64>, 3}}, {"vpermi2var.qi", {permute_two<u8, u8>, 3}}};
  return all;
}

constexpr std::string_view prefix = "llvm.x86.avx512.";

void translate(CallInst& call) {
  const std::string name = call.getCalledFunction()->getName().str();
  const auto found = meanings().find(name.substr(prefix.size(), name.rfind('.') - prefix.size()));
  if (found == meanings().end()) weft::fail(weft::ErrorKind::internal, "emulate_avx512.cpp does not know " + name);
  const Meaning& meaning = found->second;
  IRBuilder<> b(&call);
  IRBuilder<> entry(&*call.getFunction()->getEntryBlock().begin());
  auto* type = cast<FixedVectorType>(call.getType());
  std::vector<Value*> arguments{b.getInt32(type->getNumElements()), entry.CreateAlloca(type)};
  for (unsigned k = 0; k < 3; ++k) {
    if (k < meaning.vectors) b.CreateStore(call.getArgOperand(k), arguments.emplace_back(entry.CreateAlloca(call.getArgOperand(k)->getType())));
    else arguments.push_back(ConstantPointerNull::get(b.getPtrTy()));
  }
  arguments.push_back(meaning.control < 0 ? b.getInt32(0) : call.getArgOperand(static_cast<unsigned>(meaning.control)));
  auto* function = FunctionType::get(b.getVoidTy(), {b.getInt32Ty(), b.getPtrTy(), b.getPtrTy(), b.getPtrTy(), b.getPtrTy(), b.getInt32Ty()}, false);
  b.CreateCall(function, b.CreateIntToPtr(b.getInt64(reinterpret_cast<std::uint64_t>(meaning.instruction)), b.getPtrTy()), arguments);
  call.replaceAllUsesWith(b.CreateLoad(type, arguments[1]));
  call.eraseFromParent();
}

void translate(Module& module) {
  for (Function& function : module) {
    std::vector<CallInst*> calls;
    for (auto& block : function)
      for (auto& instruction : block)
        if (auto* call = dyn_cast<CallInst>(&instruction); call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with(prefix)) calls.push_back(call);
    for (CallInst* call : calls) translate(*call);
    if (function.getFnAttribute("target-features").getValueAsString().contains("+avx512f")) function.addFnAttr("target-features", weft::true_features());
  }
}

[[maybe_unused]] const bool emulates = [] {
  const char* names = std::getenv("WEFT_EMULATE");
  if (!names || !*names) return false;
  std::vector<std::string> features;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) features.push_back(name);
  // A processor that has them all needs no words for its instructions: tests look for these in what it runs.
  const auto is_there = [](const std::string& name) { return weft::has_feature(weft::true_features(), "+" + name); };
  if (std::all_of(features.begin(), features.end(), is_there)) return false;
  weft::pretend(features, translate);
  return true;
}();

}  // namespace
