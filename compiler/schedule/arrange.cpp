// The order of the loops of one nest: the root outermost, then axes by falling stride, the axis that runs as vectors innermost. Strides,
// not c or f, decide. If the root itself is the best vector axis it is split: tiles outermost, elements innermost.
#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include "blocks.h"
#include "distribute.h"
#include "loop_tree.h"
#include "nest_costs.h"
#include "root.h"
#include "root_unit.h"

namespace weft {
namespace {

// Of axes that cost as much, folds and longer rows run along that whose elements lie nearer: means over the pixels of 300 x 100 x 2 floats .67 -> .082 ns an element,
// pixels of three repeated twice along both axes, 200 x 100, 1.4 -> .24; running sums along the longer one (64 pixels of 3 .37, .62 along the nearer; Zen 4).
int choose_lanes(Nest& nest, const NestCosts& costs, const Machine& machine, bool folds, bool masks) {
  for (std::size_t axis = 0; axis < nest.axes.size(); ++axis) {
    const NestAxis& own = nest.axes[axis];
    const bool known_end = own.extent.is_number() || own.known.multiple % lane_count == 0;
    nest.compared.push_back({costs.stride[axis], vector_axis_cost(costs.uses.along[axis], costs.uses.cost(machine, axis) + (folds ? 0 : costs.of_far(machine, axis)), costs.carried[axis], costs.arithmetic, own.hint, masks, known_end), {}});
  }
  const bool scans = std::any_of(costs.carried.begin(), costs.carried.end(), [](double cost) { return cost > 0; });
  int best = -1;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) {
    if (!costs.has_much(static_cast<std::size_t>(axis))) continue;
    if (best < 0) {
      best = axis;
      continue;
    }
    const double mine = nest.compared[static_cast<std::size_t>(axis)].vectors, other = nest.compared[static_cast<std::size_t>(best)].vectors;
    const auto a = static_cast<std::size_t>(axis), b = static_cast<std::size_t>(best);
    const bool is_nearer = costs.stride[a] <= costs.stride[b], is_longer = nest.axes[a].hint >= nest.axes[b].hint;
    const bool as_good = !scans && (folds || std::min(nest.axes[a].hint, nest.axes[b].hint) >= few_outside_vectors) ? is_nearer : is_longer;
    if (mine < other || (mine == other && as_good)) best = axis;
  }
  return std::max(best, 0);
}

// Whether the rows of a product would not be right outside its sums if they were the root, where another root is as good for the threads.
bool parts_product(const Nest& nest, const SharedOperands::Loops& product, int axis, int lanes, int threads) {
  if (axis != product.rows) return false;
  for (int other = 0; other < static_cast<int>(nest.axes.size()); ++other)
    if (other != axis && other != lanes && other != product.sums && (nest.roots >> other & 1) && nest.axes[static_cast<std::size_t>(other)].hint >= std::max(2, threads)) return true;
  return false;
}

// Whether, with the axis as the root, one that memory moves farther along would be a loop inside.
bool has_short_runs(const Nest& nest, const NestCosts& costs, int axis, const Machine& machine) {
  const double own = costs.stride[static_cast<std::size_t>(axis)];
  double run = 1;
  bool is_inside = false;
  for (int other = 0; other < static_cast<int>(nest.axes.size()); ++other) {
    const auto o = static_cast<std::size_t>(other);
    if (costs.stride[o] < own) run *= std::max(1.0, static_cast<double>(nest.axes[o].hint));
    is_inside |= other != nest.lanes && costs.stride[o] > own && (nest.roots >> other & 1) && nest.axes[o].hint >= many_runs;
  }
  return axis != nest.lanes && is_inside && are_short_runs(machine, run, costs.bytes);
}

// An axis of few elements that threads share evenly, along which memory moves the farthest, where the root would break the order of axes in between: then
// rows of results are written one here, one there. Heads of attention apart, 4 x 512 x 8 x 64 floats, .098 -> .067 ns an element (Zen 5).
int root_in_order(const Graph& graph, const Nest& nest, const NestCosts& costs, int root, int threads) {
  if (root < 0 || has_folds(graph, nest)) return root;
  const auto stride = [&](int axis) { return costs.stride[static_cast<std::size_t>(axis)]; };
  int farthest = root, between = 0;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) if (stride(axis) > stride(farthest)) farthest = axis;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) between += axis != nest.lanes && stride(axis) > stride(root) && stride(axis) < stride(farthest);
  const auto f = static_cast<std::size_t>(farthest);
  const Index extent = nest.axes[f].hint;
  const RootCost& cost = nest.compared[f].root;
  const bool is_only_short = (nest.roots >> farthest & 1) && cost.few_elements > 0 && cost.total() == cost.few_elements;
  return between > 0 && is_only_short && extent >= std::max(4, 2 * threads) && extent % threads == 0 ? farthest : root;
}

int choose_root(const Graph& graph, Nest& nest, const NestCosts& costs, const SharedOperands::Loops& product, const Machine& machine, int threads) {
  const int lanes = nest.lanes;
  int best = -1;
  double best_penalty = 0;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) {
    if (!(nest.roots >> axis & 1)) continue;
    const auto a = static_cast<std::size_t>(axis);
    nest.compared[a].root = root_cost(costs.uses.along[a], nest.axes[a].hint, axis == lanes && nest.axes.size() > 1, threads);
    if (parts_product(nest, product, axis, lanes, threads)) nest.compared[a].root.parts_product = rows_apart_cost;
    if (has_short_runs(nest, costs, axis, machine)) nest.compared[a].root.short_runs = short_runs_cost;
    const double penalty = nest.compared[a].root.total();
    if (best < 0 || penalty < best_penalty || (penalty == best_penalty && costs.stride[a] > costs.stride[static_cast<std::size_t>(best)])) best = axis, best_penalty = penalty;
  }
  return root_in_order(graph, nest, costs, best, threads);
}

// The axes of a recurrence over several nest in visiting order: they trade places among themselves.
void keep_visiting_order(const Graph& graph, Nest& nest) {
  for (const Placed& placed : nest.nodes) {
    std::vector<int> wanted;
    for (int axis : carried_axes(graph.node(placed.node)))
      if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0) wanted.push_back(own);
    std::size_t next = 0;
    for (LoopVar& var : nest.vars)
      if (std::find(wanted.begin(), wanted.end(), var.axis) != wanted.end()) var.axis = wanted[next++];
  }
  nest.lanes = nest.vars.back().axis;
}

// Whether what folds the axis reads vectors along it that several elements of another one of the loops share, as rows of x times y share
// those of y: 60 products of 8 x 8 with 8 x 12 floats 9.4 -> 2.4 us (Zen 4).
bool sums_share(const Graph& graph, const Nest& nest, int axis, const std::vector<int>& loops) {
  return std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) {
    const auto kept = std::span(placed.axes).first(static_cast<std::size_t>(graph.node(placed.node).kept)), folded = std::span(placed.axes).subspan(kept.size());
    if (std::find(folded.begin(), folded.end(), axis) == folded.end()) return false;
    for (int k = 0; k < graph.arity(placed.node); ++k) {
      const AxisMap& map = graph.map(placed.node, k);
      const auto follows = [&](int along) { return std::any_of(map.begin(), map.end(), [&](const AxisRef& ref) { return ref.axis >= 0 && placed.axes[static_cast<std::size_t>(ref.axis)] == along; }); };
      const auto is_shared_along = [&](int rows) { return std::find(loops.begin(), loops.end(), rows) != loops.end() && !follows(rows); };
      if (follows(axis) && follows(nest.lanes) && std::any_of(kept.begin(), kept.end(), is_shared_along)) return true;
    }
    return false;
  });
}

// Folds over a few known elements go right outside the vectors, where what folds them folds nothing longer but along these: their sums stay in registers.
// Outside another axis they were rows of all its elements: the nearest of 2000 others of each of 2000 points, by planes, 4.1 -> .6 ms (Zen 5). Not where
// several folds read what lies apart, which comes in tiles of its neighbours then: softmax over the middle axis of 1875 x 8 x 4 floats 1.55 -> .87 ns an
// element (Zen 4).
void put_few_folded_last(const Graph& graph, const Nest& nest, const NestCosts& costs, std::vector<int>& others) {
  const bool long_vectors = nest.axes[static_cast<std::size_t>(nest.lanes)].hint >= few_outside_vectors;
  const auto is_folded = [&](int axis) { return folds_axis(graph, nest, axis); };
  const auto is_few = [&](int axis) {
    const Extent& extent = nest.axes[static_cast<std::size_t>(axis)].extent;
    return extent.is_number() && extent.constant() <= most_thin(false, false, false);
  };
  const auto folds = std::count_if(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) { return graph.node(placed.node).mode == Mode::accumulate; });
  if (folds > 1 && costs.apart[static_cast<std::size_t>(nest.lanes)]) return;
  if (std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) { return graph.node(placed.node).kind != Kind::apply; })) return;
  const auto is_folded_alone = [&](int axis) {
    return is_few(axis) && is_folded(axis) && std::all_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) {
      const auto folded = std::span(placed.axes).subspan(static_cast<std::size_t>(graph.node(placed.node).kept));
      return std::find(folded.begin(), folded.end(), axis) == folded.end() || std::all_of(folded.begin(), folded.end(), [&](int other) { return other < 0 || other == nest.lanes || is_few(other); });
    });
  };
  std::vector<int> first, last;
  for (int axis : others) (is_folded_alone(axis) && (long_vectors || sums_share(graph, nest, axis, others)) ? last : first).push_back(axis);
  others = std::move(first);
  others.insert(others.end(), last.begin(), last.end());
}

// By falling stride. But what has few elements that lie side by side in one array, where those along the vectors do in another, goes last, unless folds keep
// rows of them: of the lines of the first one each is then met once, not as many times. Planes of 2 x 2 parts of pictures put together, .36 -> .08 ns an
// element (Zen 5).
void sort_by_stride(const Graph& graph, const Nest& nest, const NestCosts& costs, std::vector<int>& others) {
  const bool may_go_last = costs.neighbours[static_cast<std::size_t>(nest.lanes)] && !has_folds(graph, nest);
  const auto rank = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    const Extent& extent = nest.axes[a].extent;
    return std::tuple(may_go_last && costs.neighbours[a] && extent.is_number() && extent.constant() < lane_count, -costs.stride[a], axis);
  };
  std::sort(others.begin(), others.end(), [&](int a, int b) { return rank(a) < rank(b); });
}

// A leaf; where folds have no order as much as goes through the first level in a few hundred cycles, of arrays along the folded axis alone. The largest of
// 16384 bytes 78 -> 47 ns (Zen 5).
Index unit_of_folds(const Graph& graph, const Nest& nest) {
  constexpr std::size_t narrow = 2;
  std::size_t widest = 1;
  for (const Placed& placed : nest.nodes) {
    const Node& node = graph.node(placed.node);
    if (node.mode != Mode::broadcast && is_ordered(node.accumulator, node.dtype)) return fold_leaf;
    widest = std::max(widest, size_of(node.dtype));
    for (int k = 0; k < graph.arity(placed.node); ++k) widest = std::max(widest, size_of(graph.node(graph.operand(placed.node, k)).dtype));
  }
  if (nest.block > 0) return fold_leaf;
  if (widest <= narrow) return 8 * fold_leaf / static_cast<Index>(widest);
  return nest.axes.size() == 1 ? 4 * fold_leaf : fold_leaf;
}

// What does not run along the vector axis, if that is much, runs along what is innermost of its own: its best vector axis, which nothing along the other one has.
void put_other_lanes_last(const Nest& nest, const NestCosts& costs, std::vector<int>& others) {
  const auto has = [](const Placed& placed, int axis) { return std::find(placed.axes.begin(), placed.axes.end(), axis) != placed.axes.end(); };
  std::vector<double> along(nest.axes.size());
  double all = 0;
  for (const Placed& placed : nest.nodes) {
    if (has(placed, nest.lanes)) continue;
    const double volume = volume_of(placed.axes, nest.axes, placed.axes.size());
    all += volume;
    for (int axis : placed.axes) if (axis >= 0) along[static_cast<std::size_t>(axis)] += volume;
  }
  if (4 * all < costs.all) return;
  auto best = others.end();
  for (auto axis = others.begin(); axis != others.end(); ++axis) {
    const auto a = static_cast<std::size_t>(*axis);
    const bool is_beside = std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) { return has(placed, nest.lanes) && has(placed, *axis); });
    if (is_beside || 2 * along[a] < all) continue;
    if (best == others.end() || nest.compared[a].vectors < nest.compared[static_cast<std::size_t>(*best)].vectors) best = axis;
  }
  if (best != others.end()) std::rotate(best, best + 1, others.end());
}

// The loop variables, outermost first. Without a root the nest runs once. Units of a product's sums go inside its rows as well: x^T y of 1000 x 15 floats
// each 21.9 -> 6.5 us (Zen 4).
void order_loops(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest, const NestCosts& costs, const SharedOperands::Loops& product, int root) {
  std::vector<int> others;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) if (axis != root && axis != nest.lanes) others.push_back(axis);
  sort_by_stride(graph, nest, costs, others);
  put_few_folded_last(graph, nest, costs, others);
  put_other_lanes_last(nest, costs, others);
  for (int axis : {product.rows, product.sums})
    if (const auto at = std::find(others.begin(), others.end(), axis); at != others.end()) std::rotate(at, at + 1, others.end());
  if (root < 0) {
    nest.vars.push_back({-1, Part::element});
  } else {
    const bool folded = folds_axis(graph, nest, root);
    nest.vars.push_back({root, Part::tile});
    nest.block = root == nest.lanes || product.sums >= 0 ? 0 : choose_block(graph, hints, schedule, folded, nest);      // products have blocks of their own
    if (folded) nest.unit = unit_of_folds(graph, nest);
    else if (nest.block > 0) nest.unit = nest.block;
    else if (root != nest.lanes) nest.vars.clear();
    if (nest.block > 0 && folded) nest.vars.push_back({root, Part::block});
    if (root == product.sums) others.push_back(root);
    else if (root != nest.lanes) nest.vars.push_back({root, Part::element});
  }
  for (int axis : others) nest.vars.push_back({axis, Part::element});
  nest.vars.push_back({nest.lanes, Part::element});
}

}  // namespace

void arrange(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest) {
  double moved = 0;
  if (!nest.axes.empty()) {
    const NestCosts costs(graph, hints, schedule, nest);
    nest.lanes = choose_lanes(nest, costs, hints.machine, has_folds(graph, nest), hints.masks);
    const SharedOperands::Loops product = costs.shared.loops(graph, nest, nest.lanes);
    order_loops(graph, hints, schedule, nest, costs, product, choose_root(graph, nest, costs, product, hints.machine, hints.threads));
    keep_visiting_order(graph, nest);
    moved = costs.bytes;
  }
  nest.root = build_tree(graph, nest, distribute(graph, schedule, nest));
  const bool root_is_vectors = !nest.vars.empty() && nest.vars[0] == LoopVar{nest.lanes, Part::tile};
  if (!root_is_vectors || folds_axis(graph, nest, nest.lanes)) return;
  nest.unit = unit_of_root_vectors(graph, hints, schedule, nest, moved);
}

}  // namespace weft
