// What workloads are made of: arrays, the same arrays as Eigen sees them, and graphs to compile.
#pragma once
#include <random>

#include <Eigen/Core>
#include <weft/memory.h>

#include "workload.h"

namespace bench {

using weft::DType;
using weft::Expr;
using weft::f32;
using weft::f64;
using weft::Graph;
using weft::Options;
using Exprs = std::vector<Expr>;

inline constexpr Index rows = 8192, columns = 1024, square_side = 4096;

template <class T> inline constexpr DType dtype_of = sizeof(T) == 1 ? DType::u8 : sizeof(T) == 4 ? f32 : f64;
template <class T> using LineOf = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T> using RowLineOf = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
template <class T> using RowsOf = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

template <class T = float> Array buffer(const weft::Dims& shape) {
  auto memory = weft::allocate(static_cast<std::size_t>(weft::element_count(shape)) * sizeof(T));
  Array array = Array::borrow(weft::View(memory.get(), dtype_of<T>, shape), memory);
  array.fill(weft::Scalar::of(dtype_of<T>, 0.0));  // pages are there before the clock runs
  return array;
}
template <class T = float> Array random(const weft::Dims& shape, double low = -2, double high = 2) {
  Array array = buffer<T>(shape);
  std::minstd_rand generator(1);
  const double step = (high - low) / static_cast<double>(generator.max());
  for (T* at = array.data<T>(), *end = at + array.size(); at != end; ++at) *at = static_cast<T>(low + step * static_cast<double>(generator()));
  return array;
}
template <class T = float> T* at(const Array& array) { return array.data<T>(); }
template <class T = float> LineOf<T> line(const Array& array) { return {array.data<T>(), array.size()}; }
template <class T = float> RowLineOf<T> row_line(const Array& array) { return {array.data<T>(), array.size()}; }
template <class T = float> RowsOf<T> matrix(const Array& array) { return {array.data<T>(), array.shape()[0], array.shape()[1]}; }

// What to compile: makes the graph's inputs of the given symbolic shapes and calls body(inputs).
template <class Body> auto compiler(std::vector<weft::Shape> shapes, Body body, DType dtype = f32) {
  return [shapes, body, dtype](const Options& options) {
    Graph g;
    Exprs inputs;
    for (const auto& shape : shapes) inputs.push_back(g.input("x" + std::to_string(inputs.size()), dtype, shape));
    return weft::compile(body(inputs), inputs, options);
  };
}

}  // namespace bench
