// sum(square(x - mean(x))) in one pass over x, where the mean is of nothing else but what is summed: with any s instead of the mean, d = x - s,
//
//   sum(square(x - mean(x))) = sum(square(d)) - sum(d) * sum(d) / n
//
// which loses as many bits as sum(square(d)) is larger than the result. s is the mean of a sixteenth of the elements: as the distance
// from its own mean to that of the others is part of the variance, sum(square(d)) is at most 16 times the result, so at most four bits are
// lost, and none where the elements have no order. A value alone, such as the first, has no such bound.
//
// The mean itself, if others use it, stays as it is: its sum runs in the same pass. Deviations that are an output need a second pass
// after the mean, which then adds their squares too. Rows that lie along the only folded axis are in a cache when they are read again: they
// keep their two passes.
#include <algorithm>

#include <weft/expr.h>
#include <weft/passes.h>

#include "expr/axes.h"
#include "maps.h"
#include "node_parts.h"
#include "rebuild.h"

namespace weft {
namespace {

constexpr Index share = 16;                    // one element of so many is in the sample
constexpr Index shortest_sampled = 32;         // elements along the axis that it is taken from,
constexpr Index shortest_line = 4096;          // if that is the only one

struct Variance {
  NodeId total, mean, deviation, square;       // sum(x), that by n, x minus it, its square
  int sampled;                                 // the axis of `total`
  bool from_the_front;                         // the first sixteenth, not every sixteenth element
};

// Whether a value is there for any loops: it is in memory, or does not run along the sampled axis.
bool is_there(const Graph& graph, const Operand& operand, int sampled) {
  const Kind kind = graph.node(operand.node).kind;
  return kind == Kind::input || kind == Kind::constant || kind == Kind::extent ||
         std::none_of(operand.map.begin(), operand.map.end(), [&](const AxisRef& ref) { return ref.axis == sampled; });
}

// Whether a few nodes compute the value from what is there: so many are left.
bool is_near(const Graph& graph, const Operand& operand, int sampled, int& nodes_left) {
  if (is_there(graph, operand, sampled)) return true;
  const Node& node = graph.node(operand.node);
  if (node.kind != Kind::apply || node.mode != Mode::broadcast || --nodes_left < 0) return false;
  for (int k = 0; k < graph.arity(operand.node); ++k)
    if (!is_near(graph, operand_of(graph, operand, k), sampled, nodes_left)) return false;
  return true;
}

// The value over the loops of the sample, `sample` being their indices: computed once more.
Operand add_sampled(Rebuild& rebuild, const Graph& graph, const Operand& operand, int sampled, const AxisMap& sample, const Shape& domain) {
  if (is_there(graph, operand, sampled)) return {rebuild[operand.node], compose(operand.map, sample)};
  const Node& node = graph.node(operand.node);
  std::vector<Operand> operands;
  for (int k = 0; k < graph.arity(operand.node); ++k) operands.push_back(add_sampled(rebuild, graph, operand_of(graph, operand, k), sampled, sample, domain));
  return apply_over_mentioned(rebuild.to, node.op, node.dtype, domain, std::move(operands), node.order);
}

class Reader {
 public:
  explicit Reader(const Graph& graph) : graph_(graph), is_output_(output_marks(graph)) {}

  std::optional<Variance> read(NodeId id) const {
    const Node& sum = graph_.node(id);
    if (!is_sum(sum)) return {};
    Variance v{};
    v.square = graph_.operand(id, 0);
    if (!is_plain(v.square, Op::square, sum.dtype) || is_needed_before(v.square, id)) return {};
    v.deviation = graph_.operand(v.square, 0);
    if (!is_plain(v.deviation, Op::subtract, sum.dtype) || is_needed_before(v.deviation, id)) return {};
    v.mean = graph_.operand(v.deviation, 1);
    if (!is_plain(v.mean, Op::divide, sum.dtype)) return {};
    v.total = graph_.operand(v.mean, 0);
    if (!is_sum(graph_.node(v.total)) || graph_.operand(v.total, 0) != graph_.operand(v.deviation, 0)) return {};
    if (!is_count(graph_.operand(v.mean, 1), graph_.node(v.total)) || !runs_over_the_same(id, v) || !choose_sample(v)) return {};
    return v;
  }

 private:
  // Whether others want the elements before the sum: what comes after it may use it, and so be in a pass of its own anyway.
  bool is_needed_before(NodeId id, NodeId sum) const {
    int before = 0;
    for (NodeId user : graph_.users(id)) before += user <= sum;
    return before > 1 || is_output_[id.value];
  }
  bool is_plain(NodeId id, Op op, DType dtype) const {
    const Node& node = graph_.node(id);
    return node.kind == Kind::apply && node.op == op && node.mode == Mode::broadcast && node.dtype == dtype;
  }
  static bool is_sum(const Node& node) {
    return node.kind == Kind::apply && node.op == Op::copy && node.mode == Mode::accumulate && node.accumulator == AccumulatorId::sum && (node.dtype == f32 || node.dtype == f64);
  }
  bool is_count(NodeId id, const Node& total) const {
    const Extent count = count_of(Shape(total.domain.begin() + total.kept, total.domain.end()));
    const Node* node = &graph_.node(id);
    if (count.is_number()) {
      const Scalar* number = scalar_of(*node);
      return number && !count.is(0) && number->as_double() == Scalar::of(total.dtype, count.constant()).as_double();
    }
    if (node->kind == Kind::apply && node->op == Op::cast) node = &graph_.node(graph_.operand(id, 0));
    return node->kind == Kind::extent && std::get<Extent>(node->payload) == count;
  }

  // Whether each deviation is from the mean of all that are summed with it: x is read alike, along axes that both sums keep or both fold.
  bool runs_over_the_same(NodeId id, const Variance& v) const {
    const Node &sum = graph_.node(id), &total = graph_.node(v.total), &deviation = graph_.node(v.deviation);
    const AxisMap in_sum = compose(graph_.map(v.square, 0), graph_.map(id, 0)), of_mean = compose(graph_.map(v.mean, 0), graph_.map(v.deviation, 1));
    const AxisMap &in_total = graph_.map(v.total, 0), &in_deviation = graph_.map(v.deviation, 0);
    std::vector<bool> folded(deviation.domain.size(), false);
    for (std::size_t d = 0; d < in_total.size(); ++d) {
      const AxisRef &there = in_total[d], &here = in_deviation[d];
      if (there.axis < total.kept) {
        if (compose({there}, of_mean) != AxisMap{here}) return false;
        continue;
      }
      if (here.axis < 0 || there.start != here.start || there.step != here.step || there.part != here.part || deviation.domain[static_cast<std::size_t>(here.axis)] != total.domain[static_cast<std::size_t>(there.axis)]) return false;
      folded[static_cast<std::size_t>(here.axis)] = true;
    }
    for (std::size_t axis = 0; axis < folded.size(); ++axis) {
      const AxisRef& ref = in_sum[axis];
      const bool is_whole = ref.is_identity() && sum.domain[static_cast<std::size_t>(ref.axis)] == deviation.domain[axis];
      if (is_whole ? (ref.axis >= sum.kept) != folded[axis] : !(ref.axis < 0 && ref.start.is(0) && deviation.domain[axis].is(1) && !folded[axis])) return false;
    }
    return std::count(folded.begin(), folded.end(), true) == static_cast<std::ptrdiff_t>(sum.domain.size()) - sum.kept;
  }

  // The outermost folded axis, if its elements are rows; of a single axis the front, as all its lines would be read.
  bool choose_sample(Variance& v) const {
    const Node& total = graph_.node(v.total);
    const NodeId x = graph_.operand(v.total, 0);
    const AxisMap& map = graph_.map(v.total, 0);
    const std::size_t fast = graph_.node(x).order == Order::f ? 0 : map.size() - 1;
    v.sampled = -1;
    const auto is_long = [&](int axis, Index least) {
      const Extent& extent = total.domain[static_cast<std::size_t>(axis)];
      return !extent.is_number() || extent.constant() >= least;
    };
    for (int axis = total.kept; axis < static_cast<int>(total.domain.size()) && v.sampled < 0; ++axis)
      if (map[fast].axis != axis && is_long(axis, shortest_sampled)) v.sampled = axis;
    const bool is_line = std::all_of(map.begin(), map.end(), [&](const AxisRef& ref) { return ref.axis < 0 || ref.axis == map[fast].axis; });
    v.from_the_front = v.sampled < 0;
    if (v.from_the_front && is_line && map[fast].axis >= total.kept && is_long(map[fast].axis, shortest_line)) v.sampled = map[fast].axis;
    if (v.sampled < 0) return false;
    int nodes_left = 16;
    return is_near(graph_, {x, map}, v.sampled, nodes_left);
  }

  const Graph& graph_;
  const std::vector<bool> is_output_;
};

// The mean of the sample, of the shape of the mean. A fold names all its axes: what was computed once more does not name those of one element.
NodeId add_sample(Rebuild& rebuild, const Graph& graph, const Variance& v) {
  Node total = graph.node(v.total), mean = graph.node(v.mean);
  const auto sampled = static_cast<std::size_t>(v.sampled);
  const Extent count = total.domain[sampled];
  total.domain[sampled] = floor_div(count + (share - 1), share);
  AxisMap sample = identity_map(static_cast<int>(total.domain.size()));
  if (v.from_the_front) sample[sampled].part = total.domain[sampled] != count;
  else sample[sampled].step = share;
  const int rank = static_cast<int>(total.domain.size());
  Operand x = add_sampled(rebuild, graph, {graph.operand(v.total, 0), graph.map(v.total, 0)}, v.sampled, sample, total.domain);
  if (!mentions_all({x}, total.kept, rank)) x = {rebuild.to.apply(Op::copy, total.dtype, total.domain, {x}), identity_map(rank)};
  const NodeId number = as_scalar(rebuild.to, count_of(Shape(total.domain.begin() + total.kept, total.domain.end())), total.dtype).id();
  const NodeId sum = rebuild.to.add(std::move(total), {x});
  return rebuild.to.add(std::move(mean), {{sum, graph.map(v.mean, 0)}, {number, graph.map(v.mean, 1)}});
}

// Squares that overflow are an infinite result, and infinities no number, as they are in two passes.
void add_shifted(Rebuild& rebuild, const Graph& graph, NodeId id, const Variance& v) {
  Graph& to = rebuild.to;
  const Operand shift{add_sample(rebuild, graph, v), graph.map(v.deviation, 1)};
  const NodeId deviation = to.add(graph.node(v.deviation), {{rebuild[graph.operand(v.deviation, 0)], graph.map(v.deviation, 0)}, shift});
  const NodeId square = to.add(graph.node(v.square), {{deviation, graph.map(v.square, 0)}});
  const Expr sum(to, to.add(graph.node(id), {{deviation, compose(graph.map(v.square, 0), graph.map(id, 0))}}));
  const Expr squares(to, to.add(graph.node(id), {{square, graph.map(id, 0)}}));
  const Expr count(to, rebuild[graph.operand(v.mean, 1)]);
  const Expr divisor = graph.node(graph.operand(v.mean, 1)).kind == Kind::constant ? count : maximum(count, 1);
  const Expr result = where(isinf(squares), squares + 0 * sum, maximum(squares - sum * (sum / divisor), 0));
  rebuild.set(id, result.id());
}

}  // namespace

Graph shift_variances(const Graph& graph) {
  const Reader reader(graph);
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const auto found = reader.read(id_of(k));
    if (found) add_shifted(rebuild, graph, id_of(k), *found);
    else rebuild.copy(id_of(k));
  }
  return drop_dead(rebuild.finish());
}

}  // namespace weft
