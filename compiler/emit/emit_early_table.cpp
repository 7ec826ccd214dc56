// Tables of functions of a byte (emit_table.cpp) that are the same for many runs of their loop, such as one for each channel of a planar
// image: made once, before the units of a slice.
#include <algorithm>
#include <set>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {

// What decides a table, besides the byte: items of the loops around it, in their order, and the axes they follow.
struct Deciders {
  std::vector<const Item*> items;
  std::vector<int> axes;
  bool known = true;                    // each is loaded or computed from what is
};

Deciders deciders_of(const Program& program, const std::vector<const Loop*>& path) {
  Deciders found;
  std::set<int> wanted;
  const auto take = [&](int value) { return wanted.erase(value) > 0; };
  for (auto loop = path.rbegin(); loop != path.rend(); ++loop)
    for (auto item = (*loop)->body.rbegin(); item != (*loop)->body.rend(); ++item) {
      auto* load = std::get_if<Load>(&*item);
      auto* compute = std::get_if<Compute>(&*item);
      auto* store = std::get_if<Store>(&*item);
      const bool inside = loop == path.rbegin();
      if (store && inside && !store->value.constant) wanted.insert(store->value.value);
      if (compute && (take(compute->result) || inside)) {
        for (const Arg& arg : compute->args)
          if (!arg.constant) wanted.insert(arg.value);
        if (!inside) found.items.push_back(&*item);
      } else if (load && take(load->result) && !inside) {
        const Place place = program.buffer(load->buffer).place;
        found.known &= !load->guarded && (place == Place::argument || place == Place::temporary || place == Place::extent);
        for (const Subscript& s : load->at)
          if (s.axis >= 0) found.axes.push_back(s.axis);
        found.items.push_back(&*item);
      }
    }
  found.known &= wanted.empty();
  std::reverse(found.items.begin(), found.items.end());
  std::sort(found.axes.begin(), found.axes.end());
  found.axes.erase(std::unique(found.axes.begin(), found.axes.end()), found.axes.end());
  return found;
}

}  // namespace

const KernelEmitter::EarlyTables* KernelEmitter::early_tables(const Loop& loop) const {
  const auto found = early_tables_.find(&loop);
  return found != early_tables_.end() && found->second.function == function_ ? &found->second : nullptr;
}

// Those of an item that lie where code is emitted now.
void KernelEmitter::early_tables_in(const Item& item, std::vector<EarlyTables*>& tables) {
  auto* loop = std::get_if<Loop>(&item);
  if (!loop) return;
  if (early_tables(*loop)) tables.push_back(&early_tables_.at(loop));
  for (const Item& inner : loop->body) early_tables_in(inner, tables);
}

// How many elements the vector loop at the end of the path has in this slice.
Value* KernelEmitter::elements_of(const std::vector<const Loop*>& path) {
  const LoopVar& root = path[0]->var;
  Value* elements = b_.CreateMul(b_.CreateSub(function_->getArg(3), function_->getArg(2)), number(root.part == Part::tile ? program_.unit : 1));
  for (const Loop* loop : path)
    if (loop->var.axis != root.axis) elements = b_.CreateMul(elements, size(program_.axis(loop->var.axis).extent));
  return elements;
}

// For the vector loop at the end of the path.
void KernelEmitter::make_early_table(const std::vector<const Loop*>& path) {
  const Loop& lanes = *path.back();
  const auto function = byte_function(lanes);
  if (!function || function->tables > 1) return;
  const Deciders deciders = deciders_of(program_, path);
  if (!deciders.known || deciders.axes.size() > 1) return;
  const int axis = deciders.axes.empty() ? -1 : deciders.axes[0];
  Index count = 1;
  if (axis >= 0) {
    const Extent& extent = program_.axis(axis).extent;
    if (axis == program_.root.var.axis || !extent.is_number() || extent.constant() > most_tables) return;
    count = extent.constant();
  }
  auto* memory = stack_cell(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(count * table_entries)), "early");
  Value* differences = nullptr;
  Value* pays = b_.CreateICmpSGE(elements_of(path), number(2 * count * table_entries));
  if_then(pays, "early", [&] {
    for_range(number(0), number(count), 1, "table", [&](Value* table) {
      if (axis >= 0) axis_index_[static_cast<std::size_t>(axis)] = table;
      for (const Item* item : deciders.items) emit_item(*item);
      forget_invariants();
      around_lanes([&] { fill_table(lanes, *function, b_.CreateGEP(b_.getInt8Ty(), memory, b_.CreateMul(table, number(table_entries))), number(0)); });
      if (axis >= 0) axis_index_[static_cast<std::size_t>(axis)] = nullptr;
    });
    differences = make_differences(*function, memory, count);
  });
  early_tables_[&lanes] = {function_, memory, differences, pays, axis};
}

// For the vector loops below the root that run once for each unit or more often.
void KernelEmitter::make_early_tables(std::vector<const Loop*> path) {
  for (const Item& item : path.back()->body) {
    auto* inner = std::get_if<Loop>(&item);
    if (!inner || inner->mark == Mark::block) continue;
    path.push_back(inner);
    if (inner->mark == Mark::lanes) make_early_table(path);
    else make_early_tables(path);
    path.pop_back();
  }
}

}  // namespace weft
