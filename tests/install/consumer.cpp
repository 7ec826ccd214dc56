// Computes something through the whole stack; prints what install.cmake expects.
#include <cstdio>

#include <weft/weft.h>

int main() {
  weft::Graph g;
  weft::Expr x = g.input("x", weft::f32, {"n"});
  weft::Expr y = sum(x * x, {0});
  weft::Function f = weft::compile({y, weft::grad(y, {x})[0]}, {x});
  std::vector<weft::Array> out = f({weft::Array::from<float>({1, 2, 3})});
  std::printf("%g %g\n", static_cast<double>(out[0].at<float>({})), static_cast<double>(out[1].at<float>({2})));
}
