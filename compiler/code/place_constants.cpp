#include "place_constants.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "loop_hints.h"
#include "vector_registers.h"

namespace weft {
namespace {

using namespace llvm;

// Blocks that every turn of the loop runs, in their order.
std::vector<BasicBlock*> usual_path(const Loop& loop, const DominatorTree& tree) {
  std::vector<BasicBlock*> path;
  for (auto* node = tree.getNode(loop.getLoopLatch()); node; node = node->getIDom()) {
    path.push_back(node->getBlock());
    if (node->getBlock() == loop.getHeader()) break;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// Most registers that a turn of the loop has values in at the same time, from its end to its start.
class LiveValues {
 public:
  LiveValues(const Loop& loop, const std::vector<BasicBlock*>& path, const VectorRegisters& registers) : loop_(loop), registers_(registers) {
    add_outer_and_carried(path);
    for (auto block = path.rbegin(); block != path.rend(); ++block)
      for (Instruction& instruction : reverse(**block)) {
        if (live_.erase(&instruction)) now_ -= registers_.of(*instruction.getType());
        if (isa<PHINode>(instruction)) continue;
        for (const Use& operand : instruction.operands())
          if (!is_read_in_place(*operand, instruction)) add(*operand);
      }
  }
  unsigned most() const { return most_; }

 private:
  void add(const Value& value) {
    if (!isa<Instruction>(value) && !isa<Argument>(value)) return;
    const unsigned needed = registers_.of(*value.getType());
    if (needed == 0 || !live_.insert(&value).second) return;
    most_ = std::max(most_, now_ += needed);
  }
  void add_outer_and_carried(const std::vector<BasicBlock*>& path) {
    for (const PHINode& phi : loop_.getHeader()->phis()) add(*phi.getIncomingValueForBlock(loop_.getLoopLatch()));
    for (const BasicBlock* block : path)
      for (const Instruction& instruction : *block)
        for (const Use& operand : instruction.operands()) {
          const auto* outer = dyn_cast<Instruction>(operand.get());
          if (isa<Argument>(operand) || (outer && !loop_.contains(outer))) add(*operand);
        }
  }
  // A load that one instruction wants is its operand in memory.
  static bool is_read_in_place(const Value& value, const Instruction& user) {
    const auto* load = dyn_cast<LoadInst>(&value);
    return load && load->hasOneUse() && load->getParent() == user.getParent();
  }

  const Loop& loop_;
  const VectorRegisters& registers_;
  DenseSet<const Value*> live_;
  unsigned now_ = 0, most_ = 0;
};

// Whether an instruction takes a constant from anywhere. Others have it in their code, or are another instruction for it: shifts, products by two.
bool takes_from_anywhere(const Use& use) {
  const auto& user = cast<Instruction>(*use.getUser());
  const bool is_float = use->getType()->isFPOrFPVectorTy();
  switch (user.getOpcode()) {
    case Instruction::FAdd: case Instruction::FSub: case Instruction::FCmp: case Instruction::Select: return true;
    case Instruction::Add: case Instruction::Sub: case Instruction::And: case Instruction::Or: case Instruction::Xor: case Instruction::ICmp: return true;
    case Instruction::FDiv: return use.getOperandNo() == 0;
    case Instruction::FMul: {
      const auto* factor = dyn_cast_or_null<ConstantFP>(use->getType()->isVectorTy() ? cast<Constant>(use)->getSplatValue() : use.get());
      return !factor || !(factor->isExactlyValue(2) || factor->isExactlyValue(-1));
    }
    case Instruction::Call: {
      const auto* call = dyn_cast<IntrinsicInst>(&user);
      return is_float || isa<MinMaxIntrinsic>(user) || isa<SaturatingInst>(user) || (call && call->getIntrinsicID() == Intrinsic::x86_avx2_pshuf_b);
    }
    default: return false;
  }
}

struct ConstantUse {
  Use* use;
  unsigned at;                         // registers of all values of the turn before it
};

struct Place {
  Constant* constant;
  std::vector<ConstantUse> uses = {};
  unsigned worth = 0;                  // loads that a turn of the loop is spared
};

// In the order of their first uses.
std::vector<Place> constants_of(const std::vector<BasicBlock*>& path, const VectorRegisters& registers) {
  std::vector<Place> places;
  DenseMap<const Constant*, std::size_t> place_of;
  unsigned at = 0;
  for (BasicBlock* block : path)
    for (Instruction& instruction : *block) {
      if (isa<PHINode>(instruction)) continue;
      at += registers.of(*instruction.getType());
      Constant* before = nullptr;
      for (Use& use : instruction.operands()) {
        auto* constant = dyn_cast<Constant>(use.get());
        if (!constant || registers.of(*constant->getType()) == 0 || isa<UndefValue>(constant) || constant->isNullValue() || constant->isAllOnesValue() ||
            !takes_from_anywhere(use))
          continue;
        const auto [found, is_new] = place_of.try_emplace(constant, places.size());
        if (is_new) places.push_back({constant});
        Place& place = places[found->second];
        place.uses.push_back({&use, at});
        place.worth += before && before != constant ? 2 : 1;         // an instruction reads one operand from memory: another takes a load of its own
        before = constant;
      }
    }
  return places;
}

// Of what is seldom run: no reason to think less of the loop around it.
bool is_over_registers(const Loop* loop) { return loop->getLoopLatch() && loop->getLoopLatch()->getTerminator()->hasMetadata(over_registers); }

// Where its constants are loaded once for as many turns as possible, and where no other loop keeps registers from holding them.
BasicBlock* place_before(const Loop& innermost) {
  const Loop* loop = &innermost;
  while (const Loop* around = loop->getParentLoop()) {
    if (around->getSubLoops().size() != 1 || !around->getLoopPreheader() || !around->getLoopLatch() || around->getLoopLatch()->getTerminator()->hasMetadata(few_turns)) break;
    loop = around;
  }
  return loop->getLoopPreheader();
}

// Constants from memory. LLVM takes loads of what never changes out of loops: for those that are to stay there, it is a variable.
class Loader {
 public:
  explicit Loader(Function& function) : function_(function) {}

  Value* load_outside(Constant* constant, BasicBlock* block) { return load(constant, block->getTerminator(), constants_); }
  // Loads of the same copy are one, its register is written to the stack where it is wanted again much later: there another copy is read.
  Value* load_for(Constant* constant, User* user, std::size_t copy) {
    if (variables_.size() <= copy) variables_.resize(copy + 1);
    return load(constant, cast<Instruction>(user), variables_[copy]);
  }

 private:
  using Globals = DenseMap<Constant*, GlobalVariable*>;

  Value* load(Constant* constant, Instruction* before, Globals& globals) {
    IRBuilder<> builder(before);
    Constant* element = constant->getType()->isVectorTy() ? constant->getSplatValue() : nullptr;
    Constant* kept = element ? element : constant;
    Value* loaded = builder.CreateAlignedLoad(kept->getType(), global(kept, globals), alignment(kept));
    return element ? builder.CreateVectorSplat(cast<VectorType>(constant->getType())->getElementCount(), loaded) : loaded;
  }
  static Align alignment(const Constant* kept) { return Align(PowerOf2Ceil(kept->getType()->getPrimitiveSizeInBits().getFixedValue() / 8)); }
  GlobalVariable* global(Constant* kept, Globals& globals) {
    GlobalVariable*& found = globals[kept];
    if (found) return found;
    const bool never_changes = &globals == &constants_;
    found = new GlobalVariable(*function_.getParent(), kept->getType(), never_changes, GlobalValue::PrivateLinkage, kept, never_changes ? "constant" : "variable");
    found->setAlignment(alignment(kept));
    return found;
  }

  Function& function_;
  Globals constants_;
  std::vector<Globals> variables_;     // by copy
};

// In front of the loop, those first that spare most loads, while there are registers.
void load_outside(const std::vector<Place>& places, BasicBlock* before, const VectorRegisters& registers, Loader& loader) {
  std::vector<const Place*> order;
  for (const Place& place : places) order.push_back(&place);
  std::sort(order.begin(), order.end(), [](const Place* a, const Place* b) { return a->worth != b->worth ? a->worth > b->worth : a < b; });
  unsigned taken = 0;
  for (const Place* place : order) {
    taken += registers.of(*place->constant->getType());
    if (taken > registers.count) break;
    Value* loaded = loader.load_outside(place->constant, before);
    for (const ConstantUse& use : place->uses) use.use->set(loaded);
  }
}

// In the loop. Where more values than there are registers come between two uses, the second reads memory again.
void load_inside(const std::vector<Place>& places, const VectorRegisters& registers, Loader& loader) {
  constexpr std::size_t most_copies = 8;
  for (const Place& place : places) {
    std::size_t copy = 0;
    unsigned last = place.uses.front().at;
    for (const auto& [use, at] : place.uses) {
      if (at - last > registers.count) copy = std::min(copy + 1, most_copies - 1);
      last = at;
      use->set(loader.load_for(place.constant, use->getUser(), copy));
    }
  }
}

void place(const Loop& loop, const DominatorTree& tree, const VectorRegisters& registers, Loader& loader) {
  BasicBlock* before = place_before(loop);
  if (!before || !loop.getLoopLatch()) return;
  const std::vector<BasicBlock*> path = usual_path(loop, tree);
  const std::vector<Place> places = constants_of(path, registers);
  if (places.empty()) return;
  if (LiveValues(loop, path, registers).most() <= registers.count) return load_outside(places, before, registers, loader);
  load_inside(places, registers, loader);
}

}  // namespace

llvm::PreservedAnalyses PlaceConstants::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const LoopInfo& loops = analyses.getResult<LoopAnalysis>(function);
  const DominatorTree& tree = analyses.getResult<DominatorTreeAnalysis>(function);
  const VectorRegisters registers(function);
  Loader loader(function);
  for (const Loop* loop : loops.getLoopsInPreorder())
    if (!is_over_registers(loop) && all_of(loop->getSubLoops(), is_over_registers)) place(*loop, tree, registers, loader);
  return PreservedAnalyses::none();
}

}  // namespace weft
