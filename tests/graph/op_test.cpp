#include <weft/op.h>

#include <cmath>
#include <doctest/doctest.h>
#include <error_text.h>
#include <half_cases.h>
#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace weft;

namespace {

constexpr double inf = HUGE_VAL;
const double nan_value = std::nan("");

template <class T> Scalar value(Op op, std::vector<T> operands) {
  std::vector<Scalar> scalars;
  std::vector<DType> dtypes;
  for (T operand : operands) scalars.push_back(Scalar(operand)), dtypes.push_back(dtype_of<T>());
  const auto result = result_dtype(op, dtypes, f64);
  REQUIRE(result.has_value());
  return evaluate(op, scalars, *result);
}
double real(Op op, std::vector<double> operands) { return value(op, operands).as_double(); }
template <class T> std::int64_t whole(Op op, std::vector<T> operands) { return value(op, operands).integer(); }
bool is_plus_zero(double x) { return x == 0 && !std::signbit(x); }
bool is_minus_zero(double x) { return x == 0 && std::signbit(x); }

}  // namespace

TEST_CASE("the table lists every op once, in enum order") {
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < op_table().size(); ++k) {
    const OpInfo& row = op_table()[k];
    CHECK(static_cast<std::size_t>(row.op) == k);
    CHECK(names.insert(row.name).second);
    CHECK(find_op(row.name) == row.op);
    CHECK((row.arity >= 1 && row.arity <= 3));
  }
  CHECK_FALSE(find_op("no_such_op").has_value());
}

TEST_CASE("the rules say which dtypes an op takes and gives") {
  const auto result = [](Op op, std::vector<DType> operands, DType requested = f64) { return result_dtype(op, operands, requested); };
  CHECK(result(Op::add, {f32, f32}) == f32);
  CHECK_FALSE(result(Op::add, {f32, f64}).has_value());
  CHECK_FALSE(result(Op::add, {bool_, bool_}).has_value());
  CHECK_FALSE(result(Op::add, {f32}).has_value());
  CHECK(result(Op::copy, {bool_}) == bool_);
  CHECK_FALSE(result(Op::exp, {i32}).has_value());
  CHECK(result(Op::less, {u8, u8}) == bool_);
  CHECK(result(Op::isnan, {i32}) == bool_);
  CHECK_FALSE(result(Op::logical_not, {i32}).has_value());
  CHECK(result(Op::bitwise_and, {bool_, bool_}) == bool_);
  CHECK_FALSE(result(Op::bitwise_and, {f32, f32}).has_value());
  CHECK(result(Op::where, {bool_, i8, i8}) == i8);
  CHECK_FALSE(result(Op::where, {i8, i8, i8}).has_value());
  CHECK_FALSE(result(Op::where, {bool_, i8, f32}).has_value());
  CHECK(result(Op::cast, {bool_}, f16) == f16);
}

TEST_CASE("every op has a value on every dtype that its rule admits") {
  for (const OpInfo& row : op_table())
    for (int k = 0; k <= static_cast<int>(f64); ++k) {
      const DType dtype = static_cast<DType>(k);
      std::vector<DType> dtypes(static_cast<std::size_t>(row.arity), dtype);
      std::vector<Scalar> operands(dtypes.size(), Scalar::of(dtype, 1));
      if (row.rule == DTypeRule::select) dtypes[0] = bool_, operands[0] = Scalar(true);
      const auto result = result_dtype(row.op, dtypes, dtype);
      if (!result) continue;
      CAPTURE(row.name);
      CHECK(evaluate(row.op, operands, *result).dtype() == *result);
    }
  CHECK(error_text([] { op_loop(Op::exp, i32, i32); }) == "dtype: exp: no such operation on i32");
  CHECK(error_text([] { evaluate(Op::add, std::vector<Scalar>{Scalar(1.0)}, f64); }) == "usage: add: expected 2 operands, got 1");
}

TEST_CASE("integers wrap") {
  CHECK(whole<std::int8_t>(Op::add, {127, 1}) == -128);
  CHECK(whole<std::int8_t>(Op::multiply, {-128, -1}) == -128);
  CHECK(whole<std::int8_t>(Op::negative, {-128}) == -128);
  CHECK(whole<std::int8_t>(Op::abs, {-128}) == -128);
  CHECK(whole<std::uint16_t>(Op::multiply, {65535, 65535}) == 1);
  CHECK(whole<std::uint8_t>(Op::subtract, {0, 1}) == 255);
  CHECK(whole<std::int64_t>(Op::add, {INT64_MAX, 1}) == INT64_MIN);
  CHECK(whole<std::int64_t>(Op::square, {std::int64_t{1} << 32}) == 0);
  CHECK(whole<std::int32_t>(Op::fma, {1 << 16, 1 << 16, 5}) == 5);
  CHECK(whole<std::uint8_t>(Op::negative, {1}) == 255);
}

TEST_CASE("integer division follows the divisor's sign and never traps") {
  const std::int32_t cases[][4] = {{7, 2, 3, 1},   {-7, 2, -4, 1},  {7, -2, -4, -1}, {-7, -2, 3, -1}, {6, 3, 2, 0},
                                   {-6, 3, -2, 0}, {5, 0, 0, 0},    {-5, 0, 0, 0},   {INT32_MIN, -1, INT32_MIN, 0}};
  for (const auto& c : cases) {
    CHECK(whole<std::int32_t>(Op::floor_divide, {c[0], c[1]}) == c[2]);
    CHECK(whole<std::int32_t>(Op::remainder, {c[0], c[1]}) == c[3]);
  }
  CHECK(whole<std::int8_t>(Op::floor_divide, {-128, -1}) == -128);
  CHECK(whole<std::uint8_t>(Op::floor_divide, {200, 7}) == 28);
  CHECK(whole<std::uint8_t>(Op::remainder, {200, 7}) == 4);
  CHECK(whole<std::int64_t>(Op::floor_divide, {INT64_MIN, -1}) == INT64_MIN);
}

TEST_CASE("integer power squares and wraps; negative exponents give 0, 1 or -1") {
  CHECK(whole<std::int32_t>(Op::power, {3, 4}) == 81);
  CHECK(whole<std::int32_t>(Op::power, {-2, 3}) == -8);
  CHECK(whole<std::int32_t>(Op::power, {0, 0}) == 1);
  CHECK(whole<std::int32_t>(Op::power, {2, 32}) == 0);
  CHECK(whole<std::int32_t>(Op::power, {2, -1}) == 0);
  CHECK(whole<std::int32_t>(Op::power, {0, -1}) == 0);
  CHECK(whole<std::int32_t>(Op::power, {1, -5}) == 1);
  CHECK(whole<std::int32_t>(Op::power, {-1, -5}) == -1);
  CHECK(whole<std::int32_t>(Op::power, {-1, -4}) == 1);
  CHECK(whole<std::uint8_t>(Op::power, {3, 255}) == 171);
}

TEST_CASE("shifts by the width, more, or a negative amount give 0 or the sign") {
  CHECK(whole<std::int32_t>(Op::bitwise_left_shift, {1, 31}) == INT32_MIN);
  CHECK(whole<std::int32_t>(Op::bitwise_left_shift, {1, 32}) == 0);
  CHECK(whole<std::int32_t>(Op::bitwise_left_shift, {1, -1}) == 0);
  CHECK(whole<std::int32_t>(Op::bitwise_right_shift, {-8, 1}) == -4);
  CHECK(whole<std::int32_t>(Op::bitwise_right_shift, {-8, 32}) == -1);
  CHECK(whole<std::int32_t>(Op::bitwise_right_shift, {8, 32}) == 0);
  CHECK(whole<std::uint8_t>(Op::bitwise_right_shift, {255, 8}) == 0);
  CHECK(whole<std::uint64_t>(Op::bitwise_left_shift, {1, 64}) == 0);
  CHECK(whole<std::int8_t>(Op::bitwise_left_shift, {-1, 7}) == -128);
  CHECK(whole<bool>(Op::bitwise_left_shift, {true, false}) == 1);
  CHECK(whole<bool>(Op::bitwise_left_shift, {true, true}) == 0);
}

TEST_CASE("bits and logic") {
  CHECK(whole<std::int8_t>(Op::bitwise_invert, {5}) == -6);
  CHECK(whole<std::uint8_t>(Op::bitwise_invert, {5}) == 250);
  CHECK(whole<bool>(Op::bitwise_invert, {true}) == 0);
  CHECK(whole<bool>(Op::logical_not, {false}) == 1);
  CHECK(whole<bool>(Op::logical_xor, {true, true}) == 0);
  CHECK(whole<bool>(Op::logical_and, {true, false}) == 0);
  CHECK(whole<bool>(Op::logical_or, {true, false}) == 1);
  CHECK(whole<bool>(Op::less, {false, true}) == 1);
}

TEST_CASE("float division by the floor follows Python and the Array API") {
  CHECK(real(Op::floor_divide, {7, 2}) == 3);
  CHECK(real(Op::floor_divide, {-7, 2}) == -4);
  CHECK(real(Op::floor_divide, {1, 0.1}) == 9);   // the exact quotient is below 10
  CHECK(real(Op::remainder, {-7, 2}) == 1);
  CHECK(real(Op::remainder, {7, -2}) == -1);
  CHECK(real(Op::remainder, {1, inf}) == 1);
  CHECK(real(Op::remainder, {-1, inf}) == inf);
  CHECK(std::isnan(real(Op::remainder, {1, 0})));
  CHECK(std::isnan(real(Op::remainder, {inf, 1})));
  CHECK(real(Op::floor_divide, {1, 0}) == inf);
  CHECK(real(Op::floor_divide, {-inf, -1}) == inf);
  CHECK(std::isnan(real(Op::floor_divide, {inf, inf})));
  CHECK(std::isnan(real(Op::floor_divide, {0, 0})));
  CHECK(is_minus_zero(real(Op::floor_divide, {-1, inf})));
  CHECK(is_minus_zero(real(Op::remainder, {6, -2})));
  CHECK(is_plus_zero(real(Op::remainder, {-6, 2})));
}

TEST_CASE("max and min propagate NaN and order the zeros") {
  CHECK(std::isnan(real(Op::maximum, {nan_value, 1})));
  CHECK(std::isnan(real(Op::maximum, {1, nan_value})));
  CHECK(std::isnan(real(Op::minimum, {inf, nan_value})));
  CHECK(is_plus_zero(real(Op::maximum, {-0.0, 0.0})));
  CHECK(is_plus_zero(real(Op::maximum, {0.0, -0.0})));
  CHECK(is_minus_zero(real(Op::minimum, {-0.0, 0.0})));
  CHECK(is_minus_zero(real(Op::minimum, {0.0, -0.0})));
  CHECK(is_minus_zero(real(Op::maximum, {-0.0, -0.0})));
  CHECK(is_plus_zero(real(Op::relu, {-0.0})));
  CHECK(std::isnan(real(Op::clip, {nan_value, 0, 1})));
  CHECK(real(Op::clip, {5, 0, 1}) == 1);
}

TEST_CASE("truncated division follows the dividend's sign and never traps") {
  const std::int32_t cases[][4] = {{7, 2, 3, 1},   {-7, 2, -3, -1}, {7, -2, -3, 1}, {-7, -2, 3, -1}, {6, 3, 2, 0},
                                   {-6, 3, -2, 0}, {5, 0, 0, 0},    {-5, 0, 0, 0},  {INT32_MIN, -1, INT32_MIN, 0}};
  for (const auto& c : cases) {
    CHECK(whole<std::int32_t>(Op::truncated_divide, {c[0], c[1]}) == c[2]);
    CHECK(whole<std::int32_t>(Op::fmod, {c[0], c[1]}) == c[3]);
  }
  CHECK(whole<std::int8_t>(Op::truncated_divide, {-128, -1}) == -128);
  CHECK(whole<std::uint8_t>(Op::fmod, {200, 7}) == 4);
  CHECK(real(Op::truncated_divide, {-7, 2}) == -3);
  CHECK(real(Op::truncated_divide, {1, 0.1}) == 9);   // the exact quotient is below 10
  CHECK(real(Op::truncated_divide, {1, 0}) == inf);
  CHECK(real(Op::truncated_divide, {1e300, 1e-300}) == inf);
  CHECK(is_minus_zero(real(Op::truncated_divide, {-1, 2})));
  CHECK(is_minus_zero(real(Op::truncated_divide, {-1, inf})));
  CHECK(std::isnan(real(Op::truncated_divide, {0, 0})));
  CHECK(real(Op::fmod, {-7, 2}) == -1);
  CHECK(real(Op::fmod, {7, -2}) == 1);
  CHECK(is_minus_zero(real(Op::fmod, {-6, 2})));
  CHECK(real(Op::fmod, {-1, inf}) == -1);
  CHECK(std::isnan(real(Op::fmod, {1, 0})));
}

TEST_CASE("fmax and fmin ignore NaN and order the zeros") {
  CHECK(real(Op::fmax, {nan_value, 1}) == 1);
  CHECK(real(Op::fmin, {1, nan_value}) == 1);
  CHECK(real(Op::fmax, {nan_value, -inf}) == -inf);
  CHECK(std::isnan(real(Op::fmax, {nan_value, nan_value})));
  CHECK(is_plus_zero(real(Op::fmax, {-0.0, 0.0})));
  CHECK(is_minus_zero(real(Op::fmin, {0.0, -0.0})));
  CHECK(whole<std::int32_t>(Op::fmax, {-3, 2}) == 2);
  CHECK(std::isnan(real(Op::clip_min, {nan_value, 0})));
  CHECK(real(Op::clip_min, {-1, 0}) == 0);
  CHECK(real(Op::clip_max, {-1, 0}) == -1);
}

TEST_CASE("nextafter steps in the operands' own dtype") {
  CHECK(real(Op::nextafter, {1, 2}) == 1 + 0x1p-52);
  CHECK(real(Op::nextafter, {0, -1}) == -0x1p-1074);
  CHECK(is_minus_zero(real(Op::nextafter, {0, -0.0})));
  CHECK(real(Op::nextafter, {inf, 0}) == 0x1.fffffffffffffp1023);
  CHECK(std::isnan(real(Op::nextafter, {nan_value, 1})));
  CHECK(value<float>(Op::nextafter, {1.0f, 0.0f}).real() == 1 - 0x1p-24);
  const auto next = [](DType dtype, double a, double b) {
    return evaluate(Op::nextafter, std::vector{Scalar::of(dtype, a), Scalar::of(dtype, b)}, dtype).real();
  };
  CHECK(next(f16, 1, 2) == 1 + 0x1p-10);
  CHECK(next(f16, 1, 0) == 1 - 0x1p-11);
  CHECK(next(f16, -1, 0) == -1 + 0x1p-11);
  CHECK(next(f16, 0, 1) == 0x1p-24);
  CHECK(next(f16, -0.0, -1) == -0x1p-24);
  CHECK(is_minus_zero(next(f16, -0x1p-24, 1)));
  CHECK(next(f16, 0x1p-14, 0) == 0x1p-14 - 0x1p-24);
  CHECK(next(f16, 65504, inf) == inf);
  CHECK(next(f16, -inf, 0) == -65504);
  CHECK(next(f16, inf, inf) == inf);
  CHECK(std::isnan(next(f16, 1, nan_value)));
  CHECK(is_minus_zero(next(f16, 0, -0.0)));
  CHECK(next(bf16, 1, 2) == 1 + 0x1p-7);
  CHECK(next(bf16, 0, 1) == 0x1p-133);
  CHECK(next(bf16, 0x1.fep127, inf) == inf);
}

TEST_CASE("logaddexp and xlogy at infinities and zeros") {
  CHECK(real(Op::logaddexp, {-inf, -inf}) == -inf);
  CHECK(real(Op::logaddexp, {inf, inf}) == inf);
  CHECK(real(Op::logaddexp, {inf, -inf}) == inf);
  CHECK(real(Op::logaddexp, {-inf, 3}) == 3);
  CHECK(real(Op::logaddexp, {1000, 1000}) == doctest::Approx(1000 + std::log(2.0)).epsilon(1e-15));
  CHECK(std::isnan(real(Op::logaddexp, {nan_value, inf})));
  CHECK(real(Op::xlogy, {0, 0}) == 0);
  CHECK(real(Op::xlogy, {0, -1}) == 0);
  CHECK(real(Op::xlogy, {-0.0, inf}) == 0);
  CHECK(std::isnan(real(Op::xlogy, {0, nan_value})));
  CHECK(std::isnan(real(Op::xlogy, {1, -1})));
  CHECK(real(Op::xlogy, {2, 0}) == -inf);
}

TEST_CASE("the gamma functions: values, poles and the zero of digamma") {
  constexpr double pi = 3.141592653589793, euler = 0.5772156649015329;
  CHECK(real(Op::lgamma, {0.5}) == doctest::Approx(std::log(pi) / 2).epsilon(1e-15));
  CHECK(real(Op::lgamma, {-2}) == inf);
  CHECK(real(Op::lgamma, {-inf}) == inf);
  CHECK(real(Op::digamma, {1}) == doctest::Approx(-euler).epsilon(1e-15));
  CHECK(real(Op::digamma, {0.5}) == doctest::Approx(-euler - 2 * std::log(2.0)).epsilon(1e-15));
  CHECK(real(Op::digamma, {-0.5}) == doctest::Approx(0.03648997397857652).epsilon(1e-13));
  CHECK(real(Op::digamma, {0x1.762d86356be3fp0}) == doctest::Approx(-0x1.b86a722197829p-54 * 0.9676722454476212).epsilon(1e-10));
  CHECK(real(Op::digamma, {0.0}) == -inf);
  CHECK(real(Op::digamma, {-0.0}) == inf);
  CHECK(std::isnan(real(Op::digamma, {-3})));
  CHECK(real(Op::digamma, {inf}) == inf);
  CHECK(real(Op::trigamma, {1}) == doctest::Approx(pi * pi / 6).epsilon(1e-15));
  CHECK(real(Op::trigamma, {0.5}) == doctest::Approx(pi * pi / 2).epsilon(1e-15));
  CHECK(real(Op::trigamma, {-0.5}) == doctest::Approx(pi * pi / 2 + 4).epsilon(1e-15));
  CHECK(real(Op::trigamma, {40}) == doctest::Approx(0.025315103841291236).epsilon(1e-13));
  CHECK(real(Op::trigamma, {-4}) == inf);
  CHECK(real(Op::trigamma, {inf}) == 0);
  CHECK(std::isnan(real(Op::trigamma, {-inf})));
}

TEST_CASE("rounding, signs and predicates") {
  CHECK(real(Op::signbit, {-0.0}) == 1);
  CHECK(real(Op::signbit, {0.0}) == 0);
  CHECK(real(Op::signbit, {std::copysign(nan_value, -1.0)}) == 1);
  CHECK(whole<std::int32_t>(Op::signbit, {-1}) == 1);
  CHECK(whole<std::uint8_t>(Op::signbit, {255}) == 0);
  CHECK(real(Op::copysign, {2, -0.0}) == -2);
  CHECK(is_minus_zero(real(Op::cbrt, {-0.0})));
  CHECK(real(Op::hypot, {inf, nan_value}) == inf);
  CHECK(real(Op::atan2, {0.0, -0.0}) == doctest::Approx(3.141592653589793).epsilon(1e-15));
  CHECK(real(Op::round, {2.5}) == 2);
  CHECK(real(Op::round, {3.5}) == 4);
  CHECK(is_minus_zero(real(Op::round, {-0.5})));
  CHECK(real(Op::trunc, {-1.5}) == -1);
  CHECK(real(Op::floor, {-1.5}) == -2);
  CHECK(whole<std::int32_t>(Op::ceil, {7}) == 7);
  CHECK(is_plus_zero(real(Op::sign, {-0.0})));
  CHECK(real(Op::sign, {-inf}) == -1);
  CHECK(std::isnan(real(Op::sign, {nan_value})));
  CHECK(whole<std::int32_t>(Op::sign, {-9}) == -1);
  CHECK(real(Op::isnan, {nan_value}) == 1);
  CHECK(real(Op::isinf, {-inf}) == 1);
  CHECK(real(Op::isfinite, {inf}) == 0);
  CHECK(whole<std::int32_t>(Op::isfinite, {1}) == 1);
}

TEST_CASE("power of floats: anything to the 0 is 1") {
  CHECK(real(Op::power, {nan_value, 0}) == 1);
  CHECK(real(Op::power, {0, 0}) == 1);
  CHECK(real(Op::power, {-1, inf}) == 1);
  CHECK(is_minus_zero(real(Op::power, {-0.0, 3})));
  CHECK(std::isnan(real(Op::power, {-2, 0.5})));
}

TEST_CASE("sigmoid and softplus neither overflow nor lose small results") {
  CHECK(real(Op::sigmoid, {0}) == 0.5);
  CHECK(real(Op::sigmoid, {1000}) == 1);
  CHECK(real(Op::sigmoid, {-1000}) == 0);
  CHECK(real(Op::sigmoid, {-700}) == doctest::Approx(std::exp(-700.0)).epsilon(1e-14));
  CHECK(real(Op::softplus, {1000}) == 1000);
  CHECK(real(Op::softplus, {-700}) == doctest::Approx(std::exp(-700.0)).epsilon(1e-14));
  CHECK(real(Op::softplus, {-inf}) == 0);
  CHECK(real(Op::softplus, {inf}) == inf);
  CHECK(std::isnan(real(Op::softplus, {nan_value})));
}

TEST_CASE("f32 is computed in float, f16 and bf16 in float with one rounding at the end") {
  CHECK(value<float>(Op::add, {16777216.0f, 1.0f}).real() == 16777216.0);
  CHECK(value<float>(Op::divide, {1.0f, 3.0f}).real() == static_cast<double>(1.0f / 3.0f));
  const Scalar third = Scalar::of(f16, 1.0 / 3);
  CHECK(evaluate(Op::fma, std::vector{third, third, third}, f16) ==
        Scalar::of(f16, std::fma(static_cast<float>(third.real()), static_cast<float>(third.real()), static_cast<float>(third.real()))));
  CHECK(evaluate(Op::rsqrt, std::vector{Scalar::of(bf16, 3)}, bf16) == Scalar::of(bf16, 1 / std::sqrt(3.0f)));
}

TEST_CASE("a cast agrees with Scalar::cast for every pair of dtypes") {
  const double values[] = {0.0, -0.0, 1, -1, 0.5, 2.5, 127, 128, -129, 255, 256, 65519, 65520, 1e5, -1e5, 3e9, -3e9, 1e19, 1e30, 1e300,
                           -1e300, 1.0 + 1e-9, 257.0 / 256 + 1e-12, inf, -inf, nan_value};
  for (int from = 0; from <= static_cast<int>(f64); ++from)
    for (int to = 0; to <= static_cast<int>(f64); ++to)
      for (double v : values) {
        const Scalar source = Scalar::of(static_cast<DType>(from), v);
        const DType target = static_cast<DType>(to);
        CAPTURE(to_text(source.dtype()));
        CAPTURE(to_text(target));
        CHECK(evaluate(Op::cast, std::vector{source}, target) == source.cast(target));
      }
}

namespace {

template <class T> std::size_t wrong_casts(const std::vector<HalfCase<T>>& cases, DType half) {
  std::vector<std::uint16_t> got(cases.size());
  const std::byte* from[] = {reinterpret_cast<const std::byte*>(&cases.data()->value)};
  const Index steps[] = {static_cast<Index>(sizeof(HalfCase<T>))};
  op_loop(Op::cast, dtype_of<T>(), half)(static_cast<Index>(cases.size()), from, steps, reinterpret_cast<std::byte*>(got.data()), 2);
  std::size_t count = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) count += got[k] != cases[k].bits;
  return count;
}

}  // namespace

TEST_CASE("casts to f16 and bf16 round once, to even from the middle") {
  for (const DType half : {f16, bf16}) {
    CHECK(wrong_casts(real_half_cases<float>(half), half) == 0);
    CHECK(wrong_casts(real_half_cases<double>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::int32_t>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::int64_t>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::uint64_t>(half), half) == 0);
  }
}

TEST_CASE("a loop walks its operands by bytes and repeats what has step 0") {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {10};
  float out[3] = {};
  const std::byte* from[] = {reinterpret_cast<const std::byte*>(a + 5), reinterpret_cast<const std::byte*>(b)};
  const Index steps[] = {-8, 0};
  op_loop(Op::add, f32, f32)(3, from, steps, reinterpret_cast<std::byte*>(out), 4);
  CHECK(out[0] == 16);
  CHECK(out[1] == 14);
  CHECK(out[2] == 12);
}
