#include "exact.h"
#include "points.h"
#include "scan_detail.h"

#include <cstdio>
#include <cstring>

namespace weft::math_test {
namespace {

constexpr double margin = 0.05;                    // how far long double may be wrong, in ULP of double
constexpr uint64_t host_stride = 16;

// Near its zero digamma cancels, in long double too.
bool is_screened(const UnaryCase& c, double x) { return std::strcmp(c.name, "digamma") != 0 || std::fabs(x - 1.4616321449683623) > 0.4; }
bool is_screened(const BinaryCase&, double, double) { return true; }

// Adds one result y = f(at ..), already compared in long double.
template <class Case, class... At> void confirm(const Case& c, double y, double screened, bool sampled, Worst& worst, Faults& faults, At... at) {
  const bool has_kind = std::isinf(screened) || screened == 0 || !std::isfinite(y);
  if (has_kind) return worst.add(screened, at...);   // kinds were compared; a long double result may be equal to a double
  const bool trusted = is_screened(c, at...);
  if (trusted && !sampled && screened < worst.error - margin) return worst.add(0, at...);
  const double error = mpfr_error(c.name, y, at...);
  if (trusted && error - screened > 0.8 * margin) faults.add(at_text(c.name, at...) + ": long double differs from MPFR");
  worst.add(error, at...);
}

long double exact_of(const UnaryCase& c, double x) { return c.exact64(x); }
long double exact_of(const BinaryCase& c, double x, double y) { return c.exact(x, y); }

// Compiled results in blocks: draw(kernel, k, index, random) sets the arguments at k, and with_arguments(kernel, k, use) hands
// them on.
template <class Case, class Draw, class WithArguments>
Worst scan_points(const Case& c, int arity, Sampling sampling, Faults& faults, const Draw& draw, const WithArguments& with_arguments) {
  const uint64_t sample_stride = std::max<uint64_t>(1, sampling.points / sampling.samples) | 1;
  return over_blocks((sampling.points + block - 1) / block, [&] {
    return [&, kernel = Kernel<double>(c.name, arity, c.fast)](uint64_t number, Worst& worst) mutable {
      Random random(number);
      const uint64_t first = number * block;
      for (uint64_t k = 0; k < block; ++k) draw(kernel, k, first + k, random);
      kernel();
      for (uint64_t k = 0; k < block; ++k)
        with_arguments(kernel, k, [&](auto... at) {
          const double y = kernel.result[k];
          if ((first + k) % host_stride == 0 && !same_bits(c.f64(at...), y)) faults.add(at_text(c.name, at...) + ": the host lane has other bits");
          confirm(c, y, ulp_error(y, exact_of(c, at...)), (first + k) % sample_stride == 0, worst, faults, at...);
        });
    };
  });
}

}  // namespace

Worst scan_doubles(const UnaryCase& c, Sampling sampling, Faults& faults) {
  const auto draw = [&](auto& kernel, uint64_t k, uint64_t index, Random& random) {
    const double x = point(index, random);
    kernel.x[k] = x < c.from ? -x : x;
  };
  return scan_points(c, 1, sampling, faults, draw, [](const auto& kernel, uint64_t k, const auto& use) { use(kernel.x[k]); });
}

Worst scan_double_pairs(const BinaryCase& c, Sampling sampling, Faults& faults) {
  const auto draw = [](auto& kernel, uint64_t k, uint64_t index, Random& random) {
    const auto [x, y] = pair<double>(index, random);
    kernel.x[k] = x, kernel.y[k] = y;
  };
  return scan_points(c, 2, sampling, faults, draw, [](const auto& kernel, uint64_t k, const auto& use) { use(kernel.x[k], kernel.y[k]); });
}

void Faults::add(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (texts_.size() < 10) texts_.push_back(text);
}

std::string at_text(const char* name, double x) {
  char text[80];
  std::snprintf(text, sizeof text, "%s(%a)", name, x);
  return text;
}
std::string at_text(const char* name, double x, double y) {
  char text[80];
  std::snprintf(text, sizeof text, "%s(%a, %a)", name, x, y);
  return text;
}

}  // namespace weft::math_test
