// Compiled functions against the interpreter with the functions of compiled code: every bit.
#pragma once
#include <weft/compiled_math.h>

#include "compiled.h"

// Compiles and calls; returns the function, for what it shows of itself.
inline weft::Function check_bits(const std::vector<weft::Expr>& outputs, const std::vector<weft::Expr>& inputs, const std::vector<weft::Array>& arrays, int threads = 2, int lanes = 0) {
  const weft::Function f = compile(outputs, inputs, {.threads = threads, .lanes = lanes, .verify = true});
  const weft::Graph& graph = f.final_graph();
  const std::vector<weft::Array> results = f(arrays), expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, weft::compiled_math);
  CAPTURE(weft::to_text(arrays[0].shape()));
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
  return f;
}

// Calls it; every result has the bits of the interpreter's.
inline void same_bits(const weft::Function& f, const std::vector<weft::Array>& arrays) {
  const weft::Graph& graph = f.final_graph(arrays);
  const std::vector<weft::Array> results = f(arrays), expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, weft::compiled_math);
  CAPTURE(weft::to_text(arrays[0].shape()));
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
}

// The numbers value(0), value(1), .. in row-major order, converted as a cast does.
template <class Value> weft::Array counted_by(weft::DType dtype, const weft::Dims& shape, const Value& value) {
  weft::Array array(weft::f64, shape);
  for (weft::Index k = 0; k < array.size(); ++k) array.data<double>()[k] = value(k);
  weft::Graph g;
  const weft::Expr x = g.input("x", weft::f64, weft::Shape(shape.begin(), shape.end()));
  return weft::interpret({cast(x, dtype)}, {x}, {array})[0];
}

// Numbers whose sums depend on the order of every addition, and whose products do not run away.
inline weft::Array uneven(weft::DType dtype, const weft::Dims& shape) {
  return counted_by(dtype, shape, [](weft::Index k) { return static_cast<double>(k * 7919 % 1009 - 500) / static_cast<double>(1 + k * 31 % 17); });
}
inline weft::Array near_one(weft::DType dtype, const weft::Dims& shape) {
  return counted_by(dtype, shape, [](weft::Index k) { return 1 + static_cast<double>(k * 7919 % 1009 - 500) / 65536; });
}
