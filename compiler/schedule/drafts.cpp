#include "drafts.h"

#include <algorithm>
#include <bit>

#include "conditions.h"
#include "cost_model.h"
#include "running.h"

namespace weft {
namespace {

// Whether loops over these axes can nest in this order: no recurrence of the nest wants another one.
bool nests_in(const Draft& draft, const std::vector<int>& order) {
  const auto place_of = [&](int axis) { return std::find(order.begin(), order.end(), axis); };
  return order.size() < 2 || std::all_of(draft.nested.begin(), draft.nested.end(), [&](const std::pair<int, int>& pair) {
    const auto outer = place_of(pair.first), inner = place_of(pair.second);
    return outer == order.end() ? inner == order.end() : inner != order.end() && outer < inner;
  });
}

}  // namespace

Drafts::Drafts(const Graph& graph, const Hints& hints)
    : graph_(graph), hints_(hints), preference_(graph, hints), draft_of_(graph.size(), -1), place_of_(graph.size()), directions_(graph.size(), Direction::any), partings_(graph.size()), asks_(conditions_on_indices(graph)) {}

int Drafts::add() {
  drafts_.emplace_back();
  return static_cast<int>(drafts_.size()) - 1;
}

Nest Drafts::take(int draft) {
  Nest nest = std::move(drafts_[static_cast<std::size_t>(draft)].nest);
  std::sort(nest.nodes.begin(), nest.nodes.end(), [](const Placed& a, const Placed& b) { return a.node < b.node; });
  return nest;
}

// The axes of `id` that values made in this nest fix; false if they contradict each other. Folded axes, and those along which it takes
// a value at another index than the one it is made at, must have ended: they are `complete`.
bool Drafts::bind_made(NodeId id, int nest, std::vector<int>& axes, std::uint64_t& complete) const {
  const Draft& draft = drafts_[static_cast<std::size_t>(nest)];
  for (int k = 0; k < graph_.arity(id); ++k) {
    const NodeId made = graph_.operand(id, k);
    if (draft_of_[made.value] != nest) continue;
    const Placed& placed = draft.nest.nodes[place_of_[made.value]];
    const AxisMap& map = graph_.map(id, k);
    for (std::size_t d = 0; d < placed.axes.size(); ++d) {
      if (placed.axes[d] < 0) continue;
      if (d >= map.size() || !reads_in_place(graph_, id, k, d)) { complete |= std::uint64_t{1} << placed.axes[d]; continue; }
      int& bound = axes[static_cast<std::size_t>(map[d].axis)];
      if (bound >= 0 && bound != placed.axes[d]) return false;
      bound = placed.axes[d];
    }
  }
  return are_distinct(axes);
}

// Whether a value that is read at another index than it is made at fits in rows: little for each element of some root, of which there
// are enough for the threads.
bool Drafts::row_fits(const Draft& draft, NodeId made, const std::vector<int>& axes, std::uint64_t roots) const {
  double most = 1;                                    // elements of a root
  for (std::size_t axis = 0; axis < draft.nest.axes.size(); ++axis)
    if (roots >> axis & 1) most = std::max(most, static_cast<double>(draft.nest.axes[axis].hint));
  const Node& node = graph_.node(made);
  const double bytes = volume_of(axes, draft.nest.axes, static_cast<std::size_t>(node.kept)) * static_cast<double>(size_of(node.dtype));
  return kept_row_fits(bytes, most);
}

// The same for all that a node reads so in a nest, and for values of loops that run different ways.
bool Drafts::rows_fit(NodeId id, int nest, std::uint64_t roots) const {
  const bool both_ways = direction_of(id, nest) == Direction::both;
  for (int k = 0; k < graph_.arity(id); ++k) {
    const NodeId made = graph_.operand(id, k);
    if (draft_of_[made.value] != nest) continue;
    const std::vector<int>& axes = placed(made).axes;
    const bool in_one_loop = graph_.node(id).kind != Kind::others && reads_in_place(graph_, id, k, axes) && !(both_ways && directions_[made.value] != Direction::any);
    if (!in_one_loop && !row_fits(drafts_[static_cast<std::size_t>(nest)], made, axes, roots)) return false;
  }
  return true;
}

// The loops of a scan run as it does, and what reads its values in place shares them.
Drafts::Direction Drafts::direction_of(NodeId id, int nest) const {
  const Node& node = graph_.node(id);
  Direction found = node.kind == Kind::others ? Direction::both : Direction::any;
  if (is_scan(node)) found = std::get<Recurring>(node.payload).backwards ? Direction::backwards : Direction::forwards;
  for (int k = 0; k < graph_.arity(id); ++k) {
    const NodeId made = graph_.operand(id, k);
    if (draft_of_[made.value] != nest || !reads_in_place(graph_, id, k, placed(made).axes)) continue;
    const Direction other = directions_[made.value];
    if (found == Direction::any) found = other;
    else if (other != Direction::any && other != found) found = Direction::both;
  }
  return found;
}

// Prefers the axes along which the nest already reads the same arrays.
void Drafts::bind_shared_arrays(NodeId id, const Draft& draft, std::vector<int>& axes) const {
  const Node& node = graph_.node(id);
  for (int k = 0; k < graph_.arity(id); ++k) {
    const AxisMap& map = graph_.map(id, k);
    for (std::size_t d = 0; d < map.size(); ++d) {
      if (map[d].axis < 0 || axes[static_cast<std::size_t>(map[d].axis)] >= 0) continue;
      auto found = draft.array_axes.find({graph_.operand(id, k), static_cast<int>(d)});
      if (found == draft.array_axes.end() || std::find(axes.begin(), axes.end(), found->second) != axes.end()) continue;
      const auto axis = static_cast<std::size_t>(map[d].axis);
      if (draft.nest.axes[static_cast<std::size_t>(found->second)].extent == node.domain[axis] && !node.domain[axis].is(1)) axes[axis] = found->second;
    }
  }
}

// Binds what is left to free axes of equal extent, then to new axes.
bool Drafts::bind_rest(const Node& node, Draft& draft, std::vector<int>& axes, bool may_add) const {
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (node.domain[d].is(1) || axes[d] >= 0) continue;
    for (std::size_t a = 0; a < draft.nest.axes.size() && axes[d] < 0; ++a)
      if (draft.nest.axes[a].extent == node.domain[d] && std::find(axes.begin(), axes.end(), static_cast<int>(a)) == axes.end())
        axes[d] = static_cast<int>(a);
    if (axes[d] >= 0) continue;
    if (!may_add || draft.nest.axes.size() >= max_axes) return false;
    axes[d] = static_cast<int>(draft.nest.axes.size());
    draft.nest.axes.push_back({node.domain[d], node.domain[d].evaluate(hints_.bindings), facts_of(node.domain[d], hints_.facts)});
  }
  return true;
}

// Whether a long function would share the loop of a recurrence, where no other axis is long enough for vectors.
bool Drafts::runs_one_by_one(const Draft& draft, NodeId id, const std::vector<int>& axes) const {
  const Node& node = graph_.node(id);
  if (node.kind != Kind::apply || op_cost(node.op) < long_function || (bits_of(axes) & draft.one_by_one) == 0) return false;
  double elements = 1;
  for (int axis : axes) {
    if (axis < 0) continue;
    const Index hint = draft.nest.axes[static_cast<std::size_t>(axis)].hint;
    if (!(draft.one_by_one >> axis & 1) && hint >= fold_slots) return false;      // as vectors
    elements *= static_cast<double>(hint);
  }
  return elements >= worth_a_nest;
}

// Whether it reads a scan of the nest at other indices, which would keep the rows of that one by one: by themselves they go in tiles.
bool Drafts::holds_up_scan(const Draft& draft, NodeId reader, NodeId scan, const std::vector<int>& axes) const {
  const Node& node = graph_.node(scan);
  if (!is_scan(node)) return false;
  if (running_accumulator(node) && running_in_loads(is_floating(node.dtype), hints_.masks) < carried_in_loads) return false;
  const auto hint = [&](int axis) { return draft.nest.axes[static_cast<std::size_t>(axis)].hint; };
  double elements = 1;
  bool has_rows = false;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] < 0) continue;
    const auto carried = carried_axes(node);
    elements *= static_cast<double>(hint(axes[d]));
    has_rows |= std::find(carried.begin(), carried.end(), static_cast<int>(d)) == carried.end() && hint(axes[d]) >= fold_slots;
  }
  if (!has_rows || elements < worth_a_nest) return false;
  for (int k = 0; k < graph_.arity(reader); ++k)
    for (std::size_t d = 0; d < axes.size() && graph_.operand(reader, k) == scan; ++d)
      if (axes[d] >= 0 && graph_.map(reader, k)[d].axis >= 0 && !reads_in_place(graph_, reader, k, d)) return true;
  return false;
}

bool Drafts::holds_up_scan(NodeId id, int nest) const {
  for (int k = 0; k < graph_.arity(id); ++k) {
    const NodeId made = graph_.operand(id, k);
    if (draft_of_[made.value] == nest && holds_up_scan(drafts_[static_cast<std::size_t>(nest)], id, made, placed(made).axes)) return true;
  }
  return false;
}

// Products of matrices over other axes than the one that the nest has: their vectors would run along the sums of one of them. And more of them
// than blocks of registers are made for.
bool Drafts::is_other_product(const Draft& draft, NodeId id, const std::vector<int>& axes) const {
  if (!draft.product) return false;
  const auto product = product_of(graph_, id, axes, draft.nest.axes, fold_slots);
  return product && (product != draft.product || draft.instructions + product->instructions > small_body);
}

// Whether sharing these roots would leave no batch of a product as the root, but its rows, which are to be right outside its sums.
bool Drafts::parts_product(const Draft& draft, NodeId id, const std::vector<int>& axes, std::uint64_t mine, std::uint64_t roots) const {
  const auto own = product_of(graph_, id, axes, draft.nest.axes, fold_slots);
  const auto batches_of = [&](const std::optional<Product>& product, std::uint64_t among) {
    return product && std::any_of(product->batches.begin(), product->batches.end(), [&](int axis) {
      return (among >> axis & 1) && draft.nest.axes[static_cast<std::size_t>(axis)].hint >= std::max(2, hints_.threads);
    });
  };
  return (batches_of(own, mine) && !batches_of(own, roots)) || (batches_of(draft.product, draft.roots) && !batches_of(draft.product, roots));
}

// Whether sharing these roots would cost the node, or those that are there, a better one.
bool Drafts::costs_a_root(const Draft& draft, NodeId id, const std::vector<int>& axes, std::uint64_t mine, std::uint64_t roots) const {
  if (roots == draft.roots && roots == mine) return false;
  if (parts_product(draft, id, axes, mine, roots)) return true;
  AxisUses own, joined = draft.uses;
  std::vector<int> numbers(axes.size(), -1);          // the node's own axes, as a nest of its own
  std::vector<NestAxis> own_axes;
  std::uint64_t own_roots = 0;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] < 0) continue;
    numbers[d] = static_cast<int>(own_axes.size());
    if (mine >> axes[d] & 1) own_roots |= std::uint64_t{1} << own_axes.size();
    own_axes.push_back(draft.nest.axes[static_cast<std::size_t>(axes[d])]);
  }
  preference_.add(id, numbers, own_axes, own);
  preference_.add(id, axes, draft.nest.axes, joined);
  RootPreference::Side alone{own, own_roots, own_axes, static_cast<int>(own_axes.size())};
  note_sums(draft, id, axes, alone);
  note_readings(draft, id, axes, alone);
  return preference_.should_part(alone, {draft.uses, draft.roots, draft.nest.axes, draft.rank},
                                 {joined, roots, draft.nest.axes, draft.rank}, size_of(graph_.node(id).dtype));
}

void Drafts::note_sums(const Draft& draft, NodeId id, const std::vector<int>& axes, RootPreference::Side& alone) const {
  const Node& node = graph_.node(id);
  if (node.mode == Mode::accumulate && is_ordered(node.accumulator, node.dtype) && !product_of(graph_, id, axes, draft.nest.axes, fold_slots)) {
    for (auto d = static_cast<std::size_t>(node.kept); d < axes.size(); ++d) if (axes[d] >= 0) alone.summed |= std::uint64_t{1} << axes[d];
    alone.kept = volume_of(axes, draft.nest.axes, static_cast<std::size_t>(node.kept));
  }
}

void Drafts::note_readings(const Draft& draft, NodeId id, const std::vector<int>& axes, RootPreference::Side& alone) const {
  alone.follows_scan = draft.scans;
  alone.is_ready = graph_.node(id).mode != Mode::accumulate;
  for (int k = 0; k < graph_.arity(id); ++k) {
    const NodeId operand = graph_.operand(id, k);
    const int home = draft_of_[operand.value];
    alone.is_ready &= home < 0;
    if (home < 0 || &drafts_[static_cast<std::size_t>(home)] != &draft) continue;
    alone.reads_nest |= static_cast<std::size_t>(graph_.node(operand).kept) == axes.size();
    alone.follows_scan &= graph_.node(id).kind == Kind::apply && reads_in_place(graph_, id, k, placed(operand).axes);
  }
}

void Drafts::admit(NodeId id, int nest, std::vector<int> axes, std::uint64_t roots) {
  Draft& draft = drafts_[static_cast<std::size_t>(nest)];
  for (int k = 0; k < graph_.arity(id); ++k) {
    const AxisMap& map = graph_.map(id, k);
    for (std::size_t d = 0; d < map.size() && graph_.node(id).kind == Kind::apply && !asks_[graph_.operand(id, k).value]; ++d)
      if (map[d].axis >= 0) draft.array_axes.emplace(std::pair(graph_.operand(id, k), static_cast<int>(d)), axes[static_cast<std::size_t>(map[d].axis)]);
  }
  directions_[id.value] = graph_.node(id).mode == Mode::accumulate ? Direction::any : direction_of(id, nest);
  draft_of_[id.value] = nest;
  place_of_[id.value] = draft.nest.nodes.size();
  if (const auto product = product_of(graph_, id, axes, draft.nest.axes, fold_slots)) draft.product = product, draft.instructions += product->instructions;
  draft.scans |= is_scan(graph_.node(id));
  draft.rank = std::max(draft.rank, std::popcount(bits_of(axes)));
  preference_.add(id, axes, draft.nest.axes, draft.uses);
  draft.nest.nodes.push_back({id, std::move(axes)});
  draft.roots = draft.nest.roots = roots;
}

// The first refusal counts. Always false.
bool Drafts::refuse(NodeId id, Refusal Parting::*of, Refusal why) {
  Refusal& first = partings_[id.value].*of;
  if (first == Refusal::none) first = why;
  return false;
}

bool Drafts::join(NodeId id, int nest) {
  Draft& draft = drafts_[static_cast<std::size_t>(nest)];
  const Node& node = graph_.node(id);
  const bool fresh = draft.nest.nodes.empty();
  const bool has_axes = std::any_of(node.domain.begin(), node.domain.end(), [](const Extent& e) { return !e.is(1); });
  if (!fresh && has_axes == draft.nest.axes.empty()) return refuse(id, &Parting::earlier, Refusal::loops);
  std::vector<int> axes(node.domain.size(), -1);
  std::uint64_t complete = 0;
  if (!bind_made(id, nest, axes, complete)) return refuse(id, &Parting::earlier, Refusal::indices);
  bind_shared_arrays(id, draft, axes);
  const bool related = std::any_of(axes.begin(), axes.end(), [](int axis) { return axis >= 0; });
  const std::size_t axes_before = draft.nest.axes.size();
  const bool bound = bind_rest(node, draft, axes, fresh || related);
  const std::uint64_t mine = bits_of(axes);
  std::uint64_t carried = 0;
  std::vector<int> order;
  for (int axis : carried_axes(node))
    if (const int own = axes[static_cast<std::size_t>(axis)]; own >= 0) carried |= std::uint64_t{1} << own, order.push_back(own);
  const std::uint64_t roots = (fresh ? mine : draft.roots & mine) & ~complete & ~carried;
  const bool once = fresh ? carried != 0 && roots == 0 : draft.runs_once && related;
  const bool has_root = !has_axes || (draft.runs_once ? once : roots != 0 || once);
  const Refusal refusal = !bound ? Refusal::axes : !nests_in(draft, order) ? Refusal::order : !has_root ? Refusal::no_root : !rows_fit(id, nest, roots) ? Refusal::long_rows
                          : runs_one_by_one(draft, id, axes) || holds_up_scan(id, nest) ? Refusal::one_by_one
                          : is_other_product(draft, id, axes) ? Refusal::other_product
                          : !fresh && has_axes && !once && costs_a_root(draft, id, axes, mine & ~carried, roots) ? Refusal::better_root : Refusal::none;
  if (refusal != Refusal::none) {
    draft.nest.axes.resize(axes_before);
    return refuse(id, &Parting::earlier, refusal);
  }
  draft.runs_once = once;
  if (!running_accumulator(node)) draft.one_by_one |= carried;
  for (std::size_t b = 0; b < order.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) draft.nested.emplace(order[a], order[b]);
  admit(id, nest, std::move(axes), roots);
  return true;
}

bool Drafts::join_readers(NodeId id, const std::vector<NodeId>& readers) {
  const int nest = draft_of_[readers[0].value];
  Draft& draft = drafts_[static_cast<std::size_t>(nest)];
  std::vector<int> axes(graph_.node(id).domain.size(), -1);
  for (NodeId reader : readers)
    if (!follow_reader(graph_, id, reader, placed(reader).axes, axes, true)) return refuse(id, &Parting::readers, Refusal::indices);
  const std::size_t axes_before = draft.nest.axes.size();
  const bool bound = bind_rest(graph_.node(id), draft, axes, bits_of(axes) != 0);
  const std::uint64_t mine = bits_of(axes);
  std::uint64_t complete = 0;
  for (NodeId reader : readers)
    for (int k = 0; k < graph_.arity(reader); ++k)
      for (std::size_t d = 0; d < axes.size() && graph_.operand(reader, k) == id; ++d)
        if (axes[d] >= 0 && !reads_in_place(graph_, reader, k, d)) complete |= std::uint64_t{1} << axes[d];
  const bool held_up = std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return holds_up_scan(draft, reader, id, axes); });
  const std::uint64_t roots = draft.roots & mine & ~complete;
  const bool has_axes = !draft.nest.axes.empty(), has_root = has_axes ? (draft.runs_once ? mine != 0 : roots != 0) : mine == 0;
  const Refusal refusal = !bound ? Refusal::axes : !has_root ? Refusal::no_root : complete != 0 && !row_fits(draft, id, axes, roots) ? Refusal::long_rows
                          : runs_one_by_one(draft, id, axes) || held_up ? Refusal::one_by_one
                          : draft.product && is_factor(graph_, id, axes, draft.nest.axes, *draft.product, hints_.machine) ? Refusal::factor
                          : has_axes && !draft.runs_once && costs_a_root(draft, id, axes, mine & ~complete, roots) ? Refusal::better_root : Refusal::none;
  if (refusal != Refusal::none) {
    draft.nest.axes.resize(axes_before);
    return refuse(id, &Parting::readers, refusal);
  }
  admit(id, nest, std::move(axes), has_axes ? roots : 0);
  return true;
}

}  // namespace weft
