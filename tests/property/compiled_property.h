// What must hold for every graph: see check_compiled. Returns what failed, or nothing.
#pragma once
#include <cstring>
#include <sstream>
#include <string>

#include <weft/passes.h>
#include <weft/compiled_math.h>
#include <weft/weft.h>

#include "function/compile_for.h"
#include "random_graph.h"

// ---- comparison

// Ops and folds that hand on an error of so many ULP as it is.
inline bool keeps_ulps(weft::Op op, std::size_t operand) {
  using weft::Op;
  return op == Op::copy || op == Op::stop_gradient || op == Op::negative || op == Op::abs || op == Op::maximum || op == Op::minimum ||
         op == Op::relu || op == Op::clip || op == Op::clip_min || op == Op::clip_max || op == Op::fmax || op == Op::fmin || (op == Op::where && operand > 0);
}

// How well the compiled value of each node can be compared: 0 exactly, 1 within a few ULP, 2 not at all.
inline std::vector<int> comparable(const weft::Graph& graph) {
  using namespace weft;
  std::vector<int> result(graph.size(), 0);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    for (int p = 0; p < graph.arity(id_of(k)); ++p) {
      const int from = result[graph.operand(id_of(k), p).value];
      const bool kept = node.kind == Kind::apply ? keeps_ulps(node.op, static_cast<std::size_t>(p)) : node.kind != Kind::recurrence && node.kind != Kind::others;   // products add up
      result[k] = std::max(result[k], from == 0 ? 0 : kept ? from : 2);
    }
    if (node.kind != Kind::apply) continue;
    if (is_transcendental(node.op, node.dtype)) result[k] = std::max(result[k], is_right_to_its_terms(node.op) ? 2 : 1);
    const bool picks = node.accumulator == AccumulatorId::none || node.accumulator == AccumulatorId::max || node.accumulator == AccumulatorId::min;
    if (!picks && result[k] > 0) result[k] = 2;
  }
  return result;
}

inline std::int64_t ordinal(const weft::Scalar& value) {      // neighbours are 1 apart, -0 is 0
  std::uint64_t bits = 0;
  value.store(&bits);
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(value.dtype()) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}
inline bool agrees(const weft::Scalar& a, const weft::Scalar& b, double ulps) {
  if (a == b) return true;
  if (ulps == 0 || !is_floating(a.dtype()) || std::isnan(a.real()) || std::isnan(b.real())) return false;
  return std::abs(static_cast<double>(ordinal(a) - ordinal(b))) <= ulps;
}
// "[1, 2]: 3 but 4", or nothing.
inline std::string difference(const weft::View& got, const weft::View& expected, double ulps) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape()) return "another dtype or shape";
  std::string text;
  weft::Index count = 0;
  for_each_element(got.shape(), [&](const weft::Dims& index) {
    const auto a = weft::Scalar::load(got.dtype(), element_address(got, index)), b = weft::Scalar::load(got.dtype(), element_address(expected, index));
    if (agrees(a, b, ulps)) return;
    if (++count == 1) text = weft::concat(weft::to_text(index), ": got ", to_text(a), ", expected ", to_text(b));
  });
  return count == 0 ? "" : weft::concat(text, " (", count, " of ", got.size(), " elements)");
}

// ---- execution

// Runs units in a hostile order: backwards, in uneven slices, each with scratch full of NaN bits and guarded at its end.
class HostileExecutor final : public weft::Executor {
 public:
  using Executor::run;
  int threads() const override { return 2; }
  void run(const weft::Stage& stage, void* const* slots, const weft::Index* sizes) const override {
    const weft::Index units = stage.units < 0 ? 1 : sizes[stage.units];
    const weft::Index bytes = stage.scratch < 0 ? 0 : sizes[stage.scratch];
    constexpr weft::Index guard = 256;
    const weft::Array memory = weft::Array::empty(weft::u8, {bytes + guard});
    auto* scratch = static_cast<std::byte*>(memory.data());
    weft::Index slice = 1;
    for (weft::Index end = units; end > 0;) {
      const weft::Index begin = std::max<weft::Index>(0, end - slice);
      std::memset(scratch, 0xff, static_cast<std::size_t>(bytes));
      std::memset(scratch + bytes, 0x77, guard);
      run_units(stage, slots, sizes, begin, end, bytes > 0 ? scratch : nullptr);
      for (weft::Index k = 0; k < guard; ++k) WEFT_ASSERT(scratch[bytes + k] == std::byte{0x77}, "scratch overrun by stage ", stage.name);
      end = begin;
      slice = slice == 1 ? 3 : 1;
    }
  }
};

// One compiled variant, run in several ways.
class SwitchExecutor final : public weft::Executor {
 public:
  using Executor::run;
  mutable std::shared_ptr<const Executor> current = std::make_shared<weft::SerialExecutor>();
  int threads() const override { return 2; }
  void run(const weft::Stage& stage, void* const* slots, const weft::Index* sizes) const override { current->run(stage, slots, sizes); }
};

// ---- the property

inline std::string check_text(const weft::Graph& graph) {
  const std::string text = to_text(graph);
  const weft::Graph parsed = weft::parse(text);
  if (!same(parsed, graph)) return "parse(to_text(g)) is another graph";
  if (to_text(parsed) != text) return "to_text(parse(t)) is another text:\n" + to_text(parsed);
  return "";
}

// Whole numbers up to `most`, and sums of so many terms of at most `term`, in whatever order: nothing is rounded. With room
// for products, which passes may form.
struct ExactRange {
  double most, term;
  weft::Index terms;
};
inline ExactRange exact_range(weft::DType dtype) {
  if (dtype == weft::bf16) return {15, 3, 5};            // 2^8
  if (dtype == weft::f16) return {45, 6, 40};            // 2^11
  return {4096, 60, 4096};                               // 2^24
}

// All floats of all live nodes are whole numbers so small that no rounding and no order of folding can matter.
inline bool is_exact(const weft::Graph& graph, const std::vector<weft::Array>& inputs) {
  using weft::Op;
  const std::vector<weft::NodeId> live = live_nodes(graph, graph.outputs);
  const weft::Bindings bindings = bind_symbols(graph, graph.inputs, inputs);
  const std::vector<weft::Array> values = interpret(graph, live, graph.inputs, inputs);
  std::vector<double> largest(graph.size(), 0.0);
  for (std::size_t k = 0; k < live.size(); ++k) {
    const weft::Node& node = graph.node(live[k]);
    if (!is_floating(node.dtype)) continue;
    const ExactRange range = exact_range(node.dtype);
    bool exact = !is_transcendental(node.op, node.dtype) && node.accumulator != weft::AccumulatorId::prod;
    double& most = largest[live[k].value];
    for_each_element(values[k].shape(), [&](const weft::Dims& index) {
      const double x = values[k].get(index).as_double();
      exact = exact && x == std::trunc(x);
      most = std::max(most, std::abs(x));
    });
    if (node.accumulator == weft::AccumulatorId::sum) {
      exact = exact && node.op != Op::divide && node.op != Op::reciprocal && node.op != Op::sqrt;
      for (std::size_t axis = static_cast<std::size_t>(node.kept); axis < node.domain.size(); ++axis)
        exact = exact && node.domain[axis].evaluate(bindings) <= range.terms;
      for (int p = 0; p < graph.arity(live[k]); ++p) exact = exact && largest[graph.operand(live[k], p).value] <= range.term;
    }
    if (!exact || most > range.most) return false;
  }
  return true;
}

inline bool is_integral(const weft::Graph& graph) {
  for (weft::NodeId id : live_nodes(graph, graph.outputs))
    if (is_floating(graph.node(id).dtype)) return false;
  return true;
}

inline std::string compare_all(const std::vector<weft::Array>& got, const std::vector<weft::Array>& expected, const std::vector<double>& ulps, const char* what) {
  for (std::size_t k = 0; k < got.size(); ++k)
    if (ulps[k] >= 0)
      if (const std::string text = difference(got[k], expected[k], ulps[k]); !text.empty()) return weft::concat(what, ": output ", k, " at ", text);
  return "";
}

inline std::string run_layouts(const weft::Function& f, const std::vector<weft::Array>& inputs, const std::vector<weft::Array>& expected,
                               RandomSource& random, const char* what) {
  std::vector<weft::Array> arrays, outputs;
  std::string layouts;
  for (const weft::Array& input : inputs) {
    arrays.push_back(in_other_layout(random, input));
    layouts += " " + weft::to_text(arrays.back().strides());
  }
  layouts += " ->";
  for (const weft::Array& result : expected) {
    outputs.push_back(other_layout(random, result.dtype(), result.shape(), 0x33));
    layouts += " " + weft::to_text(outputs.back().strides());
  }
  // Everything within the range of an output that is no element: a copy to compare with.
  std::vector<std::vector<std::byte>> before;
  for (const weft::Array& output : outputs) {
    const auto [first, last] = output.byte_range();
    before.emplace_back(first, last);
  }
  f.run(arrays, outputs);
  const std::vector<double> exact(expected.size(), 0.0);
  const std::string text = compare_all(outputs, expected, exact, what);
  if (!text.empty()) return text + "\n  strides" + layouts;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto first = outputs[k].byte_range().first;
    for_each_element(outputs[k].shape(), [&](const weft::Dims& index) {
      std::memset(before[k].data() + (element_address(outputs[k], index) - first), 0, size_of(outputs[k].dtype()));
      std::memset(element_address(outputs[k], index), 0, size_of(outputs[k].dtype()));
    });
    if (!before[k].empty() && std::memcmp(before[k].data(), first, before[k].size()) != 0)
      return weft::concat(what, ": output ", k, ": bytes between its elements were written\n  strides", layouts);
  }
  return "";
}

// Inputs of other sizes: what was compiled for some sizes serves all. Elements of targets often stay equal to the sizes they
// were equal to, so that not every call is refused.
inline std::vector<weft::Array> resized(const weft::Graph& graph, const std::vector<weft::Array>& inputs, RandomSource& random) {
  weft::Bindings bindings = bind_symbols(graph, graph.inputs, inputs);
  if (bindings.empty()) return {};
  std::map<weft::Index, weft::Index> moved;
  for (const bool element : {false, true})
    for (auto& [symbol, size] : bindings) {
      if (weft::element_symbol(symbol).has_value() != element) continue;
      const auto same = moved.find(size);
      if (element && random.chance(80)) {
        size = same == moved.end() ? size : random.chance(80) ? same->second : 1;
        continue;
      }
      const weft::Index before = size;
      moved[before] = size = std::max<weft::Index>(0, random.chance(60) ? size + random.pick<weft::Index>({-3, -2, -1, 1, 2}) : random.pick<weft::Index>({0, 1, 2, 5, 16, 17}));
    }
  std::vector<weft::Array> result;
  for (weft::NodeId id : graph.inputs) {
    const weft::Dims shape = evaluate(graph.node(id).shape(), bindings);
    if (std::any_of(shape.begin(), shape.end(), [](weft::Index extent) { return extent < 0; })) return {};
    const auto target = target_array(graph.node(id), bindings);
    result.push_back(target ? *target : random_array(random, graph.node(id).dtype, shape, Data::small));
  }
  return result;
}

inline std::string refusal_of(const weft::Graph& graph, const std::vector<weft::Array>& inputs) {
  try {
    interpret(graph, graph.outputs, graph.inputs, inputs, {}, weft::compiled_math);
  } catch (const weft::Error& error) {
    return error.what();
  }
  return "";
}

// What a function is given: lines have the same numbers.
inline weft::Graph extracted(const weft::Graph& graph) {
  std::vector<weft::Expr> inputs, outputs;
  auto& same = const_cast<weft::Graph&>(graph);                        // nothing is added
  for (weft::NodeId id : graph.inputs) inputs.emplace_back(same, id);
  for (weft::NodeId id : graph.outputs) outputs.emplace_back(same, id);
  return drop_dead(extract(graph, inputs, outputs));
}

// The call runs as interpreted, or is refused in the words in which the interpreter refuses the given graph, whatever the passes made of it.
inline std::string check_resized(const weft::Graph& given, const weft::Function& f, const std::vector<weft::Array>& inputs, RandomSource& random) {
  const weft::Graph& graph = f.final_graph();
  const std::string refused = refusal_of(extracted(given), inputs);
  std::string got;
  std::vector<weft::Array> expected, compiled;
  try {
    compiled = f(inputs);
  } catch (const weft::Error& error) {
    got = error.what();
  }
  if (got != refused) return "other sizes: the interpreter says \"" + refused + "\" and the function \"" + got + "\"";
  if (!got.empty()) return "";
  expected = interpret(graph, graph.outputs, graph.inputs, inputs, {}, weft::compiled_math);
  if (const weft::Graph& decided = f.final_graph(inputs); &decided != &graph) expected = interpret(decided, decided.outputs, decided.inputs, inputs, {}, weft::compiled_math);
  if (const std::string text = compare_all(compiled, expected, std::vector<double>(expected.size(), 0.0), "other sizes"); !text.empty()) {
    std::string shapes;
    for (const weft::Array& input : inputs) shapes += " " + weft::to_text(input.shape());
    return text + "\n  shapes" + shapes;
  }
  return run_layouts(f, inputs, compiled, random, "other sizes, another layout");
}

// verify after every pass; texts read back; the passes keep the meaning; compiled code is within a few ULP of libm, and gives
// every bit of the interpreter with the same functions on the final graph: with registers of any width, in any order of units,
// on 1, 2 and 7 threads, and for any layout of inputs and outputs. So a value has the same bits in whatever nest it is made.
inline std::string check_compiled(const weft::Graph& graph, const std::vector<weft::Array>& inputs, std::uint64_t seed) {
  SeededSource random(seed ^ 0x5eed);
  try {
    verify(graph);
    if (const std::string text = check_text(graph); !text.empty()) return text;
    const std::vector<weft::Array> original = interpret(graph, graph.outputs, graph.inputs, inputs);
    auto executor = std::make_shared<SwitchExecutor>();
    const int lanes = random.chance(70) ? 0 : random.pick<int>({4, 8});
    const weft::Index cache_bytes = random.chance(80) ? weft::Index{1} << 30 : 1;   // 1: stores past the caches
    weft::Machine machine = weft::this_machine();
    if (random.chance(40)) machine.second_level_bytes = 256;                         // nests slide
    const weft::Function f = compile_for(machine, graph, {.threads = 2, .lanes = lanes, .executor = executor, .cache_bytes = cache_bytes, .verify = true, .trace = ""});
    const weft::Graph& last = f.final_graph(inputs);
    if (const std::string text = check_text(last); !text.empty()) return "final graph: " + text;
    const std::vector<weft::Array> expected = interpret(last, last.outputs, last.inputs, inputs);
    if (is_integral(graph) || is_exact(graph, inputs))
      if (const std::string text = compare_all(expected, original, std::vector<double>(expected.size(), 0.0), "passes change the meaning"); !text.empty())
        return text + "\nfinal " + to_text(last);

    const std::vector<int> classes = comparable(last);
    std::vector<double> ulps;
    for (weft::NodeId id : last.outputs) ulps.push_back(classes[id.value] == 0 ? 0.0 : classes[id.value] == 2 ? -1.0 : size_of(last.node(id).dtype) == 2 ? 1.0 : 4.0);
    const std::vector<weft::Array> compiled = f(inputs);
    if (const std::string text = compare_all(compiled, expected, ulps, "compiled against interpreted"); !text.empty()) return text + "\nfinal " + to_text(last);
    const std::vector<double> exact(ulps.size(), 0.0);
    const std::vector<weft::Array> same_functions = interpret(last, last.outputs, last.inputs, inputs, {}, weft::compiled_math);
    if (const std::string text = compare_all(compiled, same_functions, exact, "compiled against interpreted with the same functions"); !text.empty())
      return text + weft::concat("\n", lanes, " lanes, final ") + to_text(last);
    executor->current = std::make_shared<HostileExecutor>();
    if (const std::string text = compare_all(f(inputs), compiled, exact, "another order of units"); !text.empty()) return text + "\nfinal " + to_text(last);
    for (int threads : {2, 7}) {
      executor->current = weft::make_executor(threads);
      if (const std::string text = compare_all(f(inputs), compiled, exact, "threads"); !text.empty()) return text + "\nfinal " + to_text(last);
    }
    if (const std::string text = run_layouts(f, inputs, compiled, random, "another layout"); !text.empty()) return text + "\nfinal " + to_text(last);
    executor->current = std::make_shared<HostileExecutor>();
    if (const std::string text = run_layouts(f, inputs, compiled, random, "a third layout"); !text.empty()) return text + "\nfinal " + to_text(last);
    if (const auto others = resized(graph, inputs, random); !others.empty())
      if (const std::string text = check_resized(graph, f, others, random); !text.empty()) return text + "\nfinal " + to_text(last);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}
