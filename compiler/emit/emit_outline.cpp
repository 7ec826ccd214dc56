// Bodies with many inner loops are cut into functions of their own. LLVM's register allocation and scheduling take more
// than linear time in the size of a function; a loop body of thousands of inner loops would take minutes. And several
// threads generate code, if there are several functions.
//
// A piece gets what it reads of the addresses and sizes of its caller, the current indices, the scalars and the accumulators
// it adds to; scalars that later items read come back through cells. The last piece stays where the others are called.
//
// Where a variant has many long functions, such as tan, each is compiled once and called.
#include <algorithm>
#include <numeric>
#include <set>

#include "emit_kernel.h"
#include "program/visit.h"

namespace weft {

using llvm::Value;

namespace {

struct Uses {
  std::set<int> made, read, folds, opened;        // values and folds
};

void collect(const Program& program, const Item& item, Uses& uses) {
  auto read = [&](const Arg& arg) { if (!arg.constant) uses.read.insert(arg.value); };
  if (auto* loop = std::get_if<Loop>(&item)) {
    for (int fold : loop->folds) {
      uses.opened.insert(fold);
      if (int result = program.fold(fold).result; result >= 0) uses.made.insert(result);
    }
    for (const Item& inner : loop->body) collect(program, inner, uses);
    return;
  }
  each_arg(item, read);
  if (auto* load = std::get_if<Load>(&item)) uses.made.insert(load->result);
  if (auto* compute = std::get_if<Compute>(&item)) uses.made.insert(compute->result);
  if (auto* accumulate = std::get_if<Accumulate>(&item)) {
    uses.folds.insert(accumulate->fold);
    if (accumulate->result >= 0) uses.made.insert(accumulate->result);
  }
  if (auto* state = std::get_if<ReadState>(&item)) uses.folds.insert(state->fold), uses.made.insert(state->result);
  if (auto* written = std::get_if<WriteState>(&item)) uses.folds.insert(written->fold);
  if (auto* others = std::get_if<Others>(&item); others && others->total >= 0) uses.made.insert(others->total);
}

}  // namespace

// Whether an iteration takes far longer than calls do, and hands on nothing in registers.
bool KernelEmitter::is_rare(const Loop& loop) const {
  const bool by_units = loop.mark == Mark::units && loop.var.part == Part::tile;
  return !program_.is_one_unit && held_rows_.empty() && (by_units || loop.mark == Mark::block || loop.mark == Mark::once);
}

// Code of an item in the function that its loop is in.
int KernelEmitter::code_left(const Item& item) const {
  auto* inner = std::get_if<Loop>(&item);
  if (!inner) return 0;
  if (!is_rare(*inner)) return code_of(*inner);
  int code = inner->weight;
  for (std::size_t k = cuts_of(*inner).rbegin()[1]; k < inner->body.size(); ++k) code += code_left(inner->body[k]);
  return code;
}

// Where pieces of a body begin, and its end: as few as there must be, but some may be larger by half.
std::vector<std::size_t> KernelEmitter::cuts_of(const Loop& loop) const {
  const int most = is_rare(loop) ? code_per_piece_ : largest_piece;
  std::vector<int> codes;
  for (const Item& item : loop.body) codes.push_back(code_left(item));
  const auto cut = [&](int limit) {
    std::vector<std::size_t> cuts{0};
    int code = 0;
    for (std::size_t k = 0; k < codes.size(); ++k) {
      if (code > 0 && code + codes[k] > limit) cuts.push_back(k), code = 0;
      code += codes[k];
    }
    cuts.push_back(codes.size());
    return cuts;
  };
  const auto least = static_cast<std::size_t>((std::accumulate(codes.begin(), codes.end(), 0) + most - 1) / most);
  std::vector<std::size_t> cuts = cut(most);
  for (int limit = most; limit <= most + most / 2 && cuts.size() - 1 > least; limit += most / 8 + 1) cuts = cut(limit);
  return cuts;
}

// Whether some body becomes several functions.
bool KernelEmitter::is_cut(const Loop& loop) const {
  return cuts_of(loop).size() > 2 || std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* inner = std::get_if<Loop>(&item);
    return inner && is_cut(*inner);
  });
}

void KernelEmitter::emit_items(const Loop& loop) {
  const std::vector<std::size_t> cuts = cuts_of(loop);
  if (cuts.size() == 2) {
    emit_items(loop, 0, loop.body.size());
    return;
  }
  std::vector<Uses> pieces(cuts.size() - 1);
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    for (std::size_t k = cuts[piece]; k < cuts[piece + 1]; ++k) collect(program_, loop.body[k], pieces[piece]);
  std::set<int> later;
  std::vector<std::vector<int>> returned(pieces.size());
  for (std::size_t piece = pieces.size(); piece-- > 0;) {
    std::set_intersection(pieces[piece].made.begin(), pieces[piece].made.end(), later.begin(), later.end(), std::back_inserter(returned[piece]));
    later.insert(pieces[piece].read.begin(), pieces[piece].read.end());
  }
  for (std::size_t piece = 0; piece + 1 < pieces.size(); ++piece) {
    std::vector<int> taken, folds;
    const Uses& uses = pieces[piece];
    std::set_difference(uses.read.begin(), uses.read.end(), uses.made.begin(), uses.made.end(), std::back_inserter(taken));
    std::set_difference(uses.folds.begin(), uses.folds.end(), uses.opened.begin(), uses.opened.end(), std::back_inserter(folds));
    emit_piece(loop, cuts[piece], cuts[piece + 1], taken, folds, returned[piece]);
  }
  emit_items(loop, cuts.rbegin()[1], loop.body.size());
}

void KernelEmitter::emit_items(const Loop& loop, std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    const Loop* taker = jam_.empty() && k + 1 < last ? taker_of(loop, k) : nullptr;
    if (!taker || moves_held_row(*taker)) {
      emit_item(loop.body[k]);
      continue;
    }
    const Loop& fold = std::get<Loop>(loop.body[k++]);
    emit_thin(fold, outer_of(fold), taker);
  }
}

// The function without parameters that it does not use, and arguments without theirs: most go through memory.
static llvm::Function* without_unused(llvm::Function& whole, std::vector<Value*>& arguments) {
  std::vector<Value*> used;
  std::vector<llvm::Type*> types;
  for (llvm::Argument& parameter : whole.args())
    if (!parameter.use_empty()) used.push_back(arguments[parameter.getArgNo()]), types.push_back(parameter.getType());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(whole.getReturnType(), types, false), whole.getLinkage(), "", whole.getParent());
  function->takeName(&whole);
  function->copyAttributesFrom(&whole);
  function->splice(function->begin(), &whole);
  auto next = function->arg_begin();
  for (llvm::Argument& parameter : whole.args()) {
    if (parameter.use_empty()) continue;
    next->takeName(&parameter);
    parameter.replaceAllUsesWith(&*next++);
  }
  whole.eraseFromParent();
  arguments = std::move(used);
  return function;
}

void KernelEmitter::emit_piece(const Loop& loop, std::size_t first, std::size_t last, const std::vector<int>& taken, const std::vector<int>& folds,
                               const std::vector<int>& returned) {
  // What the piece needs, in the order of its parameters. No pointer leads into folds_: pieces within this one replace it.
  std::vector<Value**> passed;
  Value *slots = function_->getArg(0), *sizes = function_->getArg(1), *scratch = function_->getArg(4);
  passed.insert(passed.end(), {&slots, &sizes, &tile_.begin, &tile_.end, &scratch, &unit_});
  for (Value*& index : axis_index_) passed.push_back(&index);
  for (int value : taken) passed.push_back(&scalars_[static_cast<std::size_t>(value)]);
  std::vector<Value*> cells, memories;
  for (int fold : folds) {
    cells.push_back(folds_[static_cast<std::size_t>(fold)].cell);
    memories.push_back(folds_[static_cast<std::size_t>(fold)].memory);
  }
  for (Value*& cell : cells) passed.push_back(&cell);
  for (Value*& memory : memories) passed.push_back(&memory);
  std::vector<Value*> results;
  for (int value : returned) results.push_back(stack_cell(register_type(context_, program_.dtype_of(value), 1), "result"));
  for (Value*& cell : results) passed.push_back(&cell);
  std::vector<EarlyTables*> tables;
  for (std::size_t k = first; k < last; ++k) early_tables_in(loop.body[k], tables);
  for (EarlyTables* early : tables) passed.insert(passed.end(), {&early->memory, &early->differences, &early->ready});

  std::vector<Value*> outside, arguments;
  std::vector<llvm::Type*> types;
  for (Value** value : passed) {
    outside.push_back(*value);
    arguments.push_back(*value ? *value : number(0));
    types.push_back(arguments.back()->getType());
  }
  // Change to the piece's function ..
  Suspended caller = suspend_function();
  auto caller_folds = folds_;
  start_function(llvm::FunctionType::get(b_.getVoidTy(), types, false), symbol_ + "_piece", llvm::Function::InternalLinkage);
  for (std::size_t k = 0; k < passed.size(); ++k)
    if (outside[k]) *passed[k] = function_->getArg(static_cast<unsigned>(k));
  for (EarlyTables* early : tables) early->function = function_;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    FoldState& state = folds_[static_cast<std::size_t>(folds[k])];
    state.cell = cells[k];
    state.memory = memories[k];
    const Fold& fold = program_.fold(folds[k]);
    if (fold.row >= 0) state.elements = size(row_elements(program_.buffer(fold.row)));
  }
  emit_items(loop, first, last);
  for (std::size_t k = 0; k < returned.size(); ++k) b_.CreateStore(scalars_[static_cast<std::size_t>(returned[k])], results[k]);
  end_function();
  llvm::Function* const piece = without_unused(*function_, arguments);
  // .. and back.
  resume(std::move(caller));
  for (std::size_t k = 0; k < passed.size(); ++k) *passed[k] = outside[k];
  for (EarlyTables* early : tables) early->function = function_;
  folds_ = std::move(caller_folds);
  b_.CreateCall(piece, arguments);
  for (std::size_t k = 0; k < returned.size(); ++k) {
    auto* cell = llvm::cast<llvm::AllocaInst>(results[k]);
    scalars_[static_cast<std::size_t>(returned[k])] = b_.CreateLoad(cell->getAllocatedType(), cell);
  }
}

Value* KernelEmitter::emit_or_call(Op op, const std::vector<Value*>& operands, const std::vector<DType>& dtypes, DType result) {
  return calls_functions() && op_cost(op) >= long_function ? call_function(op, operands, dtypes, result) : emit_op(b_, op, operands, dtypes, result, fast_math_);
}

// The same instructions, as a function of the module.
Value* KernelEmitter::call_function(Op op, const std::vector<Value*>& operands, const std::vector<DType>& dtypes, DType result) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType());
  const int width = vector ? static_cast<int>(vector->getNumElements()) : 1;
  std::string symbol = concat("weft_", info(op).name, "_", width);
  std::vector<llvm::Type*> types;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    symbol += concat("_", dtypes[k]);
    types.push_back(operands[k]->getType());
  }
  llvm::Function* function = module_.getFunction(symbol);
  if (!function) {
    function = new_function(llvm::FunctionType::get(register_type(context_, result, width), types, false), llvm::Function::InternalLinkage, symbol);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "entry", function));
    std::vector<Value*> arguments;
    for (auto& argument : function->args()) arguments.push_back(&argument);
    builder.CreateRet(emit_op(builder, op, arguments, dtypes, result, fast_math_));
  }
  return b_.CreateCall(function, operands);
}

}  // namespace weft
