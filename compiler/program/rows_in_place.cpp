#include "rows_in_place.h"

#include <algorithm>

#include "schedule/cost_model.h"
#include "visit.h"

namespace weft {
namespace {

class RowsInPlace {
 public:
  RowsInPlace(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine)
      : program_(program), choices_(program, classes, features), machine_(machine) {}

  void run() {
    std::vector<Products> all;
    collect(program_.root, {}, all);
    for (auto& [others, lanes, axes] : all) {
      const Access<Load> read = only<Store, Load>(others->from, lanes);
      if (read.array && is_within(read.array->at, axes) && follows(others->from, others->from_at)) {
        others->from_at = read.array->at;
        others->from = read.array->buffer;
        remove(*read.loop, {read.row_item, read.copy_item}, read.array->result);
      }
      const Access<Store> written = only<Load, Store>(others->to, lanes);
      if (written.array && is_within(written.array->at, axes) && !row_crowds_a_set(written.array->buffer, written.array->at, others->axis, lanes) && follows(others->to, others->to_at) && touches(written.array->buffer) == 1) {
        others->to_at = written.array->at;
        others->to = written.array->buffer;
        remove(*written.loop, {written.row_item, written.copy_item, written.array_item}, -1);
      }
    }
    if (!all.empty()) drop_empty(program_.root);
  }

 private:
  struct Products {
    Others* others;
    int lanes;                                  // the axis of the vectors
    std::vector<int> axes;                      // of the loops around them, and their own
  };
  // Whether no loop around the copy, but not around the products, leads to other elements of the array.
  static bool is_within(const std::vector<Subscript>& at, const std::vector<int>& axes) {
    return std::all_of(at.begin(), at.end(), [&](const Subscript& s) { return s.axis < 0 || std::find(axes.begin(), axes.end(), s.axis) != axes.end(); });
  }

  // A loop that moves each element of a row from, or to, the same element of an array, and the items that do.
  template <class Array> struct Access {
    Loop* loop = nullptr;
    Array* array = nullptr;
    std::size_t array_item = 0, row_item = 0, copy_item = 0;
  };

  static void collect(Loop& loop, std::vector<int> around, std::vector<Products>& out) {
    around.push_back(loop.var.axis);
    for (Item& item : loop.body) {
      if (auto* inner = std::get_if<Loop>(&item)) {
        collect(*inner, around, out);
      } else if (auto* others = std::get_if<Others>(&item)) {
        out.push_back({others, loop.mark == Mark::lanes ? loop.var.axis : others->axis, around});
        out.back().axes.push_back(others->axis);
      }
    }
  }
  bool follows(int row, const std::vector<Subscript>& at) const {
    const Buffer& buffer = program_.buffer(row);
    if (buffer.place != Place::row || at.size() != buffer.axes.size()) return false;
    for (std::size_t d = 0; d < at.size(); ++d) if (!(at[d] == Subscript{buffer.axes[d], 0, 1})) return false;
    return true;
  }

  int touches(int buffer) const { return reads_of(program_.root, buffer) + writes_of(program_.root, buffer); }
  int uses(int value) const { return uses_of(program_.root, value); }

  // The only access to the row beside that of the products, if it is such a copy.
  template <class Row, class Array> Access<Array> only(int row, int lanes) {
    if (program_.buffer(row).place != Place::row || touches(row) != 2) return {};
    return find<Row, Array>(program_.root, row, lanes);
  }
  template <class Row, class Array> Access<Array> find(Loop& loop, int row, int lanes) {
    for (std::size_t k = 0; k < loop.body.size(); ++k) {
      if (auto* inner = std::get_if<Loop>(&loop.body[k])) {
        if (Access<Array> found = find<Row, Array>(*inner, row, lanes); found.loop) return found;
        continue;
      }
      auto* moved = std::get_if<Row>(&loop.body[k]);
      if (!moved || moved->buffer != row || loop.mark != Mark::lanes || !follows(row, moved->at)) continue;
      for (std::size_t c = 0; c < loop.body.size(); ++c) {
        auto* copy = std::get_if<Compute>(&loop.body[c]);
        if (!copy || copy->op != Op::copy || copy->args[0].constant) continue;
        for (std::size_t a = 0; a < loop.body.size(); ++a) {
          auto* array = std::get_if<Array>(&loop.body[a]);
          if (array && ends(*copy, *moved, *array) && lies_along(*array, lanes)) return {&loop, array, a, k, c};
        }
      }
      return {};
    }
    return {};
  }
  bool ends(const Compute& copy, const Store& row, const Load& array) const { return row.value.value == copy.result && copy.args[0].value == array.result && uses(copy.result) == 1; }
  bool ends(const Compute& copy, const Load& row, const Store& array) const {
    return copy.args[0].value == row.result && array.value.value == copy.result && uses(row.result) == 1 && uses(copy.result) == 1;
  }
  template <class Array> bool lies_along(const Array& array, int lanes) const {
    const Place place = program_.buffer(array.buffer).place;
    if constexpr (std::is_same_v<Array, Load>) if (array.guarded) return false;
    return (place == Place::argument || place == Place::result || place == Place::temporary) && is_linear(array.at) && choices_.lies_along(array.buffer, array.at, lanes);
  }

  // Whether elements of a row, when they lie across the vectors, crowd a set of the first level: 32 x 24576 floats take .37 ns an element in place,
  // .15 by rows of scratch, which are filled along the lines (Zen 5).
  bool row_crowds_a_set(int buffer, const std::vector<Subscript>& at, int row_axis, int lanes) const {
    return row_axis != lanes && choices_.crowds_a_set(buffer, at, row_axis, program_.axis(row_axis).extent.constant(), machine_.first_level_ways);
  }

  // With the load of `value`, if nothing reads it then.
  void remove(Loop& loop, std::vector<std::size_t> items, int value) {
    std::sort(items.rbegin(), items.rend());
    for (std::size_t item : items) loop.body.erase(loop.body.begin() + static_cast<std::ptrdiff_t>(item)), loop.weight -= 1;
    if (value < 0 || uses(value) > 0) return;
    std::erase_if(loop.body, [&](const Item& item) { auto* load = std::get_if<Load>(&item); return load && load->result == value; });
    loop.weight -= 1;
  }
  static void drop_empty(Loop& loop) {
    for (Item& item : loop.body) if (auto* inner = std::get_if<Loop>(&item)) drop_empty(*inner);
    std::erase_if(loop.body, [](const Item& item) { auto* inner = std::get_if<Loop>(&item); return inner && inner->body.empty() && inner->folds.empty(); });
  }

  Program& program_;
  const LoopChoices choices_;
  const Machine& machine_;
};

}  // namespace

void use_rows_in_place(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine) { RowsInPlace(program, classes, features, machine).run(); }

}  // namespace weft
