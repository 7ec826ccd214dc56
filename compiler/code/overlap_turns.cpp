#include "overlap_turns.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "loop_hints.h"
#include "vector_registers.h"

namespace weft {
namespace {

using namespace llvm;

// Cycles until others can read a vector, on usual processors.
unsigned latency(const Instruction& instruction) {
  if (!instruction.getType()->isVectorTy()) return isa<LoadInst>(instruction) ? 4 : 0;
  switch (instruction.getOpcode()) {
    case Instruction::Load: return 7;
    case Instruction::FDiv: return 14;
    case Instruction::And: case Instruction::Or: case Instruction::Xor: case Instruction::Add: case Instruction::Sub: case Instruction::Shl: case Instruction::LShr:
    case Instruction::AShr: case Instruction::Select: case Instruction::FNeg: return 1;
    case Instruction::BitCast: case Instruction::ShuffleVector: case Instruction::InsertElement: return 0;
    default: return 4;
  }
}

// What it is in, however many steps away.
template <class Access> const Value* array_of(const Access& access) { return getUnderlyingObject(access.getPointerOperand(), /*MaxLookup=*/0); }

// for (index = ..; more; index = next), in one block.
struct Turns {
  BasicBlock *block, *before;
  PHINode* index;
  Instruction *next, *more;

  static std::optional<Turns> of(BasicBlock& block) {
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || !branch->hasMetadata(many_turns) || branch->getSuccessor(0) != &block) return {};
    auto* more = dyn_cast<ICmpInst>(branch->getCondition());
    auto* next = more && more->getPredicate() == CmpInst::ICMP_SLT ? dyn_cast<BinaryOperator>(more->getOperand(0)) : nullptr;
    auto* index = next && next->getOpcode() == Instruction::Add ? dyn_cast<PHINode>(next->getOperand(0)) : nullptr;
    if (!index || index->getParent() != &block || index->getNumIncomingValues() != 2 || index->getIncomingValueForBlock(&block) != next) return {};
    return Turns{&block, index->getIncomingBlock(index->getIncomingBlock(0) == &block), index, next, more};
  }
};

class Halves {
 public:
  Halves(const Turns& turns, const VectorRegisters& registers) : turns_(turns), registers_(registers) {
    look_forward();
    look_back();
    choose_first();
  }

  bool are_worth_it() const {
    constexpr unsigned long_body = 45;           // what waits of two shorter ones has room in the queues ..
    const bool waits = 10 * longest_ >= 9 * vectors_;     // .. and of two vectors or more that are independent there is enough to do
    unsigned handed_on = 0;
    for (const Instruction* value : handed_on_) handed_on += registers_of(*value);
    return vectors_ >= long_body && waits && handed_on > 0 && handed_on <= registers_.count / 2 - 4 && may_come_early();
  }
  const std::vector<Instruction*>& first() const { return first_; }
  const std::vector<Instruction*>& handed_on() const { return handed_on_; }

 private:
  unsigned registers_of(const Instruction& value) const { return value.getType()->isVectorTy() ? registers_.of(*value.getType()) : 0; }
  const Instruction* inside(const Value* value) const {
    const auto* instruction = dyn_cast<Instruction>(value);
    return instruction && instruction->getParent() == turns_.block ? instruction : nullptr;
  }

  // When results are there, and which of them depend on turns before.
  void look_forward() {
    for (Instruction& instruction : *turns_.block) {
      unsigned start = 0;
      bool is_sum = isa<PHINode>(instruction) && &instruction != turns_.index;
      if (!isa<PHINode>(instruction))
        for (const Use& operand : instruction.operands())
          if (const Instruction* made = inside(operand)) start = std::max(start, ready_.lookup(made)), is_sum |= sums_.contains(made);
      if (is_sum) sums_.insert(&instruction);
      ready_[&instruction] = start + latency(instruction);
      longest_ = std::max(longest_, ready_[&instruction]);
      if (latency(instruction) > 0) vectors_ += registers_of(instruction);
    }
  }

  // How long what reads them takes.
  void look_back() {
    for (Instruction& instruction : reverse(*turns_.block)) {
      unsigned& after = after_[&instruction];
      for (const User* user : instruction.users())
        if (const Instruction* reader = inside(user); reader && !isa<PHINode>(reader)) after = std::max(after, after_.lookup(reader) + latency(*reader));
    }
  }

  // A bit more than the first half of the longest chains, and all that it reads: gelu takes 20.5 cycles a vector where that is half of the chain, 18.2 from
  // five ninths to two thirds; its gradient 21.5 and 22.8 (Zen 4).
  void choose_first() {
    DenseSet<const Instruction*> chosen;
    for (Instruction& instruction : reverse(*turns_.block)) {
      if (isa<PHINode>(instruction) || instruction.isTerminator()) continue;
      const bool leads = registers_of(instruction) > 0 && !sums_.contains(&instruction) && 9 * ready_.lookup(&instruction) <= 5 * longest_ &&
                         ready_.lookup(&instruction) + after_.lookup(&instruction) == longest_;
      if (leads || any_of(instruction.users(), [&](const User* user) { return chosen.contains(cast<Instruction>(user)); })) chosen.insert(&instruction);
    }
    for (Instruction& instruction : *turns_.block) {
      if (!chosen.contains(&instruction)) continue;
      first_.push_back(&instruction);
      const auto is_second = [&](const User* user) { return inside(user) && !chosen.contains(cast<Instruction>(user)); };
      if (registers_of(instruction) > 0 && any_of(instruction.users(), is_second)) handed_on_.push_back(&instruction);
    }
  }

  // The first half loads elements of the next turn before this one stores its own: other elements, or those of another array.
  bool may_come_early() const {
    SmallPtrSet<const Value*, 8> stored;
    for (const Instruction& instruction : *turns_.block) {
      if (!instruction.mayWriteToMemory()) continue;
      const auto* call = dyn_cast<IntrinsicInst>(&instruction);
      if (const auto* store = dyn_cast<StoreInst>(&instruction)) stored.insert(array_of(*store));
      else if (!call || call->getIntrinsicID() != Intrinsic::prefetch) return false;
    }
    return all_of(first_, [&](const Instruction* instruction) {
      if (instruction->mayHaveSideEffects()) return false;
      if (!instruction->mayReadFromMemory()) return true;
      const auto* load = dyn_cast<LoadInst>(instruction);
      return load && inside(load->getPointerOperand()) && !stored.contains(array_of(*load));
    });
  }

  const Turns& turns_;
  const VectorRegisters& registers_;
  DenseMap<const Instruction*, unsigned> ready_, after_;
  DenseSet<const Instruction*> sums_;
  std::vector<Instruction*> first_, handed_on_;        // in their order; the vectors of it that the second half reads
  unsigned longest_ = 0, vectors_ = 0;                 // cycles of the longest chain; instructions that make vectors
};

void copy_first(const Halves& halves, const Turns& turns, Value* index, Instruction* place, ValueToValueMapTy& copies) {
  copies[turns.index] = index;
  for (Instruction* instruction : halves.first()) {
    Instruction* copy = instruction->clone();
    copy->insertBefore(place->getIterator());
    RemapInstruction(copy, copies, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    copies[instruction] = copy;
  }
}

void overlap(const Halves& halves, const Turns& turns) {
  BasicBlock* ahead = BasicBlock::Create(turns.block->getContext(), "ahead", turns.block->getParent(), turns.block);
  turns.before->getTerminator()->replaceSuccessorWith(turns.block, ahead);
  turns.block->replacePhiUsesWith(turns.before, ahead);
  Instruction* end = IRBuilder<>(ahead).CreateBr(turns.block);
  ValueToValueMapTy of_begin, of_next;
  copy_first(halves, turns, turns.index->getIncomingValueForBlock(ahead), end, of_begin);

  turns.next->moveBefore(*turns.block, turns.block->getFirstInsertionPt());
  turns.more->moveAfter(turns.next);
  Instruction* place = turns.more->getNextNode();
  Value* later = IRBuilder<>(place).CreateSelect(turns.more, turns.next, turns.index);       // past the end there is nothing to read
  copy_first(halves, turns, later, place, of_next);
  for (Instruction* value : halves.handed_on()) {
    PHINode* made = PHINode::Create(value->getType(), 2, "ahead", turns.index->getIterator());
    made->addIncoming(of_begin[value], ahead);
    made->addIncoming(of_next[value], turns.block);
    value->replaceAllUsesWith(made);
  }
  for (Instruction* value : reverse(halves.first()))
    if (value->use_empty()) value->eraseFromParent();
}

}  // namespace

PreservedAnalyses OverlapTurns::run(Function& function, FunctionAnalysisManager&) {
  const VectorRegisters registers(function);
  if (registers.count < 32) return PreservedAnalyses::all();
  std::vector<Turns> loops;
  for (BasicBlock& block : function)
    if (auto turns = Turns::of(block)) loops.push_back(*turns);
  for (const Turns& turns : loops)
    if (const Halves halves(turns, registers); halves.are_worth_it()) overlap(halves, turns);
  return loops.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace weft
