#include "products.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <weft/weft.h>

#include "race.h"

namespace bench {
namespace {

using namespace weft;

template <class T> using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T> using View = Eigen::Map<Matrix<T>>;

// Which operand is given by columns.
enum class Form { plain, second_transposed, first_transposed };
struct Size {
  Index rows, sums, columns;
};

Expr product(const Expr& x, const Expr& y, Form form) {
  if (form == Form::plain) return sum(expand_dims(x, 2) * y, 1);
  if (form == Form::second_transposed) return sum(expand_dims(x, 1) * y, 2);
  return sum(expand_dims(x, 2) * expand_dims(y, 1), 0);
}

template <class T> Array numbers(DType dtype, const Dims& shape) {
  Array array(dtype, shape);
  for (Index k = 0; k < array.size(); ++k) array.data<T>()[k] = static_cast<T>(k * 7919 % 1009 - 504) / T(512);
  return array;
}

template <class T> View<T> view(const Array& array) { return View<T>(const_cast<T*>(array.data<T>()), array.shape()[0], array.shape()[1]); }

// The same by both; relu(product + bias) if asked for.
template <class T> bool compare(const std::string& name, DType dtype, Form form, const Size& size, bool with_relu, bool csv, const Options& options) {
  const Dims first = form == Form::first_transposed ? Dims{size.sums, size.rows} : Dims{size.rows, size.sums};
  const Dims second = form == Form::second_transposed ? Dims{size.columns, size.sums} : Dims{size.sums, size.columns};
  const Array a = numbers<T>(dtype, first), b = numbers<T>(dtype, second), bias = numbers<T>(dtype, {1, size.columns}), out(dtype, {size.rows, size.columns}), eigens(dtype, out.shape());
  Graph g;
  const Expr x = g.input("x", dtype, Shape(first.begin(), first.end())), y = g.input("y", dtype, Shape(second.begin(), second.end())), z = g.input("z", dtype, {1, size.columns});
  const Expr sums = product(x, y, form);
  const Call call = weft::compile({with_relu ? relu(sums + z) : sums}, {x, y, z}, options).bind({a, b, bias}, {out});
  const auto eigen = [&] {
    auto to = view<T>(eigens);
    if (form == Form::plain) to.noalias() = view<T>(a) * view<T>(b);
    else if (form == Form::second_transposed) to.noalias() = view<T>(a) * view<T>(b).transpose();
    else to.noalias() = view<T>(a).transpose() * view<T>(b);
    if (with_relu) to = (to.rowwise() + view<T>(bias).row(0)).cwiseMax(T(0));
  };
  const auto times = race({[&] { call(); }, eigen}, options.threads, 0.2);
  const double flops = 2.0 * static_cast<double>(size.rows) * static_cast<double>(size.sums) * static_cast<double>(size.columns);
  if (csv) std::printf("%s,%d,%.5g,%.5g,%.4g\n", name.c_str(), options.threads, flops / times[0] * 1e-9, flops / times[1] * 1e-9, times[1] / times[0]);
  else std::printf("| %s | %.1f | %.1f | %.2f |\n", name.c_str(), flops / times[0] * 1e-9, flops / times[1] * 1e-9, times[1] / times[0]);
  std::fflush(stdout);
  const auto largest = [](const auto& all) { return static_cast<double>(all.cwiseAbs().maxCoeff()); };
  const double allowed = static_cast<double>(Eigen::NumTraits<T>::epsilon()) * static_cast<double>(size.sums) * largest(view<T>(eigens)), apart = largest(view<T>(out) - view<T>(eigens));
  if (apart <= allowed) return true;
  std::fprintf(stderr, "%s differs from Eigen by %g, allowed %g\n", name.c_str(), apart, allowed);
  return false;
}

}  // namespace

int products(std::string_view filter, bool csv, const Options& options) {
  const std::vector<Size> sizes{{64, 64, 64}, {256, 256, 256}, {1024, 1024, 1024}, {32, 512, 512}, {1000, 784, 100}, {10000, 64, 10}, {256, 10000, 128}};
  const std::pair<Form, const char*> forms[] = {{Form::plain, "x y"}, {Form::second_transposed, "x y^T"}, {Form::first_transposed, "x^T y"}};
  bool right = true;
  std::printf(csv ? "product,threads,gflops,eigen_gflops,ratio\n" : "| product | GFLOP/s | Eigen, one thread | ratio |\n|---|---|---|---|\n");
  const auto one = [&](const std::string& name, Form form, const Size& size, bool with_relu, bool is_f64) {
    if (name.find(filter) == std::string::npos) return;
    right &= is_f64 ? compare<double>(name, f64, form, size, with_relu, csv, options) : compare<float>(name, f32, form, size, with_relu, csv, options);
  };
  for (const auto& [form, text] : forms)
    for (const Size& size : sizes) one(concat(text, " ", size.rows, " x ", size.sums, " x ", size.columns), form, size, false, false);
  one("relu(x y + z) 256 x 784 x 128", Form::plain, {256, 784, 128}, true, false);
  one("f64 x y 256 x 256 x 256", Form::plain, {256, 256, 256}, false, true);
  one("f64 x y^T 256 x 256 x 256", Form::second_transposed, {256, 256, 256}, false, true);
  return right ? 0 : 1;
}

}  // namespace bench
