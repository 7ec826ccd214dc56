#include "staged_rows.h"

#include "loop_choices.h"
#include "rows.h"

namespace weft {
namespace {

std::vector<Subscript> index_of(const Staged& s) {
  std::vector<Subscript> at;
  for (int axis : s.axes) at.push_back({axis, 0, 1});
  return at;
}

}  // namespace

void StagedRows::use_rows(Loop& loop) {
  for (Staged& s : staged_) {
    s.row = add_row(s);
    s.value = static_cast<int>(program_.values.size());
    program_.values.push_back(program_.buffer(s.row).dtype);
  }
  replace(loop);
}

int StagedRows::add_row(const Staged& s) {
  Shape extents;
  for (int axis : s.axes) extents.push_back(program_.axis(axis).extent);
  extents.front() = rows_at_once();
  return weft::add_row(program_, s.buffer, s.axes, apart_by_a_line(std::move(extents), program_.buffer(s.buffer).dtype));
}

void StagedRows::replace(Loop& loop) {
  const auto turn = [&](int& buffer, std::vector<Subscript>& at, bool is_result) {
    for (const Staged& s : staged_)
      if (s.is_result == is_result && s.buffer == buffer && s.at == at) {
        buffer = s.row;
        at = index_of(s);
        return;
      }
  };
  for (Item& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item)) replace(*inner);
    else if (auto* load = std::get_if<Load>(&item); load && !load->guarded) turn(load->buffer, load->at, false);
    else if (auto* store = std::get_if<Store>(&item)) turn(store->buffer, store->at, true);
  }
}

// Loops over all of the rows: from the array or to it.
Loop StagedRows::copy_of(const Staged& s) {
  std::vector<Subscript> array_at = s.at, row_at = index_of(s);
  int through = root_axis_;
  if (s.few >= 0) {
    through = joined_axis(s.few);
    for (std::vector<Subscript>* at : {&array_at, &row_at})
      for (Subscript& each : *at) each = each.axis == root_axis_ ? Subscript{.start = each.start} : each.axis == s.few ? Subscript{through} : each;
  }
  Loop loop;
  loop.mark = Mark::lanes;
  loop.var.axis = s.axes.back();
  loop.weight = 2;
  const int value = s.value;
  loop.body.emplace_back(s.is_result ? Load{value, s.row, row_at} : Load{value, s.buffer, array_at});
  loop.body.emplace_back(s.is_result ? Store{s.buffer, array_at, {value, {}}} : Store{s.row, row_at, {value, {}}});
  const auto around = [&](int axis) {
    Loop outer;
    outer.var.axis = axis;
    outer.body.emplace_back(std::move(loop));
    loop = std::move(outer);
  };
  around(through);
  for (std::size_t k = s.axes.size() - 1; k-- > (s.few < 0 ? 1 : 2);) around(s.axes[k]);
  return loop;
}

// An axis through the root and the few elements of another.
int StagedRows::joined_axis(int few_axis) {
  const Index few = program_.axis(few_axis).extent.constant();
  for (const Program::Joined& each : program_.joined)
    if (each.few == few) return each.axis;
  const NestAxis& root = program_.axis(root_axis_);
  program_.axes.push_back({few * root.extent, few * root.hint});
  program_.joined.push_back({static_cast<int>(program_.axes.size()) - 1, few});
  return program_.joined.back().axis;
}

std::vector<Item> StagedRows::with_copies(std::vector<Item> loops) {
  std::vector<Item> body;
  for (const Staged& s : staged_)
    if (!s.is_result) body.emplace_back(copy_of(s));
  for (Item& item : loops) body.push_back(std::move(item));
  for (const Staged& s : staged_)
    if (s.is_result) body.emplace_back(copy_of(s));
  return body;
}

}  // namespace weft
