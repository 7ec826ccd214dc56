// How neighbours differ from their siblings, and the arrays of both.
#include <algorithm>

#include "neighbours.h"
#include "tools.h"

namespace bench {
namespace {

constexpr Index thin = 4, large_elements = Index{8} << 20;  // with the results more than 32 MiB

// The channels of an image stay: what the graph knows as a small number is part of the computation.
bool is_small(Index extent) { return extent < 8; }

Index prime_below(Index number) {
  const auto is_prime = [](Index candidate) {
    for (Index divisor = 2; divisor * divisor <= candidate; ++divisor)
      if (candidate % divisor == 0) return false;
    return true;
  };
  do --number; while (!is_prime(number));
  return number;
}

template <class Change> void each_extent(Setup& setup, const Change& change) {
  for (auto& [letter, extent] : setup.extents)
    if (!is_small(extent)) extent = change(extent);
}

void make_thin(Setup& setup) {
  Index& last = setup.extents.back().second;
  setup.extents.front().second *= last / thin;
  last = thin;
}

Index extent_of(const Setup& setup, char letter) {
  return std::find_if(setup.extents.begin(), setup.extents.end(), [&](const auto& each) { return each.first == letter; })->second;
}

weft::Dims dims_of(const Setup& setup, const Source& source) {
  weft::Dims dims;
  for (char letter : source.axes) dims.push_back(extent_of(setup, letter));
  return dims;
}

DType dtype_in(const Setup& setup, const Source& source) { return source.dtype == f32 ? setup.floats : source.dtype; }

auto matrices(const Family& family) {
  return std::count_if(family.inputs.begin(), family.inputs.end(), [](const Source& each) { return each.axes.size() > 1; });
}
bool always(const Family&) { return true; }
bool has_matrix(const Family& family) { return matrices(family) > 0; }
bool can_be_thin(const Family& family) { return !is_small(family.extents.back().second); }
bool has_matrix_result(const Family& family) {
  const weft::Function function = compile(family, sibling(family), {.threads = 1});
  const Graph& graph = function.final_graph();
  return std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](weft::NodeId id) { return graph.node(id).rank() > 1; });
}

Array random_of(DType dtype, const weft::Dims& shape, const Source& source) {
  if (dtype == f64) return random<double>(shape, source.low, source.high);
  if (dtype == f32) return random<float>(shape, source.low, source.high);
  return random<std::uint8_t>(shape, source.low, source.high);
}

Array input_of(const Setup& setup, std::size_t position) {
  const Source& source = setup.inputs[position];
  const bool first = position == 0;
  weft::Dims shape = dims_of(setup, source);
  if (first && setup.layout == Layout::first_strided) {
    const Index extent = shape.back();
    shape.back() *= 2;
    return random_of(dtype_in(setup, source), shape, source).slice(static_cast<int>(shape.size()) - 1, 0, extent, 2);
  }
  const Array values = random_of(dtype_in(setup, source), shape, source);
  const bool f = setup.layout == Layout::inputs_f || setup.layout == Layout::all_f || (first && setup.layout == Layout::first_f);
  return f ? values.copy(weft::Order::f) : values;
}

Variation layout(const std::string& name, std::function<bool(const Family&)> applies, Layout layout) {
  return {name, std::move(applies), [layout](const Family&, Setup& setup) { setup.layout = layout; }};
}

}  // namespace

const std::vector<Variation>& variations() {
  static const std::vector<Variation> all{
      {"odd extents", always, [](const Family&, Setup& setup) { each_extent(setup, [](Index extent) { return extent - 1; }); }},
      {"prime extents", always, [](const Family&, Setup& setup) { each_extent(setup, prime_below); }},
      {"last axis 4", can_be_thin, [](const Family&, Setup& setup) { make_thin(setup); }},
      // The graph says so: "n", 4.
      {"last axis 4, known", [](const Family& family) { return can_be_thin(family) && family.fixed.empty(); },
       [](const Family&, Setup& setup) { make_thin(setup), setup.fixed = setup.extents.back().first; }},
      {"huge", always, [](const Family&, Setup& setup) { setup.extents.front().second *= 4; }, true},
      // As many bytes as the sibling: otherwise it might leave a cache that the sibling is in.
      {"f64", [](const Family& family) { return family.inputs[0].dtype == f32; },
       [](const Family&, Setup& setup) { setup.floats = f64, setup.extents.front().second /= 2; }},
      layout("F inputs", has_matrix, Layout::inputs_f),
      // Where it is not the same as the one before.
      layout("F inputs and results", [](const Family& family) { return has_matrix(family) && has_matrix_result(family); }, Layout::all_f),
      layout("first input F", [](const Family& family) { return matrices(family) > 1; }, Layout::first_f),
      layout("first input by steps of 2", always, Layout::first_strided),
      {"the other axis", [](const Family& family) { return !family.other.empty(); },
       [](const Family& family, Setup& setup) { setup.inputs = family.other, setup.axis = family.other_axis; }}};
  return all;
}

Setup sibling(const Family& family) { return {.extents = family.extents, .inputs = family.inputs, .fixed = family.fixed, .axis = family.axis}; }

// Four times as much as fits into a cache is slower for each byte; four times as much as fits into none is not.
Setup large_sibling(const Family& family) {
  Setup setup = sibling(family);
  Index total = std::max<Index>(matrices(family), 1);
  for (const auto& [letter, extent] : setup.extents) total *= extent;
  for (; total < large_elements; total *= 2) setup.extents.front().second *= 2;
  return setup;
}

Setup small_sibling(const Family& family) {
  Setup setup = sibling(family);
  for (auto& [letter, extent] : setup.extents)
    if (setup.fixed.find(letter) == std::string::npos) extent = std::min<Index>(extent, &extent == &setup.extents.front().second ? 96 : 72);
  return setup;
}

weft::Bindings bindings(const Setup& setup) {
  weft::Bindings values;
  for (const auto& [letter, extent] : setup.extents) values[std::string(1, letter)] = extent;
  return values;
}

weft::Function compile(const Family& family, const Setup& setup, const Options& options) {
  Graph g;
  Exprs inputs;
  for (const Source& source : setup.inputs) {
    weft::Shape shape;
    for (char letter : source.axes)
      shape.push_back(setup.fixed.find(letter) == std::string::npos ? weft::Extent(std::string(1, letter)) : weft::Extent(extent_of(setup, letter)));
    inputs.push_back(g.input("x" + std::to_string(inputs.size()), dtype_in(setup, source), shape));
  }
  return weft::compile(family.graph(inputs, setup.axis), inputs, options);
}

Arrays arrays(const weft::Function& function, const Setup& setup) {
  Arrays all;
  for (std::size_t k = 0; k < setup.inputs.size(); ++k) all.inputs.push_back(input_of(setup, k));
  const Graph& graph = function.final_graph();
  for (weft::NodeId id : graph.outputs) {
    const weft::Node& node = graph.node(id);
    const weft::Order order = setup.layout == Layout::all_f ? weft::Order::f : weft::Order::c;
    all.outputs.emplace_back(node.dtype, evaluate(node.shape(), bindings(setup)), order);
    all.outputs.back().fill(weft::Scalar::of(node.dtype, 0.0));  // pages are there before the clock runs
  }
  return all;
}

}  // namespace bench
