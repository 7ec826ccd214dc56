// weft_math_bench [--csv] [--seconds=0.2] [--filter=NAME]
//
// Nanoseconds per element of every vector function on 16 KiB of f32 and of f64, one thread, and the largest error over these
// elements in ULP: weft (a bound call), the same with Options::fast_math, libmvec, SLEEF (its most accurate variant, and the one of 3.5 ULP) and a loop over libm.
#include "function.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../math/reference.h"

namespace bench {
namespace {

long double rsqrt(long double x) { return 1 / std::sqrt(x); }
constexpr auto sigmoid = weft::math_test::reference_sigmoid<long double>, softplus = weft::math_test::reference_softplus<long double>,
               digamma = weft::math_test::reference_digamma<long double>;

const MathFunction functions[] = {
    {"exp", {-10, 10}},
    {"exp2", {-10, 10}},
    {"expm1", {-5, 5}},
    {"log", {0.01, 100}},
    {"log2", {0.01, 100}},
    {"log10", {0.01, 100}},
    {"log1p", {-0.9, 10}},
    {"sin", {-10, 10}},
    {"cos", {-10, 10}},
    {"tan", {-10, 10}},
    {"asin", {-1, 1}},
    {"acos", {-1, 1}},
    {"atan", {-10, 10}},
    {"sinh", {-5, 5}},
    {"cosh", {-5, 5}},
    {"tanh", {-4, 4}},
    {"asinh", {-10, 10}},
    {"acosh", {1, 10}},
    {"atanh", {-1, 1}},
    {"atan2", {-10, 10}, 2, {-5, 10}},
    {"hypot", {-10, 10}, 2, {-5, 10}},
    {"cbrt", {-100, 100}},
    {"power", {0.1, 10}, 2, {-5, 5}, "pow"},
    {"erf", {-3, 3}},
    {"erfc", {-3, 5}},
    {"lgamma", {0.1, 20}},
    {"rsqrt", {0.01, 100}, 1, {}, "rsqrt", rsqrt},
    {"sigmoid", {-8, 8}, 1, {}, "sigmoid", sigmoid},
    {"softplus", {-8, 8}, 1, {}, "softplus", softplus},
    {"digamma", {0.1, 20}, 1, {}, "digamma", digamma},
};

// Of the functions that both have, on how many weft is faster than the contestant of this column.
struct Score {
  std::string name;
  int faster = 0, both = 0;
};

// Of contestant `mine`: 0 is weft, whose functions promise about one ULP as SLEEF u10 does, 1 those of fast_math, within 4 as libmvec and SLEEF u35.
struct Summary {
  std::size_t mine;
  std::vector<Score> scores{};
  int first = 0, functions = 0;
  double worst_ratio = 0;
  std::string worst{};

  void add(const std::string& function, const std::vector<Contestant>& all) {
    scores.resize(all.size());
    bool fastest = true;
    for (std::size_t k = first_other; k < all.size(); ++k) {
      scores[k].name = all[k].name;
      if (!all[k].run) continue;
      const double ratio = all[mine].nanoseconds / all[k].nanoseconds;
      fastest &= ratio < 1;
      ++scores[k].both;
      scores[k].faster += ratio < 1;
      if (ratio > worst_ratio) worst_ratio = ratio, worst = function + " (" + all[k].name + ")";
    }
    ++functions;
    first += fastest;
  }
  void print(const char* dtype) const {
    std::printf("\n%s: weft%s is faster than", dtype, mine ? " fast" : "");
    for (std::size_t k = first_other; k < scores.size(); ++k) std::printf("%s %s on %d of %d", k == first_other ? "" : ",", scores[k].name.c_str(), scores[k].faster, scores[k].both);
    std::printf("; than all that have the function on %d of %d. Its worst time over the fastest other's: %.2f, %s.\n", first, functions, worst_ratio, worst.c_str());
  }
};

std::string range_text(const MathFunction& function) {
  char text[64];
  std::snprintf(text, sizeof text, "[%g, %g]", function.x.low, function.x.high);
  std::string all = text;
  if (function.arity == 1) return all;
  std::snprintf(text, sizeof text, " x [%g, %g]", function.y.low, function.y.high);
  return all + text;
}

void print_row(const MathFunction& function, const std::vector<Contestant>& all) {
  std::printf("| %s | %s |", function.name, range_text(function).c_str());
  double fastest = INFINITY;
  for (const Contestant& each : all) {
    if (!each.run) {
      std::printf(" - |");
      continue;
    }
    std::printf(" %.2f (%.2f) |", each.nanoseconds, each.ulp);
    if (&each >= &all[first_other]) fastest = std::min(fastest, each.nanoseconds);
  }
  if (std::isinf(fastest)) std::printf(" - |\n");
  else std::printf(" %.2f, %.2f |\n", fastest / all[0].nanoseconds, fastest / all[1].nanoseconds);
}

void print_csv(const char* dtype, const MathFunction& function, const std::vector<Contestant>& all) {
  for (const Contestant& each : all)
    if (each.run) std::printf("%s,%s,%s,%s,%.4f,%.3f\n", function.name, dtype, each.name.c_str(), each.symbol.c_str(), each.nanoseconds, each.ulp);
}

template <class T> void run(const char* dtype, bool csv, double budget, const char* filter) {
  Summary precise{0}, fast{1};
  bool heading = !csv;
  for (const MathFunction& function : functions) {
    if (*filter && std::strcmp(function.name, filter) != 0 && std::strcmp(function.library_name, filter) != 0) continue;
    const auto all = measure<T>(function, budget);
    if (heading) {
      std::printf("| %s | arguments |", dtype);
      for (const Contestant& each : all) std::printf(" %s |", each.name.c_str());
      std::printf(" fastest other/weft, /fast |\n|---|---|---|---|---|---|---|---|---|\n");
      heading = false;
    }
    if (csv) print_csv(dtype, function, all);
    else print_row(function, all);
    std::fflush(stdout);
    precise.add(function.name, all);
    fast.add(function.name, all);
  }
  if (csv || precise.scores.empty()) return;
  precise.print(dtype);
  fast.print(dtype);
  std::printf("\n");
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  bool csv = false;
  double budget = 0.2;
  const char* filter = "";
  for (int k = 1; k < count; ++k) {
    if (std::strcmp(words[k], "--csv") == 0) csv = true;
    if (std::strncmp(words[k], "--seconds=", 10) == 0) budget = std::atof(words[k] + 10);
    if (std::strncmp(words[k], "--filter=", 9) == 0) filter = words[k] + 9;
  }
  if (csv) std::printf("function,dtype,who,symbol,nanoseconds,ulp\n");
  else std::printf("Nanoseconds per element (largest error over the elements, in ULP).\n\n");
  bench::run<float>("f32", csv, budget, filter);
  bench::run<double>("f64", csv, budget, filter);
}
