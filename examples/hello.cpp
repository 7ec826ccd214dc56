// A loss and its gradient, compiled into one loop nest; then every level of that as text.
#include <iostream>

#include <weft/weft.h>

int main() {
  weft::Graph g("hello");
  auto x = g.input("x", weft::f32, {"n", "m"});
  auto w = g.input("w", weft::f32, {"m"});
  auto y = g.input("y", weft::f32, {"n"});
  auto loss = sum(square(sum(x * w, 1) - y));
  auto gradient = grad(loss, {w})[0];

  auto f = weft::compile({loss, gradient}, {x, w, y});
  auto out = f({weft::Array::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}), weft::Array::from<float>({1, 0, -1}),
                weft::Array::from<float>({0, 1})});

  const auto values = out[1].to_vector<float>();
  std::cout << "loss " << out[0].at<float>({}) << ", gradient " << values[0] << " " << values[1] << " " << values[2] << "\n\n"
            << f.graph() << "\n" << f.schedule() << "\n" << f.program();
  return out[0].at<float>({}) == 13 && values == std::vector<float>{-28, -38, -48} ? 0 : 1;
}
