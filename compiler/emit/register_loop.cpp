// Loops over the registers of a vector that takes several.
#include "code/loop_hints.h"
#include "lane_parts.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;
using namespace lane_parts;

namespace {

// No loop over registers runs inside another, and all of a function share their cells. A cell of the type that is not among those in use.
llvm::AllocaInst* shared_cell(llvm::IRBuilderBase* builder, llvm::Type* type, llvm::ArrayRef<llvm::AllocaInst*> in_use) {
  constexpr const char* mark = "weft.registers";
  auto& entry = function_of(builder)->getEntryBlock();
  for (llvm::Instruction& instruction : entry)
    if (auto* cell = llvm::dyn_cast<llvm::AllocaInst>(&instruction); cell && cell->getAllocatedType() == type && cell->getMetadata(mark) && !llvm::is_contained(in_use, cell)) return cell;
  auto* cell = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  cell->setAlignment(llvm::Align(64));
  cell->setMetadata(mark, llvm::MDNode::get(builder->getContext(), {}));
  return cell;
}

// Lanes of a turn: one register waits for itself. Sines of huge numbers take 1.4 times as long as four registers side by side, one by one, and 1.2
// times in pairs; sines are 384 and 575 instructions then, of 946 (AVX2).
int lanes_of_turn(const Lane& x) { return 2 * register_bits(x.builder) / x.bits(); }

}  // namespace

bool RegisterLoop::pays(const Lane& x) { return x.width() > lanes_of_turn(x) && x.width() % lanes_of_turn(x) == 0; }

RegisterLoop::RegisterLoop(const Lane& x) : part_(x), lanes_(x.width()) {
  auto* builder = x.builder;
  auto* all = new_cell(x.value->getType());
  builder->CreateStore(x.value, all);
  auto* before = builder->GetInsertBlock();
  body_ = llvm::BasicBlock::Create(builder->getContext(), "registers", before->getParent());
  builder->CreateBr(body_);
  builder->SetInsertPoint(body_);
  first_ = builder->CreatePHI(builder->getInt64Ty(), 2);
  first_->addIncoming(builder->getInt64(0), before);
  part_.value = builder->CreateLoad(llvm::FixedVectorType::get(x.value->getType()->getScalarType(), static_cast<unsigned>(lanes_of_turn(x))), at_part(all));
}

Value* RegisterLoop::at_part(llvm::AllocaInst* whole) const { return part_.builder->CreateGEP(whole->getAllocatedType()->getScalarType(), whole, first_); }

llvm::AllocaInst* RegisterLoop::new_cell(llvm::Type* type) { return cells_.emplace_back(shared_cell(part_.builder, type, cells_)); }

llvm::AllocaInst* RegisterLoop::keep(const Lane& result) {
  auto* all = new_cell(llvm::FixedVectorType::get(result.value->getType()->getScalarType(), static_cast<unsigned>(lanes_)));
  result.builder->CreateStore(result.value, at_part(all));
  return all;
}

void RegisterLoop::end() {
  auto* builder = part_.builder;
  auto* next = builder->CreateAdd(first_, builder->getInt64(static_cast<uint64_t>(part_.width())));
  first_->addIncoming(next, builder->GetInsertBlock());
  auto* after = llvm::BasicBlock::Create(builder->getContext(), "registers.end", body_->getParent());
  auto* turn = builder->CreateCondBr(builder->CreateICmpULT(next, builder->getInt64(static_cast<uint64_t>(lanes_))), body_, after);
  set_hint(*turn, over_registers);
  builder->SetInsertPoint(after);
}

Lane RegisterLoop::whole(llvm::AllocaInst* kept) const { return {part_.builder->CreateLoad(kept->getAllocatedType(), kept), part_.builder}; }

}  // namespace weft
