#include "evaluate.h"

#include <cstring>
#include <exception>

#include "compare.h"
#include "views.h"

namespace conformance {
namespace {

weft::Shape as_shape(const Dims& dims) { return {dims.begin(), dims.end()}; }

// The results of `action`, or the Error it throws.
struct Attempt {
  std::vector<Array> results;
  std::optional<weft::Error> error;
};
template <class Action> Attempt attempt(const Action& action) {
  Attempt result;
  try {
    result.results = action();
  } catch (const weft::Error& error) {
    result.error = error;
  }
  return result;
}

std::vector<Array> run_compiled(const Operands& operands, const std::vector<Expr>& outputs, const std::vector<Array>& like, int threads,
                                const std::vector<std::string>& layouts) {
  const weft::Function function = weft::compile(outputs, operands.exprs, run_options(threads, true));
  if (layouts.empty()) return function(operands.arrays);
  std::vector<Array> results;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string layout = k < layouts.size() ? layouts[k] : "C";
    results.push_back(with_layout(Array(outputs[k].dtype(), like[k].shape()), layout));
  }
  function.run(operands.arrays, results);
  return results;
}

bool same_bits(const Array& a, const Array& b) {
  const Array left = a.copy(), right = b.copy();
  return left.shape() == right.shape() && left.dtype() == right.dtype() &&
         (left.size() == 0 || std::memcmp(left.View::data(), right.View::data(), static_cast<std::size_t>(left.size()) * weft::size_of(left.dtype())) == 0);
}

// Between libm and the vector functions: some units in the last place, grown by what follows.
double accuracy(DType dtype) {
  switch (dtype) {
    case weft::f64: return 1e-13;
    case weft::f32: return 1e-5;
    default: return default_tolerance(dtype);
  }
}

std::optional<std::string> first_difference(const std::vector<Array>& interpreted, const std::vector<Array>& compiled) {
  for (std::size_t k = 0; k < compiled.size(); ++k) {
    if (const auto verdict = compare(interpreted[k], compiled[k], accuracy(compiled[k].dtype()))) return "output " + std::to_string(k) + ": " + *verdict;
  }
  return std::nullopt;
}

Index largest(const std::vector<Array>& arrays) {
  Index size = 0;
  for (const Array& array : arrays) size = std::max(size, array.size());
  return size;
}

}  // namespace

weft::Options run_options(int threads, bool verify) {
  weft::Options options;
  options.threads = threads;
  options.verify = verify;
  return options;
}

Operands::Operands(const Case& test) {
  const Json layouts = test.has("input_layouts") ? test.attrs["input_layouts"] : Json::array();
  for (std::size_t k = 0; k < test.inputs.size(); ++k) {
    Array array = apply_views(test, k, read_array(test.inputs[k]));
    if (k < layouts.size() && layouts[k].is_string()) array = with_layout(array, layouts[k].get<std::string>());
    add(test.inputs[k].name, array);
  }
}

Expr Operands::add(const std::string& name, const Array& array) {
  names.push_back(name);
  arrays.push_back(array);
  exprs.push_back(graph.input(name, array.dtype(), as_shape(array.shape())));
  return exprs.back();
}

Expr Operands::operator[](std::size_t k) const {
  if (k >= exprs.size()) throw BadCase("needs " + std::to_string(k + 1) + " inputs, has " + std::to_string(exprs.size()));
  return exprs[k];
}

const Expr& Operands::named(const std::string& name) const {
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) return exprs[k];
  }
  throw BadCase("no input is named '" + name + "'");
}

std::vector<Array> evaluate(const Operands& operands, const std::vector<Expr>& outputs, const std::vector<std::string>& output_layouts) {
  const Attempt interpreted = attempt([&] { return weft::interpret(outputs, operands.exprs, operands.arrays); });
  const Attempt compiled = attempt([&] { return run_compiled(operands, outputs, interpreted.results, 1, interpreted.error ? std::vector<std::string>() : output_layouts); });
  if (interpreted.error && compiled.error) throw *interpreted.error;
  if (interpreted.error) throw Failure("the interpreter refuses what compiled code computes: " + std::string(interpreted.error->what()));
  if (compiled.error) throw Failure("compiled code refuses what the interpreter computes: " + std::string(compiled.error->what()));
  if (first_difference(interpreted.results, compiled.results)) {
    // Passes may write a formula in a better conditioned way (log(1 - x) as log1p(-x)): the oracle then runs what the loops compute.
    const weft::Function function = weft::compile(outputs, operands.exprs, run_options(1));
    const Graph& graph = function.final_graph(operands.arrays);
    const auto verdict = first_difference(weft::interpret(graph, graph.outputs, graph.inputs, operands.arrays), compiled.results);
    if (verdict) throw Failure("interpreted against compiled, " + *verdict);
  }
  if (std::max(largest(compiled.results), largest(operands.arrays)) > 1000) {
    const std::vector<Array> threaded = run_compiled(operands, outputs, interpreted.results, 2, output_layouts);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!same_bits(compiled.results[k], threaded[k])) throw Failure("two threads give other bits than one in output " + std::to_string(k));
    }
  }
  return compiled.results;
}

}  // namespace conformance
