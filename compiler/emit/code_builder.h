// The function under construction, at its lowest level: branches, loops, cells of the stack, numbers.
#pragma once
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <weft/graph.h>

namespace weft {

class CodeBuilder {
 protected:
  using Value = llvm::Value;

  explicit CodeBuilder(llvm::Module& module) : module_(module), context_(module.getContext()), b_(context_), entry_(context_) {}

  template <class Body> llvm::BranchInst* for_range(Value* begin, Value* end, Index step, const char* name, Body body, bool some = false);
  template <class Body> void if_then(Value* condition, const char* name, Body body);
  Value* number(Index value) { return b_.getInt64(static_cast<std::uint64_t>(value)); }
  // So many elements, or bytes, after `at`: that itself for none.
  Value* after(llvm::Type* element, Value* at, Index count) { return count == 0 ? at : b_.CreateConstGEP1_64(element, at, static_cast<std::uint64_t>(count)); }
  Value* bytes_after(Value* at, Index bytes) { return after(b_.getInt8Ty(), at, bytes); }
  llvm::AllocaInst* stack_cell(llvm::Type* type, const char* name) {
    auto* cell = entry_.CreateAlloca(type, nullptr, name);
    cell->setAlignment(llvm::Align(64));
    return cell;
  }

  // Of a function of the process that returns nothing, by the name that compiled code has for it.
  llvm::CallInst* call(const std::string& symbol, const std::vector<Value*>& arguments) {
    std::vector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    return b_.CreateCall(module_.getOrInsertFunction(symbol, llvm::FunctionType::get(b_.getVoidTy(), types, false)), arguments);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::IRBuilder<> entry_;                     // appends to the entry block
  llvm::Function* function_ = nullptr;
};

// if (condition) body()
template <class Body> void CodeBuilder::if_then(llvm::Value* condition, const char* name, Body body) {
  auto* then = llvm::BasicBlock::Create(context_, name, function_);
  auto* after = llvm::BasicBlock::Create(context_, std::string(name) + ".end", function_);
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  body();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// for (index = begin; index < end; index += step) body(index); nothing where that is known to be empty. `some`: where it is known not to be.
// Returns the branch that closes it.
template <class Body> llvm::BranchInst* CodeBuilder::for_range(llvm::Value* begin, llvm::Value* end, Index step, const char* name, Body body, bool some) {
  Value* any = some ? b_.getTrue() : b_.CreateICmpSLT(begin, end);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(any); known && known->isZero()) return nullptr;
  auto* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(context_, name, function_);
  auto* after = llvm::BasicBlock::Create(context_, std::string(name) + ".end", function_);
  if (some) b_.CreateBr(loop);
  else b_.CreateCondBr(any, loop, after);
  b_.SetInsertPoint(loop);
  auto* index = b_.CreatePHI(b_.getInt64Ty(), 2, "index");
  index->addIncoming(begin, before);
  body(index);
  llvm::Value* next = b_.CreateAdd(index, number(step), "", true, true);
  index->addIncoming(next, b_.GetInsertBlock());
  auto* branch = b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, after);
  b_.SetInsertPoint(after);
  return branch;
}

}  // namespace weft
