// Two axes become one where every array runs through both without a gap: an elementwise loop over [h, w, 3] is a loop over
// h w 3 elements, with full vectors instead of three lanes. An extent of 1 says nothing about its stride, so it stays.
//
// What follows the inner axis alone, such as a gain for each channel, repeats along the merged one; what follows the outer axis alone, such as a
// mean for each pixel, stays for all of the inner one's elements. That pays where the inner axis is thin: a few vectors then hold all
// repetitions, and few loads what stays. x[n,4] - m[n] takes .075 ns an element in one loop, .15 if rows of four are transposed (Zen 4).
//
// Windows that updates write, and what is asked of the outer index, are so many elements longer and later: an image of [h, w, 3] bytes, padded along h and w,
// is rows of 3 w bytes between others.
#include <algorithm>
#include <numeric>

#include "axis_use.h"
#include "readers.h"

namespace weft {
namespace {

class Collapser {
 public:
  Collapser(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest) : graph_(graph), hints_(hints), schedule_(schedule), nest_(nest), folds_(has_folds(graph, nest)) {}

  // First what runs through all arrays: an axis that repeats along another may be part of a longer one that does.
  void run() {
    while (merge_one(false)) {}
    while (merge_one(true)) {}
  }

 private:
  bool merge_one(bool repeats) {
    for (int outer = 0; outer < count(); ++outer)
      for (int inner = 0; inner < count(); ++inner) {
        if (outer == inner || hint(outer) <= 1 || hint(inner) <= 1 || !can_merge(outer, inner, repeats && is_thin(inner))) continue;
        merge(outer, inner);
        return true;
      }
    return false;
  }
  int count() const { return static_cast<int>(nest_.axes.size()); }
  Index hint(int axis) const { return nest_.axes[static_cast<std::size_t>(axis)].hint; }

  // Whether `map` names both axes and the array has no gap between them, or names neither. Of the outer one it may read a part. The specialisation key vouches
  // for the strides of inputs and outputs; arrays between nests are contiguous, so there the dimensions must be neighbours.
  bool runs_through(NodeId array, const AxisMap& map, const std::vector<int>& axes, int outer, int inner) const {
    int outer_dim = -1, inner_dim = -1;
    for (std::size_t d = 0; d < map.size(); ++d) {
      const int axis = map[d].axis < 0 ? -1 : axes[static_cast<std::size_t>(map[d].axis)];
      if (axis != outer && axis != inner) continue;
      if (axis == outer ? map[d].step != 1 : !map[d].is_identity()) return false;
      (axis == outer ? outer_dim : inner_dim) = static_cast<int>(d);
    }
    if (outer_dim < 0 || inner_dim < 0) return outer_dim == inner_dim;
    if (auto found = hints_.arrays.find(array); found != hints_.arrays.end()) {
      const Dims& strides = found->second.strides;
      return strides[static_cast<std::size_t>(outer_dim)] == strides[static_cast<std::size_t>(inner_dim)] * hint(inner);
    }
    const Node& node = graph_.node(array);
    if (layout_of(graph_, hints_.turned, array) == Order::f) std::swap(outer_dim, inner_dim);
    for (int between = outer_dim + 1; between < inner_dim; ++between)
      if (!node.domain[static_cast<std::size_t>(between)].is(1)) return false;
    return outer_dim < inner_dim;
  }
  // Whether arrays of one row of this axis may repeat: some whole number of vectors, not too many, holds whole rows.
  bool is_thin(int inner) const {
    const Extent& extent = nest_.axes[static_cast<std::size_t>(inner)].extent;
    return extent.is_number() && extent.constant() <= 16 && extent.constant() / std::gcd(extent.constant(), Index{16}) <= repeated_vectors;
  }
  bool repeats_along(const AxisMap& map, const std::vector<int>& axes, int outer, int inner) const {
    bool follows = false;
    for (const AxisRef& ref : map) {
      const int axis = ref.axis < 0 ? -1 : axes[static_cast<std::size_t>(ref.axis)];
      if (axis == outer || (axis == inner && !ref.is_identity())) return false;
      follows |= axis == inner;
    }
    return follows;
  }
  // The dimension that follows the outer axis, where all others follow neither; or -1. Products of matrices have better loops.
  int staying_dimension(NodeId array, const AxisMap& map, const std::vector<int>& axes, int outer, int inner) const {
    int found = -1;
    for (int d = 0; d < static_cast<int>(map.size()) && !folds_; ++d) {
      const AxisRef& ref = map[static_cast<std::size_t>(d)];
      const int axis = ref.axis < 0 ? -1 : axes[static_cast<std::size_t>(ref.axis)];
      if (axis == inner || (axis == outer && (found >= 0 || !ref.is_identity()))) return -1;
      if (axis == outer) found = d;
    }
    return found >= 0 && classes_of(graph_, hints_, array)[static_cast<std::size_t>(found)] == StrideClass::unit ? found : -1;
  }
  // What repeats along one of the axes and follows the outer one would repeat along the merged axis in parts; so would what stays along one.
  bool repeats_in_parts(const Placed& placed, int operand, int outer, int inner) const {
    for (const Repeat& repeat : placed.repeats)
      if (const int axis = placed.axes[static_cast<std::size_t>(repeat.along)]; repeat.operand == operand && repeat.each > 1 && (axis == outer || axis == inner)) return true;
    const auto axis_of = [&](const AxisRef& ref) { return ref.axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(ref.axis)]; };
    const AxisMap& map = graph_.map(placed.node, operand);
    if (std::none_of(map.begin(), map.end(), [&](const AxisRef& ref) { return axis_of(ref) == outer; })) return false;
    return std::any_of(placed.repeats.begin(), placed.repeats.end(), [&](const Repeat& repeat) {
      if (repeat.operand != operand) return false;
      const int axis = axis_of(map[static_cast<std::size_t>(repeat.dim)]);
      return axis == outer || axis == inner;
    });
  }
  // Elements of the inner axis, if windows and conditions along the outer one may count them; or 0. Of longer rows loops over these are as good.
  Index counted_elements(int inner) const {
    constexpr Index most = 16;
    const Extent& extent = nest_.axes[static_cast<std::size_t>(inner)].extent;
    return extent.is_number() && extent.constant() <= most ? extent.constant() : 0;
  }
  static int dimension_along(const Placed& placed, int kept, int axis) {
    const auto found = std::find(placed.axes.begin(), placed.axes.begin() + kept, axis);
    return found == placed.axes.begin() + kept ? -1 : static_cast<int>(found - placed.axes.begin());
  }
  // An update whose window has all of the inner axis, and no gaps in memory.
  bool moves_window(const Placed& placed, int outer, int inner) const {
    const Node& node = graph_.node(placed.node);
    const auto& window = std::get<AxisMap>(node.payload);
    const int from = dimension_along(placed, node.kept, outer), to = dimension_along(placed, node.kept, inner);
    if (from < 0 || to < 0) return from == to;
    if (counted_elements(inner) == 0) return false;
    const NodeId array = graph_.operand(placed.node, 0);
    const AxisRef &along_outer = window[static_cast<std::size_t>(from)], &along_inner = window[static_cast<std::size_t>(to)];
    const Shape& shape = graph_.node(array).domain;
    if (std::any_of(placed.shifts.begin(), placed.shifts.end(), [&](const Shift& shift) { return shift.to == to; })) return false;
    if (along_inner.axis < 0 || along_inner.step != 1 || !along_inner.start.is(0) || !(shape[static_cast<std::size_t>(along_inner.axis)] == node.domain[static_cast<std::size_t>(to)])) return false;
    if (along_outer.axis < 0) return true;
    AxisMap map(shape.size(), AxisRef{-1, 0, 1});
    for (std::size_t d = 0; d < window.size(); ++d)
      if (window[d].axis >= 0) map[static_cast<std::size_t>(window[d].axis)] = AxisRef{static_cast<int>(d), 0, window[d].step};
    return runs_through(array, map, placed.axes, outer, inner);
  }
  // A comparison of the index along the outer axis with a number, or an op of such: what it says of an index it says of all elements of that index.
  bool counts_index(const Placed& placed, int outer, int inner) const {
    const Node& node = graph_.node(placed.node);
    if (node.kind != Kind::apply || schedule_.stored[placed.node.value] || node.dtype != DType::bool_ || counted_elements(inner) == 0) return false;
    if (compares_index(placed, outer)) return true;
    if (node.op != Op::logical_and && node.op != Op::logical_or) return false;
    for (int k = 0; k < graph_.arity(placed.node); ++k) if (!nest_.find(graph_.operand(placed.node, k))) return false;
    return true;
  }
  bool compares_index(const Placed& placed, int outer) const {
    constexpr Index most = Index{1} << 40;      // times all that is merged, it is far from the last index
    const Node& node = graph_.node(placed.node);
    if ((node.op != Op::less && node.op != Op::greater_equal) || graph_.arity(placed.node) != 2) return false;
    const Node &index = graph_.node(graph_.operand(placed.node, 0)), &number = graph_.node(graph_.operand(placed.node, 1));
    if (index.kind != Kind::iota || index.dtype != DType::i64) return false;
    const AxisRef& ref = graph_.map(placed.node, 0)[0];
    if (ref.axis < 0 || ref.step != 1 || placed.axes[static_cast<std::size_t>(ref.axis)] != outer) return false;
    if (number.kind == Kind::extent) return true;
    const auto* scalar = std::get_if<Scalar>(&number.payload);
    return number.kind == Kind::constant && scalar && std::abs(scalar->integer()) <= most;
  }
  // thin: arrays may follow one of both, and repeat or stay along the other.
  bool can_merge(int outer, int inner, bool thin) const {
    for (const Placed& placed : nest_.nodes) {
      const Node& node = graph_.node(placed.node);
      const auto has = [&](int axis) { return std::find(placed.axes.begin(), placed.axes.begin() + node.kept, axis) != placed.axes.begin() + node.kept; };
      const auto folds = [&](int axis) { return std::find(placed.axes.begin() + node.kept, placed.axes.end(), axis) != placed.axes.end(); };
      if (folds(outer) || folds(inner)) return false;
      // Made again for every element, so it must be cheap, and no fold: 6 x 2000 x 5 doubles less their means over 2000, before themselves, took 1500 ns an element.
      const bool is_fold = placed.axes.size() > static_cast<std::size_t>(node.kept);
      const bool again = has(inner) && !has(outer) && thin && !is_fold && node.kind == Kind::apply && !schedule_.stored[placed.node.value] && node_cost(node) <= repeated_value;
      if (has(outer) && !has(inner) && counts_index(placed, outer, inner)) continue;
      if (has(outer) != has(inner) && !again) return false;
      if (node.kind == Kind::update && !moves_window(placed, outer, inner)) return false;
      for (int axis : carried_axes(node))
        if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0 && (own == outer || own == inner)) return false;
      for (int k = 0; k < graph_.arity(placed.node); ++k) {
        const NodeId id = graph_.operand(placed.node, k);
        const Node& operand = graph_.node(id);
        const AxisMap& map = graph_.map(placed.node, k);
        if (node.kind == Kind::update || operand.kept == 0) continue;
        const bool reads_index = operand.kind == Kind::iota;
        if (const Placed* made = nest_.find(id)) {
          const auto merges = [&](int axis) { return axis == outer || axis == inner; };
          for (std::size_t d = 0; d < map.size(); ++d) {
            const bool read_along = map[d].axis >= 0 && merges(placed.axes[static_cast<std::size_t>(map[d].axis)]);
            if ((merges(made->axes[d]) || read_along) && !reads_in_place(graph_, placed.node, k, d)) return false;
          }
          continue;
        }
        if (repeats_in_parts(placed, k, outer, inner)) return false;
        if (reads_index) {
          for (const AxisRef& ref : map)
            if (ref.axis >= 0 && (placed.axes[static_cast<std::size_t>(ref.axis)] == outer || placed.axes[static_cast<std::size_t>(ref.axis)] == inner)) return false;
        } else if (!runs_through(id, map, placed.axes, outer, inner)) {
          const bool follows_one = repeats_along(map, placed.axes, outer, inner) || staying_dimension(id, map, placed.axes, outer, inner) >= 0;
          if (!thin || node.kind != Kind::apply || !follows_one) return false;
        }
      }
      if (schedule_.stored[placed.node.value] && !runs_through(placed.node, identity_map(node.kept), placed.axes, outer, inner)) return false;
    }
    return true;
  }
  void note_repeats(Placed& placed, int outer, int inner) {
    const auto period = nest_.axes[static_cast<std::size_t>(inner)].extent;
    for (int k = 0; k < graph_.arity(placed.node); ++k) {
      const AxisMap& map = graph_.map(placed.node, k);
      const NodeId id = graph_.operand(placed.node, k);
      if (nest_.find(id) || graph_.node(id).kept == 0) continue;
      if (const int d = staying_dimension(id, map, placed.axes, outer, inner); d >= 0) {
        const auto along = std::find(placed.axes.begin(), placed.axes.end(), inner) - placed.axes.begin();
        placed.repeats.push_back({.operand = k, .dim = d, .along = static_cast<int>(along), .each = period.constant()});
      }
      if (!repeats_along(map, placed.axes, outer, inner)) continue;
      for (int d = 0; d < static_cast<int>(map.size()); ++d) {
        const AxisRef& ref = map[static_cast<std::size_t>(d)];
        const bool noted = std::any_of(placed.repeats.begin(), placed.repeats.end(), [&](const Repeat& repeat) { return repeat.operand == k && repeat.dim == d; });
        if (!noted && ref.axis >= 0 && placed.axes[static_cast<std::size_t>(ref.axis)] == inner) placed.repeats.push_back({k, d, ref.axis, period.constant()});
      }
    }
  }
  void note_shifts(Placed& placed, int outer, int inner) {
    const Extent& each = nest_.axes[static_cast<std::size_t>(inner)].extent;
    for (int k = 0; k < graph_.arity(placed.node) && each.is_number(); ++k) {
      const AxisMap& map = graph_.map(placed.node, k);
      const auto dimension_along = [&](int axis) {
        const auto runs_along = [&](const AxisRef& ref) { return ref.axis >= 0 && placed.axes[static_cast<std::size_t>(ref.axis)] == axis; };
        return static_cast<int>(std::find_if(map.begin(), map.end(), runs_along) - map.begin());
      };
      const int from = dimension_along(outer), to = dimension_along(inner), none = static_cast<int>(map.size());
      if (from != none && to != none && !map[static_cast<std::size_t>(from)].start.is(0)) placed.shifts.push_back({k, from, to, each.constant()});
    }
  }
  // Of what follows the outer axis, and counts elements of the merged one. False: it is nothing such.
  bool count_elements(Placed& placed, int outer, int inner) {
    const Node& node = graph_.node(placed.node);
    const Index each = counted_elements(inner);
    const int from = dimension_along(placed, node.kept, outer), to = dimension_along(placed, node.kept, inner);
    if (node.kind == Kind::update) {
      if (from >= 0) placed.shifts.push_back({0, from, to, each});
      return true;
    }
    if (from < 0 || to >= 0) return false;
    if (compares_index(placed, outer)) placed.counts *= each;
    placed.axes[static_cast<std::size_t>(from)] = inner;
    return true;
  }
  void merge(int outer, int inner) {
    for (Placed& placed : nest_.nodes) {
      if (count_elements(placed, outer, inner)) continue;
      note_repeats(placed, outer, inner);
      note_shifts(placed, outer, inner);
    }
    nest_.merged.emplace_back(nest_.axes[static_cast<std::size_t>(outer)].extent, nest_.axes[static_cast<std::size_t>(inner)].extent);
    NestAxis& gone = nest_.axes[static_cast<std::size_t>(outer)];
    NestAxis& left = nest_.axes[static_cast<std::size_t>(inner)];
    left.extent = gone.extent * left.extent;
    left.hint *= gone.hint;
    left.known = facts_of_merged(gone.known, left.known, left.extent, hints_.facts);
    const auto bit = [](int axis) { return std::uint64_t{1} << axis; };
    if (nest_.roots & bit(outer)) nest_.roots |= bit(inner);
    nest_.roots = (nest_.roots & (bit(outer) - 1)) | ((nest_.roots >> (outer + 1)) << outer);
    nest_.axes.erase(nest_.axes.begin() + outer);
    for (Placed& placed : nest_.nodes)
      for (int& axis : placed.axes) {
        if (axis == outer) axis = -1;
        else if (axis > outer) --axis;
      }
  }

  const Graph& graph_;
  const Hints& hints_;
  const Schedule& schedule_;
  Nest& nest_;
  const bool folds_;
};

}  // namespace

void collapse_axes(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest) { Collapser(graph, hints, schedule, nest).run(); }

}  // namespace weft
