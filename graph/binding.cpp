#include <weft/binding.h>

#include <weft/text.h>

#include <algorithm>

#include "maps.h"
#include "needed.h"
#include "text/print.h"

namespace weft {
namespace {

std::string place(const Graph& graph, NodeId input, std::size_t axis) { return concat("axis ", axis, " of ", name_of(graph, input)); }

void check_arguments(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<const View*>& arrays) {
  std::string names;
  std::vector<bool> seen(graph.size(), false);
  for (NodeId id : inputs) {
    WEFT_REQUIRE(id.value < graph.size() && graph.node(id).kind == Kind::input, usage,
                 id.value < graph.size() ? name_of(graph, id) : concat("node ", id.value), " is not an input of graph ", graph.name);
    WEFT_REQUIRE(!seen[id.value], usage, "input ", name_of(graph, id), " is listed twice");
    seen[id.value] = true;
    names += (names.empty() ? "" : ", ") + name_of(graph, id);
  }
  WEFT_REQUIRE(inputs.size() == arrays.size(), usage, "expected ", inputs.size(), " arrays (", names, "), got ", arrays.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Node& node = graph.node(inputs[k]);
    const std::string name = name_of(graph, inputs[k]);
    WEFT_REQUIRE(arrays[k]->dtype() == node.dtype, dtype, "input ", name, " is ", node.dtype, " but got an array of ", arrays[k]->dtype(),
                 "\n  nothing is cast implicitly: convert the array, or declare the input as ", arrays[k]->dtype());
    WEFT_REQUIRE(arrays[k]->rank() == node.rank(), shape, "input ", name, " has shape ", to_text(node.shape()), " but got an array of shape ",
                 to_text(arrays[k]->shape()));
  }
}

bool is_plain_symbol(const Extent& extent, std::string& symbol) {
  std::vector<std::string> symbols;
  extent.collect_symbols(symbols);
  if (symbols.size() != 1 || !extent.is_symbol(symbols[0])) return false;
  symbol = symbols[0];
  return true;
}

bool can_be_negative(const Extent& extent) {
  std::string symbol;
  return !extent.is_number() && !is_plain_symbol(extent, symbol);
}

template <class Arrays> std::vector<const View*> pointers(const Arrays& arrays) {
  std::vector<const View*> result;
  for (const View& view : arrays) result.push_back(&view);
  return result;
}

// The value of s[0] in the array given for %s, if one is given.
void bind_element(const Graph& graph, const ElementSymbol& element, const std::vector<NodeId>& inputs, const std::vector<const View*>& arrays,
                  Bindings& bindings, const std::map<std::string, std::string, std::less<>>& origin) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Node& node = graph.node(inputs[k]);
    if (node.name() != element.input || !is_integer(node.dtype) || node.rank() != 1 || element.element >= arrays[k]->shape()[0]) continue;
    const auto* at = static_cast<const std::byte*>(arrays[k]->data()) + element.element * arrays[k]->strides()[0] * item_bytes(node.dtype);
    const Scalar value = Scalar::load(node.dtype, at);
    const Index size = value.cast(i64).integer();
    WEFT_REQUIRE(size >= 0, shape, "element ", element.element, " of ", name_of(graph, inputs[k]), " is ", to_text(value), ", which is no extent of an axis");
    const auto [found, is_new] = bindings.emplace(element.symbol, size);
    WEFT_REQUIRE(found->second == size, shape, "symbol ", element.symbol, " is ", found->second, " ", origin.find(element.symbol)->second, " but ", size,
                 " in ", name_of(graph, inputs[k]));
  }
}

}  // namespace

Bindings bind_symbols(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<const View*>& arrays, const Bindings& extra) {
  check_arguments(graph, inputs, arrays);
  Bindings bindings = extra;
  std::map<std::string, std::string, std::less<>> origin;
  for (const auto& [symbol, value] : extra) {
    WEFT_REQUIRE(value >= 0, shape, "symbol ", symbol, " cannot be ", value);
    origin[symbol] = "as given";
  }
  std::string symbol;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t axis = 0; axis < arrays[k]->shape().size(); ++axis) {
      if (!is_plain_symbol(graph.node(inputs[k]).domain[axis], symbol)) continue;
      const Index size = arrays[k]->shape()[axis];
      const auto [found, is_new] = bindings.emplace(symbol, size);
      if (is_new) origin[symbol] = "on " + place(graph, inputs[k], axis);
      WEFT_REQUIRE(found->second == size, shape, "symbol ", symbol, " is ", found->second, " ", origin[symbol], " but ", size, " on ",
                   place(graph, inputs[k], axis));
    }
  for (const ElementSymbol& element : graph.element_symbols()) bind_element(graph, element, inputs, arrays, bindings, origin);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t axis = 0; axis < arrays[k]->shape().size(); ++axis) {
      const Extent& extent = graph.node(inputs[k]).domain[axis];
      const Index wanted = extent.evaluate(bindings), size = arrays[k]->shape()[axis];
      WEFT_REQUIRE(wanted == size, shape, place(graph, inputs[k], axis), " has extent ", extent,
                   extent.is_number() ? "" : concat(" = ", wanted), " but got ", size, " (an array of shape ", to_text(arrays[k]->shape()), ")");
    }
  return bindings;
}

Bindings bind_symbols(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<Array>& arrays, const Bindings& extra) {
  return bind_symbols(graph, inputs, pointers(arrays), extra);
}
Bindings bind_symbols(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<View>& arrays, const Bindings& extra) {
  return bind_symbols(graph, inputs, pointers(arrays), extra);
}

std::vector<NodeId> live_nodes(const Graph& graph, const std::vector<NodeId>& outputs) {
  for (NodeId id : outputs) WEFT_REQUIRE(id.value < graph.size(), usage, "output ", id.value, " is not a node of graph ", graph.name);
  const std::vector<bool> needed = needed_by(graph, outputs);
  std::vector<NodeId> result;
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (needed[k]) result.push_back(id_of(k));
  return result;
}

void check_inputs_given(const Graph& graph, const std::vector<NodeId>& outputs, const std::vector<NodeId>& inputs) {
  for (NodeId id : live_nodes(graph, outputs))
    WEFT_REQUIRE(graph.node(id).kind != Kind::input || std::find(inputs.begin(), inputs.end(), id) != inputs.end(), usage,
                 "the outputs need input ", name_of(graph, id), ", which is not among the inputs given");
}

bool has_call_checks(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto is_identity = [](const AxisRef& ref) { return ref.is_identity(); };
  if (node.kind == Kind::reshape && !(count_of(node.domain) == count_of(graph.node(graph.operand(id, 0)).shape()))) return true;
  if (node.kind == Kind::fit) return true;
  if (const auto* places = std::get_if<AxisMap>(&node.payload)) {   // start 0, step 1 does not mean the whole axis here
    const Shape window = graph.node(graph.operand(id, 0)).shape();
    for (std::size_t k = 0; k < places->size(); ++k)
      if (const AxisRef& place = (*places)[k]; !is_identity(place) || window[static_cast<std::size_t>(place.axis)] != node.domain[k]) return true;
  }
  if (std::any_of(node.domain.begin(), node.domain.end(), can_be_negative)) return true;
  if (node.kind == Kind::apply && node.mode == Mode::accumulate && !empty_value(node.accumulator, node.dtype))
    for (std::size_t axis = static_cast<std::size_t>(node.kept); axis < node.domain.size(); ++axis)
      if (!node.domain[axis].is_number() || node.domain[axis].is(0)) return true;
  for (int p = 0; p < graph.arity(id); ++p)
    if (!std::all_of(graph.map(id, p).begin(), graph.map(id, p).end(), is_identity)) return true;
  return false;
}

namespace {

std::string valued(const Extent& extent, Index value) { return extent.is_number() ? to_text(extent) : concat(extent, " = ", value); }

std::string text(const Reach& reach) {
  return reach.first == reach.last ? concat("index ", reach.first, " is") : concat("indices ", reach.first, " to ", reach.last, " are");
}

void check_operand_at_call(const Graph& graph, NodeId id, int p, const Dims& sizes, const Bindings& bindings) {
  const Node& operand = graph.node(graph.operand(id, p));
  const AxisMap& map = graph.map(id, p);
  for (std::size_t k = 0; k < map.size(); ++k) {
    const Index count = map[k].axis < 0 ? 1 : sizes[static_cast<std::size_t>(map[k].axis)];
    if (map[k].is_identity() || count == 0) continue;
    const Index extent = operand.domain[k].evaluate(bindings);
    const Reach reach(map[k].start.evaluate(bindings), map[k].step, count);
    WEFT_REQUIRE(reach.fits(extent), shape, text(reach), " outside axis ", k, " of ", name_of(graph, graph.operand(id, p)), ", which has extent ",
                 valued(operand.domain[k], extent), show(graph, id, p));
  }
}

void check_update_at_call(const Graph& graph, NodeId id, const AxisMap& places, const Dims& sizes, const Bindings& bindings) {
  if (are_within(places)) return;
  const Node& window = graph.node(graph.operand(id, 0));
  const Shape shape = window.shape();                  // not the domain: a fold over nothing has elements
  for (const Extent& extent : shape)
    if (extent.evaluate(bindings) == 0) return;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Index count = places[k].axis < 0 ? 1 : shape[static_cast<std::size_t>(places[k].axis)].evaluate(bindings);
    const Reach reach(places[k].start.evaluate(bindings), places[k].step, count);
    WEFT_REQUIRE(reach.fits(sizes[k]), shape, text(reach), " outside axis ", k, " of the updated array, which has extent ",
                 valued(graph.node(id).domain[k], sizes[k]), show(graph, id));
  }
}

void check_reshape_at_call(const Graph& graph, NodeId id, const Bindings& bindings) {
  const Shape target = graph.node(id).domain, own = graph.node(graph.operand(id, 0)).shape();
  const Index wanted = count_of(target).evaluate(bindings), got = count_of(own).evaluate(bindings);
  WEFT_REQUIRE(wanted == got, shape, "reshape: ", name_of(graph, graph.operand(id, 0)), " of shape ", to_text(own), " has ", valued(count_of(own), got),
               " elements but the target ", to_text(target), " has ", valued(count_of(target), wanted), show(graph, id));
}

void check_fit_at_call(const Graph& graph, NodeId id, const Bindings& bindings) {
  const Node& node = graph.node(id);
  const Fit& fit = std::get<Fit>(node.payload);
  const bool is_forward = node.mode == Mode::broadcast;
  const Shape data = is_forward ? graph.node(graph.operand(id, 0)).shape() : node.shape();
  const std::string name = is_forward ? name_of(graph, graph.operand(id, 0)) : "the data";
  for (std::size_t k = 0; k < data.size(); ++k) {
    const Index own = data[k].evaluate(bindings), target = fit.target[k].evaluate(bindings);
    WEFT_REQUIRE(own == target || own == 1 || (fit.both_ways && target == 1), shape, "broadcast: axis ", k, " of ", name, " has extent ",
                 valued(data[k], own), " but the target has ", valued(fit.target[k], target), show(graph, id), "\n  ",
                 fit.both_ways ? "extents must be equal, or one of them 1" : "only an axis of extent 1 is repeated");
  }
}

}  // namespace

void check_at_call(const Graph& graph, NodeId id, const Bindings& bindings) {
  const Node& node = graph.node(id);
  if (node.kind == Kind::fit) check_fit_at_call(graph, id, bindings);
  const bool has_identity = node.kind != Kind::apply || node.mode != Mode::accumulate || empty_value(node.accumulator, node.dtype).has_value();
  Dims sizes;
  for (std::size_t axis = 0; axis < node.domain.size(); ++axis) {
    sizes.push_back(node.domain[axis].evaluate(bindings));
    WEFT_REQUIRE(sizes[axis] >= 0, shape, "an axis cannot have extent ", valued(node.domain[axis], sizes[axis]), show(graph, id));
    WEFT_REQUIRE(has_identity || static_cast<int>(axis) < node.kept || sizes[axis] > 0, shape, name_of(node.accumulator),
                 " over an axis of extent 0 has no identity; ", valued(node.domain[axis], 0), show(graph, id),
                 "\n  make sure that the axis has an element, or concatenate an initial value");
  }
  if (node.kind == Kind::reshape) return check_reshape_at_call(graph, id, bindings);
  for (int p = 0; p < graph.arity(id); ++p) check_operand_at_call(graph, id, p, sizes, bindings);
  if (const auto* places = std::get_if<AxisMap>(&node.payload)) check_update_at_call(graph, id, *places, sizes, bindings);
}

}  // namespace weft
