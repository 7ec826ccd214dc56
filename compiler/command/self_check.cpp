#include "self_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>

#include <weft/compiled_math.h>
#include <weft/function.h>
#include <weft/grad.h>
#include <weft/interpret.h>
#include <weft/text.h>

namespace weft {
namespace {

// Of f16 and bf16 a thousand would be as much as the value.
double allowed_epsilons(DType dtype) { return !is_floating(dtype) ? 0 : size_of(dtype) == 2 ? 16 : 1000; }

std::byte* bytes_of(const View& array, Index element) {
  return static_cast<std::byte*>(array.data()) + static_cast<std::size_t>(element) * size_of(array.dtype());
}

Array random_array(DType dtype, const Dims& shape, std::mt19937& generator) {
  Array array = Array::empty(dtype, shape);
  std::uniform_real_distribution<double> real(0.25, 1.75);
  std::uniform_int_distribution<int> integer(0, is_boolean(dtype) ? 1 : 9);
  for (Index k = 0; k < array.size(); ++k)
    (is_floating(dtype) ? Scalar::of(dtype, real(generator)) : Scalar::of(dtype, integer(generator))).store(bytes_of(array, k));
  return array;
}

std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  const Array dense = array.copy();
  for (Index k = 0; k < dense.size(); ++k) values.push_back(Scalar::load(dense.dtype(), bytes_of(dense, k)).as_double());
  return values;
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case f64: return 0x1p-52;
    case f32: return 0x1p-23;
    case f16: return 0x1p-10;
    case bf16: return 0x1p-7;
    default: return 0;
  }
}

// The largest difference, for floats over the largest finite value and in units of epsilon.
double distance(const Array& a, const Array& b) {
  const auto u = values_of(a), v = values_of(b);
  double largest = 0, worst = 0;
  for (double value : v) if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t k = 0; k < u.size(); ++k) {
    if (u[k] == v[k] || (std::isnan(u[k]) && std::isnan(v[k]))) continue;
    const double difference = std::abs(u[k] - v[k]);
    worst = std::max(worst, std::isfinite(difference) ? difference : INFINITY);
  }
  return worst == 0 || !is_floating(a.dtype()) ? worst : worst / largest / epsilon_of(a.dtype());
}

// NaN are equal.
bool has_bits(const Array& a, const Array& b) {
  const auto u = values_of(a), v = values_of(b);
  for (std::size_t k = 0; k < u.size(); ++k)
    if (!(u[k] == v[k] && std::signbit(u[k]) == std::signbit(v[k])) && !(std::isnan(u[k]) && std::isnan(v[k]))) return false;
  return true;
}

// Of a call that throws: what it says.
template <class Work> std::optional<std::string> refusal(Work work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    return error.what();
  }
}

}  // namespace

std::vector<Array> random_inputs(const Graph& graph, const Bindings& sizes, Index size, std::mt19937& generator) {
  std::vector<std::string> symbols;
  for (NodeId id : graph.inputs) for (const Extent& extent : graph.node(id).domain) extent.collect_symbols(symbols);
  for (const auto& [symbol, value] : sizes)
    WEFT_REQUIRE(std::find(symbols.begin(), symbols.end(), symbol) != symbols.end(), usage, "graph ", graph.name, " has no symbol ", symbol);
  Bindings bindings = sizes;
  Index next = size;
  for (const auto& symbol : symbols) next += bindings.emplace(symbol, next).second;
  std::vector<Array> inputs;
  for (NodeId id : graph.inputs) inputs.push_back(random_array(graph.node(id).dtype, evaluate(graph.node(id).shape(), bindings), generator));
  return inputs;
}

int check_results(const Graph& graph, const std::vector<std::string>& names, const Bindings& sizes, const Options& options, std::ostream& out) {
  Options verified = options;
  verified.verify = true;
  const Function f = compile(graph, verified);
  std::mt19937 generator(1);
  int wrong = 0;
  for (Index size : {1, 3, 17, 130}) {
    const auto inputs = random_inputs(graph, sizes, size, generator);
    const auto refused = refusal([&] { interpret(graph, graph.outputs, graph.inputs, inputs); });
    if (refused) {                              // arrays of these sizes are none that the graph takes
      const bool by_both = refusal([&] { f(inputs); }).has_value();
      wrong += !by_both;
      out << (by_both ? "ok    " : "WRONG compiled code takes what the interpreter does not: ") << refused->substr(0, refused->find('\n')) << "\n";
      continue;
    }
    const auto expected = interpret(graph, graph.outputs, graph.inputs, inputs);
    const auto got = f(inputs);
    const Graph& last = f.final_graph(inputs);
    const auto exact = interpret(last, last.outputs, last.inputs, inputs, {}, compiled_math);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const bool floating = is_floating(got[k].dtype());
      const double far = distance(got[k], expected[k]);
      const bool right = far <= allowed_epsilons(got[k].dtype()) && (options.fast_math || has_bits(got[k], exact[k]));
      wrong += !right;
      out << (right ? "ok    " : "WRONG ") << "%" << names[k] << " " << got[k].dtype() << to_text(got[k].shape())
          << ": compiled and interpreted differ by " << far << (floating ? " epsilon\n" : "\n");
    }
  }
  return wrong;
}

int check_gradient(Graph& graph, const Bindings& sizes, std::ostream& out) {
  const Expr loss(graph, graph.outputs.front());
  std::vector<Expr> wrt;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < graph.inputs.size(); ++k)
    if (is_floating(graph.node(graph.inputs[k]).dtype)) wrt.emplace_back(graph, graph.inputs[k]), places.push_back(k);
  if (!is_floating(loss.dtype()) || loss.rank() != 0 || wrt.empty()) {
    out << "      no gradient checked: the first output is not a float scalar of float inputs\n";
    return 0;
  }
  std::mt19937 generator(2);
  const auto inputs = random_inputs(graph, sizes, 17, generator);
  if (refusal([&] { interpret(graph, {loss.id()}, graph.inputs, inputs); })) {
    out << "      no gradient checked: the graph takes other sizes than those that were tried\n";
    return 0;
  }
  std::vector<NodeId> gradients;
  for (const Expr& each : grad(loss, wrt, Disconnected::zero)) gradients.push_back(each.id());
  const auto slopes = interpret(graph, gradients, graph.inputs, inputs);

  // The cube root of epsilon balances rounding (epsilon / step) and truncation (step^2).
  double step = std::cbrt(epsilon_of(loss.dtype())), expected = 0, scale = 0;
  for (std::size_t k : places) step = std::max(step, std::cbrt(epsilon_of(inputs[k].dtype())));
  std::vector<Array> ahead = inputs, behind = inputs;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Array& x = inputs[places[k]];
    const auto at = values_of(x), direction = values_of(random_array(f64, x.shape(), generator)), slope = values_of(slopes[k]);
    ahead[places[k]] = x.copy();
    behind[places[k]] = x.copy();
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double d = direction[i] - 1;
      Scalar::of(x.dtype(), at[i] + step * d).store(bytes_of(ahead[places[k]], static_cast<Index>(i)));
      Scalar::of(x.dtype(), at[i] - step * d).store(bytes_of(behind[places[k]], static_cast<Index>(i)));
      expected += slope[i] * d;
      scale += std::abs(slope[i] * d);
    }
  }
  auto value = [&](const std::vector<Array>& arrays) { return values_of(interpret(graph, {loss.id()}, graph.inputs, arrays)[0])[0]; };
  const double high = value(ahead), low = value(behind), measured = (high - low) / (2 * step);
  const double magnitude = std::max(std::abs(high), std::abs(low));
  const double allowed = 100 * (step * step * (scale + magnitude) + epsilon_of(loss.dtype()) * magnitude / step);
  const bool right = std::abs(measured - expected) <= allowed;
  out << (right ? "ok    " : "WRONG ") << "gradient along a random direction " << expected << ", by differences " << measured << "\n";
  return !right;
}

}  // namespace weft
