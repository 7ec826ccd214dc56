// Elementwise work beyond what workloads.cpp has.
#include <cmath>

#include "hand.h"
#include "tools.h"

namespace bench {
namespace {

Workload polynomial_f64() {
  const Index size = 1 << 18;
  const Array x = random<double>({size}, -1, 1), out = buffer<double>({size});
  auto graph = [](const Exprs& in) {
    Expr p = 0.9 * in[0] + 0.8;
    for (double c : {0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}) p = p * in[0] + c;
    return Exprs{p};
  };
  return {"polynomial f64 256Ki", compiler({{"n"}}, graph, f64), {x}, {out}, nullptr,
          [=] {
            const auto v = line<double>(x);
            line<double>(out) = ((((((((0.9 * v + 0.8) * v + 0.7) * v + 0.6) * v + 0.5) * v + 0.4) * v + 0.3) * v + 0.2) * v + 0.1);
          }, 1e-13};
}

Workload activations() {
  const Index size = 1 << 20;
  const Array x = random({size}, -4, 4), y = random({size}, -4, 4), out = buffer({size});
  return {"sigmoid(x)*tanh(y)+exp(-x^2) 1Mi", compiler({{"n"}, {"n"}}, [](const Exprs& in) { return Exprs{sigmoid(in[0]) * tanh(in[1]) + exp(-in[0] * in[0])}; }),
          {x, y}, {out}, nullptr, [=] { line(out) = line(x).logistic() * line(y).tanh() + (-line(x).square()).exp(); }};
}

template <class T> Workload black_scholes() {
  const Index size = 1 << 20;
  const Array price = random<T>({size}, 50, 150), strike = random<T>({size}, 50, 150), time = random<T>({size}, 0.25, 2), volatility = random<T>({size}, 0.1, 0.6), out = buffer<T>({size});
  constexpr double rate = 0.03125;
  auto graph = [](const Exprs& in) {
    const Expr deviation = in[3] * sqrt(in[2]), d1 = (log(in[0] / in[1]) + (rate + 0.5 * in[3] * in[3]) * in[2]) / deviation, d2 = d1 - deviation;
    const auto normal = [](const Expr& d) { return 0.5 * (1 + erf(d * std::sqrt(0.5))); };
    return Exprs{in[0] * normal(d1) - in[1] * exp(-rate * in[2]) * normal(d2)};
  };
  // Eigen's erf is not part of its main modules.
  return {sizeof(T) == 4 ? "Black-Scholes 1Mi" : "Black-Scholes f64 1Mi", compiler({{"n"}, {"n"}, {"n"}, {"n"}}, graph, dtype_of<T>), {price, strike, time, volatility}, {out}, nullptr,
          [=] {
            const auto normal = [](T d) { return T(0.5) * std::erfc(-d * std::sqrt(T(0.5))); };
            for (Index i = 0; i < size; ++i) {
              const T s = at<T>(price)[i], k = at<T>(strike)[i], t = at<T>(time)[i], v = at<T>(volatility)[i], deviation = v * std::sqrt(t);
              const T d1 = (std::log(s / k) + (T(rate) + T(0.5) * v * v) * t) / deviation;
              at<T>(out)[i] = s * normal(d1) - k * std::exp(-T(rate) * t) * normal(d1 - deviation);
            }
          }, sizeof(T) == 4 ? 1e-5 : 1e-13};
}

Workload outer() {
  const Array a = random({square_side}, -3, 3), b = random({square_side}, -3, 3), out = buffer({square_side, square_side});
  return {"outer sqrt((a-b)^2+1)", compiler({{"n"}, {"m"}}, [](const Exprs& in) { return Exprs{sqrt(square(expand_dims(in[0], 1) - in[1]) + 1)}; }), {a, b}, {out}, nullptr,
          [=] {
            auto result = matrix(out);
            for (Index i = 0; i < square_side; ++i) result.row(i) = ((at(a)[i] - row_line(b)).square() + 1.0f).sqrt();
          }};
}

// How much a call costs.
Workload call(Index size) {
  const Array x = random({size}), y = random({size}), out = buffer({size});
  return {"axpy " + std::to_string(size), compiler({{"n"}, {"n"}}, [](const Exprs& in) { return Exprs{1.5 * in[0] + in[1]}; }), {x, y}, {out},
          [=](const Team&) { hand::axpy(at(x), at(y), at(out), 0, size, false); }, [=] { line(out) = 1.5f * line(x) + line(y); }};
}

// A chain of `count` ops, each on its predecessor and one of the last few values. All but sums and differences stay in [0, 1].
Workload graph_of(int count) {
  const Index size = 4096;
  const Array x = random({size}, 0, 1), y = random({size}, 0, 1), out = buffer({size});
  auto graph = [count](const Exprs& in) {
    std::minstd_rand generator(7);
    Exprs bounded = in;
    Expr last = in[1];
    for (int k = 0; k < count; ++k) {
      const std::size_t recent = std::min<std::size_t>(bounded.size(), 8);
      const Expr other = generator() % 4 == 0 ? in[generator() % 2] : bounded[bounded.size() - 1 - generator() % recent];
      switch (k % 7) {
        case 0: last = last + other; continue;
        case 1: last = last * 0.5; break;
        case 2: last = last * other; break;
        case 3: last = 1 - last; break;
        case 4: last = maximum(last, other); break;
        case 5: last = last - other; continue;
        case 6: last = abs(last); break;
      }
      bounded.push_back(last);
    }
    return Exprs{last};
  };
  return {"graph of " + std::to_string(count) + " ops", compiler({{"n"}, {"n"}}, graph), {x, y}, {out}, nullptr, nullptr};
}

}  // namespace

std::vector<Entry> elementwise_workloads() {
  return {{"polynomial f64 256Ki", polynomial_f64},
          {"sigmoid(x)*tanh(y)+exp(-x^2) 1Mi", activations},
          {"Black-Scholes 1Mi", black_scholes<float>},
          {"Black-Scholes f64 1Mi", black_scholes<double>},
          {"outer sqrt((a-b)^2+1)", outer},
          {"axpy 16", [] { return call(16); }},
          {"axpy 256", [] { return call(256); }},
          {"graph of 1000 ops", [] { return graph_of(1000); }},
          {"graph of 10000 ops", [] { return graph_of(10000); }}};
}

}  // namespace bench
