#include "kernel.h"

namespace weft::math_test {
namespace {

template <class T> Call bound(const std::string& name, int arity, bool fast_math, std::vector<Array>& arrays) {
  const Op op = *find_op(name == "pow" ? "power" : name);
  Graph g;
  std::vector<Expr> inputs;
  std::vector<Value> values, wide;
  for (int k = 0; k < 2; ++k) arrays.emplace_back(dtype_of<T>(), Dims{block});
  arrays.emplace_back(dtype_of<T>(), Dims{block});
  arrays.emplace_back(f64, Dims{block});
  for (int k = 0; k < arity; ++k) {
    values.emplace_back(inputs.emplace_back(g.input("x" + std::to_string(k), dtype_of<T>(), {"n"})));
    wide.emplace_back(cast(inputs.back(), f64));
  }
  std::vector<Expr> outputs{elementwise(op, values)};
  std::vector<Array> results{arrays[2]};
  if (sizeof(T) == 4) outputs.push_back(elementwise(op, wide)), results.push_back(arrays[3]);
  Options options;
  options.threads = 1;
  options.fast_math = fast_math;
  return compile(outputs, inputs, options).bind({arrays.begin(), arrays.begin() + arity}, results);
}

}  // namespace

template <class T> Kernel<T>::Kernel(const char* name, int arity, bool fast_math) : call_(bound<T>(name, arity, fast_math, arrays_)) {
  x = arrays_[0].template data<T>();
  y = arrays_[1].template data<T>();
  result = arrays_[2].template data<T>();
  wide = arrays_[3].template data<double>();
}
template class Kernel<float>;
template class Kernel<double>;

}  // namespace weft::math_test
