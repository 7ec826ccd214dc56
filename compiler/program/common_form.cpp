#include "common_form.h"

#include <unordered_map>

#include <boost/container_hash/hash.hpp>

#include "fixed_indices.h"
#include "visit.h"

namespace weft {

bool operator==(const Loop& a, const Loop& b) {
  const auto all = [](const Loop& loop) { return std::tie(loop.mark, loop.var, loop.folds, loop.weight, loop.is_seldom_run, loop.is_long_run, loop.bounded, loop.from, loop.to, loop.body, loop.parts); };
  return all(a) == all(b);
}

CommonForm common_form(Program program, const StrideClasses& classes) {
  take_fixed_indices(program, classes);
  CommonForm form;
  std::map<NodeId, NodeId> numbers;
  for (Buffer& buffer : program.buffers) {
    const auto [number, fresh] = numbers.emplace(buffer.node, NodeId{static_cast<std::uint32_t>(numbers.size())});
    if (fresh) {
      const auto found = classes.find(buffer.node);
      form.strides.push_back(found == classes.end() ? std::vector<StrideClass>() : found->second);
    }
    buffer.node = number->second;
  }
  for (Fold& fold : program.folds) fold.node = {};
  program.name.clear();
  form.program = std::move(program);
  return form;
}

std::size_t hash_of(const CommonForm& form) {
  const Program& program = form.program;
  std::size_t hash = 0;
  const auto add = [&](auto... values) { (boost::hash_combine(hash, static_cast<std::size_t>(values)), ...); };
  add(program.unit, program.block, program.vectors);
  for (const NestAxis& axis : program.axes) add(axis.hint);
  for (const Buffer& buffer : program.buffers) add(buffer.place, buffer.dtype, buffer.extents.size(), buffer.node.value);
  for (const Fold& fold : program.folds) add(fold.accumulator, fold.dtype, fold.axis);
  each_loop(program.root, [&](const Loop& loop) { add(loop.mark, loop.var.axis, loop.body.size()); });
  each_item(program.root, [&](const Item& item, const Loop&) {
    add(item.index());
    if (auto* compute = std::get_if<Compute>(&item)) add(compute->op);
  });
  return hash;
}

std::vector<std::optional<std::size_t>> firsts_of_forms(const std::vector<Program>& programs, const StrideClasses& classes) {
  if (programs.size() < 2) return std::vector<std::optional<std::size_t>>(programs.size());
  std::vector<CommonForm> forms;
  for (const Program& program : programs) forms.push_back(common_form(program, classes));
  std::unordered_map<std::size_t, std::vector<std::size_t>> kinds;                // by hash: the first of each form
  std::vector<std::optional<std::size_t>> firsts(programs.size());
  for (std::size_t k = 0; k < forms.size(); ++k) {
    auto& known = kinds[hash_of(forms[k])];
    const auto same = std::find_if(known.begin(), known.end(), [&](std::size_t first) { return forms[first] == forms[k]; });
    if (same == known.end()) known.push_back(k);
    else firsts[*same] = firsts[k] = *same;
  }
  return firsts;
}

}  // namespace weft
