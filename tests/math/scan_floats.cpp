#include "points.h"
#include "scan_detail.h"

#include <algorithm>
#include <cstring>

namespace weft::math_test {
namespace {

// The error of y against exact as the bits of a double, which order like the errors; those of NaN, the largest, where the kinds
// differ. Means what ulp_error does, without branches, so that a loop of it becomes vector instructions.
inline int64_t error_bits(float y, double exact) {
  constexpr int64_t infinite = 0x7ff0000000000000, least = int64_t{1023 - 126} << 52, most = int64_t{1023 + 127} << 52;
  const auto nearest = static_cast<float>(exact);
  const int64_t size = std::bit_cast<int64_t>(exact) & INT64_MAX, power = size & infinite;
  const int32_t y_bits = std::bit_cast<int32_t>(y), nearest_bits = std::bit_cast<int32_t>(nearest);
  const int32_t y_size = y_bits & INT32_MAX, nearest_size = nearest_bits & INT32_MAX;
  const int64_t wide = std::bit_cast<int64_t>(static_cast<double>(y)), past_largest = int64_t{1023 + 128} << 52;   // infinity stands for it
  const int64_t wide_size = std::min(wide & INT64_MAX, past_largest);
  const double got = std::bit_cast<double>(wide_size | (wide & INT64_MIN));
  const int64_t below = power - ((int64_t{1} << 52) & -static_cast<int64_t>(size == power));
  const int64_t unit = std::min(std::max(below, least), most);
  const double error = (got - exact) * std::bit_cast<double>((int64_t{2046 + 23} << 52) - unit);
  const int64_t both_nan = -static_cast<int64_t>(y_size > 0x7f800000) & -static_cast<int64_t>(size > infinite);
  const int64_t same = -static_cast<int64_t>(y_bits == nearest_bits) & (-static_cast<int64_t>(nearest_size == 0x7f800000) | -static_cast<int64_t>(size == 0));
  const int64_t kinds_differ = -static_cast<int64_t>(size == 0) | -static_cast<int64_t>(size > infinite) | -static_cast<int64_t>(y_size > 0x7f800000);
  return ((std::bit_cast<int64_t>(error) & INT64_MAX) | (kinds_differ & INT64_MAX)) & ~(both_nan | same);
}

class FloatBlocks {
 public:
  FloatBlocks(const char* name, int arity, bool fast_math, double from = -INFINITY) : kernel(name, arity, fast_math), from_(static_cast<float>(from)) {}
  Kernel<float> kernel;

  // Computes, and adds the largest error of arguments from `from` on.
  void run(Worst& worst) {
    kernel();
    const int64_t largest = find_errors(kernel.x, kernel.result, kernel.wide);
    worst.count += block;
    if (!(std::bit_cast<double>(largest) <= worst.error)) add(worst, std::find(errors_, errors_ + block, largest) - errors_);
  }

 private:
  int64_t find_errors(const float* x, const float* y, const double* exact) {
    int64_t largest = 0;
    for (Index k = 0; k < block; ++k) {
      const int64_t error = error_bits(y[k], exact[k]) & ~-static_cast<int64_t>(x[k] < from_);
      errors_[k] = error;
      largest = error > largest ? error : largest;
    }
    return largest;
  }
  void add(Worst& worst, Index k) {
    const double error = std::bit_cast<double>(errors_[k]);
    worst.add(std::isnan(error) ? INFINITY : error, kernel.x[k], kernel.y[k]);
  }
  float from_;
  int64_t errors_[block];
};

constexpr Index check_stride = 61;
constexpr double allowed_disagreement = 1e-3;      // between references in double, in ULP of float

void check(const UnaryCase& c, const Kernel<float>& kernel, Index k, Worst& worst, Faults& faults) {
  const float x = kernel.x[k], y = kernel.result[k];
  if (!same_bits(c.f32(x), y)) faults.add(at_text(c.name, x) + ": the host lane has other bits");
  if (x < c.from) return;
  const double error = ulp_error(y, c.exact32(x));
  if (std::fabs(error - ulp_error(y, kernel.wide[k])) > allowed_disagreement) faults.add(at_text(c.name, x) + ": the function of double differs from libm");
  worst.add(error, x);
}

void check(const BinaryCase& c, const Kernel<float>& kernel, Index k, Worst& worst, Faults& faults) {
  const float x = kernel.x[k], y = kernel.y[k], z = kernel.result[k];
  if (!same_bits(c.f32(x, y), z)) faults.add(at_text(c.name, x, y) + ": the host lane has other bits");
  const double error = ulp_error(z, c.exact(x, y));
  if (std::fabs(error - ulp_error(z, kernel.wide[k])) > allowed_disagreement) faults.add(at_text(c.name, x, y) + ": the function of double differs from libm");
  worst.add(error, x, y);
}

// The floats of bits first * stride, (first + 1) * stride, ..
void fill(float* x, uint64_t first, uint64_t stride) {
  uint32_t bits[block];
  for (Index k = 0; k < block; ++k) bits[k] = static_cast<uint32_t>(first * stride) + static_cast<uint32_t>(k) * static_cast<uint32_t>(stride);
  std::memcpy(x, bits, sizeof bits);
}

}  // namespace

Worst scan_floats(const UnaryCase& c, uint64_t stride, Faults& faults) {
  static const std::vector<float> special = special_floats();
  const uint64_t count = ((uint64_t{1} << 32) + stride - 1) / stride, blocks = (count + block - 1) / block;
  return over_blocks(blocks + 1, [&] {
    return [&, unit = FloatBlocks(c.name, 1, c.fast, c.from)](uint64_t number, Worst& worst) mutable {
      const bool specials = number == blocks;
      if (specials) std::copy_n(special.begin(), block, unit.kernel.x);
      else fill(unit.kernel.x, number * block, stride);
      unit.run(worst);
      const Index step = specials ? 1 : check_stride;
      for (Index k = static_cast<Index>(number) % step; k < block; k += step) check(c, unit.kernel, k, worst, faults);
    };
  });
}

Worst scan_float_pairs(const BinaryCase& c, uint64_t pairs, Faults& faults) {
  return over_blocks((pairs + block - 1) / block, [&] {
    return [&, unit = FloatBlocks(c.name, 2, c.fast)](uint64_t number, Worst& worst) mutable {
      Random random(number);
      for (Index k = 0; k < block; ++k) {
        const auto [x, y] = pair<float>(static_cast<uint64_t>(k), random);
        unit.kernel.x[k] = x, unit.kernel.y[k] = y;
      }
      unit.run(worst);
      for (Index k = static_cast<Index>(number) % check_stride; k < block; k += check_stride) check(c, unit.kernel, k, worst, faults);
    };
  });
}

}  // namespace weft::math_test
