#include "split_root.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

// Whether an item is the same for all elements of the root; values that are, are marked in `before`.
bool is_same_for_all(const Program& program, const Item& item, std::vector<bool>& before) {
  if (auto* load = std::get_if<Load>(&item))
    return before[static_cast<std::size_t>(load->result)] = !load->guarded && program.buffer(load->buffer).place != Place::row &&
                                                            std::none_of(load->at.begin(), load->at.end(), [&](const Subscript& s) { return s.axis == program.root.var.axis; });
  if (auto* compute = std::get_if<Compute>(&item))
    return before[static_cast<std::size_t>(compute->result)] =
               std::all_of(compute->args.begin(), compute->args.end(), [&](const Arg& arg) { return arg.constant || before[static_cast<std::size_t>(arg.value)]; });
  return false;
}

}  // namespace

void split_root(Program& program, Index unit) {
  Loop& root = program.root;
  Loop rows;
  rows.var.axis = root.var.axis;
  rows.weight = std::exchange(root.weight, 0);
  std::vector<Item> body;
  std::vector<bool> before(program.values.size(), false);
  for (Item& item : root.body) {
    const bool stays = is_same_for_all(program, item, before);
    (stays ? body : rows.body).push_back(std::move(item));
  }
  body.emplace_back(std::move(rows));
  root.body = std::move(body);
  root.var.part = Part::tile;
  program.unit = unit;
}

}  // namespace weft
