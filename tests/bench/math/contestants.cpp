#include "function.h"

#include <dlfcn.h>

#include <algorithm>
#include <random>

#include <weft/weft.h>

#include "../../math/reference.h"
#include "../race.h"

namespace bench {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr const char *mvec_width = "e", *sleef_target = "avx512f";
#elif defined(__AVX2__) && defined(__FMA__)
constexpr int vector_bytes = 32;
constexpr const char *mvec_width = "d", *sleef_target = "avx2";
#else
constexpr int vector_bytes = 16;
constexpr const char *mvec_width = nullptr, *sleef_target = nullptr;   // only weft and libm
#endif

template <class T> struct Vector {
  typedef T Type __attribute__((vector_size(vector_bytes)));
  static constexpr int lanes = vector_bytes / sizeof(T);
};

constexpr weft::Index array_bytes = 16 << 10;

template <class T> struct Sample {
  weft::Array x, y, out;
  explicit Sample(const MathFunction& function) : x(array(function.x)), y(array(function.y)), out(array({})) {}

 private:
  static weft::Array array(Range range) {
    weft::Array values(weft::dtype_of<T>(), {array_bytes / static_cast<weft::Index>(sizeof(T))});
    std::mt19937_64 random(3);
    for (weft::Index k = 0; k < values.size(); ++k) values.template data<T>()[k] = static_cast<T>(std::uniform_real_distribution<double>(range.low, range.high)(random));
    return values;
  }
};

void* symbol_in(const char* library, const std::string& symbol) {
  void* const handle = dlopen(library, RTLD_NOW);    // stays open
  return handle ? dlsym(handle, symbol.c_str()) : nullptr;
}

// out[k] = f(x[k], ..), V at a time: one element of libm, a vector of the others.
template <class V, class T> std::function<void()> loop(void* f, int arity, const Sample<T>& sample) {
  if (!f) return nullptr;
  const auto* x = reinterpret_cast<const V*>(sample.x.template data<T>());
  const auto* y = reinterpret_cast<const V*>(sample.y.template data<T>());
  auto* out = reinterpret_cast<V*>(sample.out.template data<T>());
  const auto count = static_cast<std::size_t>(array_bytes) / sizeof(V);
  if (arity == 1) return [=, g = reinterpret_cast<V (*)(V)>(f)] { for (std::size_t k = 0; k < count; ++k) out[k] = g(x[k]); };
  return [=, g = reinterpret_cast<V (*)(V, V)>(f)] { for (std::size_t k = 0; k < count; ++k) out[k] = g(x[k], y[k]); };
}

template <class T> std::function<void()> weft_call(const MathFunction& function, const Sample<T>& sample, bool fast_math) {
  weft::Graph g;
  std::vector<weft::Value> operands;
  std::vector<weft::Expr> inputs;
  for (int k = 0; k < function.arity; ++k) operands.emplace_back(inputs.emplace_back(g.input("x" + std::to_string(k), weft::dtype_of<T>(), {"n"})));
  weft::Options options;
  options.threads = 1;
  options.fast_math = fast_math;
  std::vector<weft::Array> arrays{sample.x};
  if (function.arity == 2) arrays.push_back(sample.y);
  return weft::compile({weft::elementwise(*weft::find_op(function.name), operands)}, inputs, options).bind(arrays, {sample.out});
}

template <class T> std::vector<Contestant> contestants(const MathFunction& function, const Sample<T>& sample) {
  constexpr bool f32 = sizeof(T) == 4;
  const std::string name = function.library_name, scalar = name + (f32 ? "f" : ""), lanes = std::to_string(Vector<T>::lanes);
  std::vector<Contestant> all{{"weft", function.name, weft_call(function, sample, false)}, {"weft fast", function.name, weft_call(function, sample, true)}};
  const auto add = [&]<class V>(V, const char* column, const char* library, const std::vector<std::string>& symbols) {
    all.push_back({column, "", nullptr});
    for (const auto& symbol : symbols)
      if (!all.back().run) all.back().run = loop<V>(symbol_in(library, symbol), function.arity, sample), all.back().symbol = symbol;
  };
  const typename Vector<T>::Type vector{};
  std::vector<std::string> mvec, u10, u35;
  if (mvec_width) {
    const auto sleef = [&](const char* bound) { return "Sleef_" + name + (f32 ? "f" : "d") + lanes + "_" + bound + sleef_target; };
    mvec = {std::string("_ZGV") + mvec_width + "N" + lanes + (function.arity == 1 ? "v_" : "vv_") + scalar};
    u10 = {sleef("u10"), sleef("u05"), sleef("u15")};
    u35 = {sleef("u35")};
  }
  add(vector, "libmvec", "libmvec.so.1", mvec);
  add(vector, "SLEEF u10", "libsleef.so.3", u10);
  add(vector, "SLEEF u35", "libsleef.so.3", u35);
  add(T{}, "libm", "libm.so.6", {scalar});
  return all;
}

// The exact value of every element.
template <class T> std::vector<long double> exact_values(const MathFunction& function, const Sample<T>& sample) {
  void* const library = function.exact ? nullptr : symbol_in("libm.so.6", std::string(function.library_name) + "l");
  const auto unary = function.exact ? function.exact : reinterpret_cast<long double (*)(long double)>(library);
  const auto binary = reinterpret_cast<long double (*)(long double, long double)>(library);
  std::vector<long double> values;
  for (weft::Index k = 0; k < sample.x.size(); ++k) {
    const T x = sample.x.template data<T>()[k], y = sample.y.template data<T>()[k];
    values.push_back(function.arity == 1 ? unary(x) : binary(x, y));
  }
  return values;
}

template <class T> double worst_ulp(const Sample<T>& sample, const std::vector<long double>& exact) {
  double worst = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) worst = std::max(worst, weft::math_test::ulp_error(sample.out.template data<T>()[k], exact[k]));
  return worst;
}

}  // namespace

template <class T> std::vector<Contestant> measure(const MathFunction& function, double budget) {
  const Sample<T> sample(function);
  std::vector<Contestant> all = contestants(function, sample);
  const auto exact = exact_values(function, sample);
  std::vector<std::function<void()>> runs;
  for (Contestant& each : all) {
    if (!each.run) continue;
    runs.push_back(each.run);
    each.run();
    each.ulp = worst_ulp(sample, exact);
  }
  const auto seconds = race(runs, 1, budget, 1e-4);
  auto time = seconds.begin();
  for (Contestant& each : all)
    if (each.run) each.nanoseconds = *time++ * 1e9 / static_cast<double>(sample.x.size());
  return all;
}
template std::vector<Contestant> measure<float>(const MathFunction&, double);
template std::vector<Contestant> measure<double>(const MathFunction&, double);

}  // namespace bench
