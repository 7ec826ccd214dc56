// Code that could give equal nodes unequal bits is refused.
#include "code/verify_code.h"

#include <doctest/doctest.h>
#include <llvm/IR/IRBuilder.h>

#include <error_text.h>

using namespace weft;

namespace {

// The error of a function of one float, made by `emit`.
template <class Emit> std::string error_of(const Emit& emit) {
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(b.getFloatTy(), {b.getFloatTy()}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  b.CreateRet(emit(b, function->getArg(0)));
  return error_text([&] { verify(module); });
}

}  // namespace

TEST_CASE("exactly defined instructions pass") {
  CHECK(error_of([](auto& b, llvm::Value* x) { return b.CreateFAdd(b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, x, x}), x); }) == "no error");
  CHECK(error_of([](auto& b, llvm::Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }) == "no error");
}

TEST_CASE("instructions that may be contracted or reassociated are refused") {
  const auto relaxed = [](auto& b, llvm::Value* x) {
    b.setFastMathFlags([] { llvm::FastMathFlags flags; flags.setAllowContract(true); return flags; }());
    return b.CreateFMul(x, x);
  };
  CHECK(error_of(relaxed).starts_with("internal: an instruction of f is relaxed:"));
}

TEST_CASE("functions that LLVM chooses the implementation of are refused") {
  for (auto id : {llvm::Intrinsic::exp, llvm::Intrinsic::maxnum, llvm::Intrinsic::fmuladd, llvm::Intrinsic::sin}) {
    const auto call = [&](auto& b, llvm::Value* x) {
      std::vector<llvm::Value*> operands(id == llvm::Intrinsic::fmuladd ? 3 : id == llvm::Intrinsic::maxnum ? 2 : 1, x);
      return b.CreateIntrinsic(id, {x->getType()}, operands);
    };
    CHECK(error_of(call).starts_with("internal: an instruction of f is not exactly defined:"));
  }
}
