#include "points.h"
#include "scan_detail.h"

namespace weft::math_test {
namespace {

// The error of y against exact as the bits of a double, which order like the errors; NaN, the largest, where the kinds differ. Means
// what ulp_error does, in a form that becomes vector instructions.
int64_t error_bits(float y, double exact) {
  const auto nearest = static_cast<float>(exact);
  const bool equal = std::bit_cast<int32_t>(nearest) == std::bit_cast<int32_t>(y);
  const bool exempt = (std::fabs(nearest) == INFINITY && equal) || (exact != exact && y != y) || (exact == 0 && equal);
  const double got = std::min(std::max<double>(y, -0x1p128), 0x1p128);
  constexpr int64_t exponent = 0x7ff0000000000000, least = int64_t{1023 - 126} << 52, most = int64_t{1023 + 127} << 52;
  const int64_t power = std::min(std::max(std::bit_cast<int64_t>(exact) & exponent, least), most);
  const double per_unit = std::bit_cast<double>((int64_t{2046 + 23} << 52) - power);
  const double error = std::fabs(got - exact) * per_unit;
  const bool wrong = (exact == 0) | (exact != exact) | (y != y);
  return exempt ? 0 : wrong ? int64_t{0x7ff8000000000000} : std::bit_cast<int64_t>(error) & INT64_MAX;
}

class FloatBlocks {
 public:
  FloatBlocks(const char* name, int arity) : kernel(name, arity) {}
  Kernel<float> kernel;

  // Computes, and adds the largest error; wanted(x) says where the limits hold.
  template <class Wanted> void run(Worst& worst, const Wanted& wanted) {
    kernel();
    int64_t largest = 0;
    for (Index k = 0; k < block; ++k) {
      errors_[k] = wanted(kernel.x[k]) ? error_bits(kernel.result[k], kernel.wide[k]) : 0;
      largest = std::max(largest, errors_[k]);
    }
    worst.count += block;
    if (!(std::bit_cast<double>(largest) <= worst.error))
      for (Index k = 0; k < block; ++k)
        if (errors_[k] == largest) return add(worst, k);
  }

 private:
  void add(Worst& worst, Index k) {
    const double error = std::bit_cast<double>(errors_[k]);
    worst.add(std::isnan(error) ? INFINITY : error, kernel.x[k], kernel.y[k]);
  }
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

}  // namespace

Worst scan_floats(const UnaryCase& c, uint64_t stride, Faults& faults) {
  static const std::vector<float> special = special_floats();
  const uint64_t count = ((uint64_t{1} << 32) + stride - 1) / stride, blocks = (count + block - 1) / block;
  return over_blocks(blocks + 1, [&] {
    return [&, unit = FloatBlocks(c.name, 1)](uint64_t number, Worst& worst) mutable {
      const bool specials = number == blocks;
      for (Index k = 0; k < block; ++k)
        unit.kernel.x[k] = specials ? special[static_cast<std::size_t>(k) % special.size()] : std::bit_cast<float>(static_cast<uint32_t>((number * block + static_cast<uint64_t>(k)) * stride));
      unit.run(worst, [from = static_cast<float>(c.from)](float x) { return !(x < from); });
      const Index step = specials ? 1 : check_stride;
      for (Index k = static_cast<Index>(number) % step; k < block; k += step) check(c, unit.kernel, k, worst, faults);
    };
  });
}

Worst scan_float_pairs(const BinaryCase& c, uint64_t pairs, Faults& faults) {
  return over_blocks((pairs + block - 1) / block, [&] {
    return [&, unit = FloatBlocks(c.name, 2)](uint64_t number, Worst& worst) mutable {
      Random random(number);
      for (Index k = 0; k < block; ++k) {
        const auto [x, y] = pair<float>(static_cast<uint64_t>(k), random);
        unit.kernel.x[k] = x, unit.kernel.y[k] = y;
      }
      unit.run(worst, [](float) { return true; });
      for (Index k = static_cast<Index>(number) % check_stride; k < block; k += check_stride) check(c, unit.kernel, k, worst, faults);
    };
  });
}

}  // namespace weft::math_test
