#include <weft/dtype.h>

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>

#include "error_text.h"
#include "half_cases.h"

using namespace weft;

namespace {

constexpr DType all[] = {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::nan("");

std::int64_t to_integer(DType dtype, double value) { return Scalar::of(dtype, value).integer(); }

}  // namespace

TEST_CASE("names round trip") {
  std::string names;
  for (const DType dtype : all) {
    CHECK(find_dtype(to_text(dtype)) == dtype);
    names += std::string(to_text(dtype)) + " ";
  }
  CHECK(names == "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 ");
  std::ostringstream out;
  out << bf16;
  CHECK(out.str() == "bf16");
  CHECK_FALSE(find_dtype("float").has_value());
}

TEST_CASE("sizes, kinds and C++ types agree") {
  for (const DType dtype : all)
    visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      CHECK(dtype_of<T>() == dtype);
      CHECK(size_of(dtype) == sizeof(T));
      CHECK(is_integer(dtype) == (std::is_integral_v<T> && !std::is_same_v<T, bool>));
      CHECK(is_signed_integer(dtype) == (is_integer(dtype) && std::is_signed_v<T>));
      CHECK(is_floating(dtype) == !std::is_integral_v<T>);
      CHECK(is_boolean(dtype) == std::is_same_v<T, bool>);
    });
  CHECK(dtype_of<long long>() == i64);
  CHECK(dtype_of<unsigned long long>() == u64);
}

TEST_CASE("the whole promotion table") {
  // Rows and columns in the order of `all`; "-" is the error.
  const char* expected =
      "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64\n"
      "i8 i8 i16 i32 i64 i16 i32 i64 - f16 bf16 f32 f64\n"
      "i16 i16 i16 i32 i64 i16 i32 i64 - f16 bf16 f32 f64\n"
      "i32 i32 i32 i32 i64 i32 i32 i64 - f16 bf16 f32 f64\n"
      "i64 i64 i64 i64 i64 i64 i64 i64 - f16 bf16 f32 f64\n"
      "u8 i16 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64\n"
      "u16 i32 i32 i32 i64 u16 u16 u32 u64 f16 bf16 f32 f64\n"
      "u32 i64 i64 i64 i64 u32 u32 u32 u64 f16 bf16 f32 f64\n"
      "u64 - - - - u64 u64 u64 u64 f16 bf16 f32 f64\n"
      "f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f32 f32 f64\n"
      "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64\n"
      "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64\n"
      "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64\n";
  std::string table;
  for (const DType a : all) {
    for (const DType b : all) {
      std::string cell = "-";
      try {
        cell = to_text(promote(a, b));
        CHECK(promote(b, a) == promote(a, b));
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::dtype);
      }
      table += (b == bool_ ? "" : " ") + cell;
    }
    table += "\n";
  }
  CHECK(table == expected);
  CHECK(error_text([] { promote(u64, i8); }) == "dtype: no integer type holds both u64 and i8\n  cast one of them");
}

TEST_CASE("float to integer truncates, saturates, and takes NaN to 0") {
  CHECK(to_integer(i8, 3.99) == 3);
  CHECK(to_integer(i8, -3.99) == -3);
  CHECK(to_integer(i8, 127.5) == 127);
  CHECK(to_integer(i8, 1e9) == 127);
  CHECK(to_integer(i8, -128.5) == -128);
  CHECK(to_integer(i8, -inf) == -128);
  CHECK(to_integer(u8, -1) == 0);
  CHECK(to_integer(u8, -0.5) == 0);
  CHECK(to_integer(u8, 256) == 255);
  CHECK(to_integer(i64, 9.3e18) == std::numeric_limits<std::int64_t>::max());
  CHECK(to_integer(i64, 9223372036854774784.0) == 9223372036854774784);
  CHECK(to_integer(i64, -inf) == std::numeric_limits<std::int64_t>::min());
  CHECK(Scalar::of(u64, inf).unsigned_integer() == std::numeric_limits<std::uint64_t>::max());
  CHECK(Scalar::of(u64, 1.8e19).unsigned_integer() == 18000000000000000000u);
  for (const DType dtype : all) {
    if (is_floating(dtype)) continue;
    CHECK(to_integer(dtype, nan_value) == (is_boolean(dtype) ? 1 : 0));
  }
}

TEST_CASE("integer to integer wraps, anything to bool asks whether it differs from zero") {
  CHECK(Scalar::of(i8, 200).integer() == -56);
  CHECK(Scalar::of(u8, -1).integer() == 255);
  CHECK(Scalar::of(i32, 0x123456789).integer() == 0x23456789);
  CHECK(Scalar::of(i64, std::numeric_limits<std::uint64_t>::max()).integer() == -1);
  CHECK(Scalar::of(u64, -1).unsigned_integer() == std::numeric_limits<std::uint64_t>::max());
  CHECK(Scalar(std::uint8_t{200}).cast(i8).integer() == -56);
  CHECK(Scalar::of(bool_, 256).integer() == 1);
  CHECK(Scalar::of(bool_, 0.25).integer() == 1);
  CHECK(Scalar::of(bool_, -0.0).integer() == 0);
  CHECK(Scalar(true).cast(f32).real() == 1);
}

TEST_CASE("floats round once, to nearest even") {
  CHECK(Scalar::of(f32, 0.1).real() == static_cast<double>(0.1f));
  CHECK(Scalar::of(f32, 1e300).real() == inf);
  CHECK(Scalar::of(f16, 65519.99).real() == 65504);
  CHECK(Scalar::of(f16, 65520).real() == inf);
  CHECK(Scalar::of(f16, 0x1p-25).real() == 0);
  CHECK(Scalar::of(f16, 0x1.000000001p-25).real() == 0x1p-24);
  CHECK(Scalar::of(bf16, 0x1.fep127).real() == 0x1.fep127);
  CHECK(Scalar::of(bf16, 1e39).real() == inf);
  // Just above a tie: going through f32 would land on the tie and round down.
  CHECK(Scalar::of(f16, 1 + 0x1p-11 + 0x1p-40).real() == 1 + 0x1p-10);
  CHECK(Scalar::of(f16, 1 + 0x1p-11).real() == 1);
  CHECK(Scalar::of(f16, -(1 + 0x1p-11 + 0x1p-40)).real() == -(1 + 0x1p-10));
  CHECK(Scalar::of(bf16, 1 + 0x1p-8 + 0x1p-40).real() == 1 + 0x1p-7);
  CHECK(Scalar::of(f16, 1 + 3 * 0x1p-11 - 0x1p-40).real() == 1 + 0x1p-10);
  CHECK(Scalar::of(f32, (std::int64_t{1} << 61) + (std::int64_t{1} << 37) + 1).real() == 0x1p61 + 0x1p38);
  CHECK(Scalar::of(f32, (std::uint64_t{1} << 63) + (std::uint64_t{1} << 39) + 1).real() == 0x1p63 + 0x1p40);
  CHECK(Scalar::of(f32, std::numeric_limits<std::int64_t>::min()).real() == -0x1p63);
  CHECK(Scalar::of(f64, std::numeric_limits<std::uint64_t>::max()).real() == 0x1p64);
  CHECK(std::isnan(Scalar::of(f16, nan_value).real()));
  CHECK(std::signbit(Scalar::of(bf16, -0.0).real()));
}

TEST_CASE("f32, f64 and integers round to f16 and bf16 as their bits define, once, to even from the middle") {
  const auto wrong = [](const auto& cases, DType half) {
    std::size_t count = 0;
    for (const auto& one : cases) {
      std::uint16_t bits = 0;
      Scalar::of(half, one.value).store(&bits);
      count += bits != one.bits;
    }
    return count;
  };
  for (const DType half : {f16, bf16}) {
    CAPTURE(std::string(to_text(half)));
    CHECK(wrong(real_half_cases<float>(half), half) == 0);
    CHECK(wrong(real_half_cases<double>(half), half) == 0);
    CHECK(wrong(integer_half_cases<std::int32_t>(half), half) == 0);
    CHECK(wrong(integer_half_cases<std::uint32_t>(half), half) == 0);
    CHECK(wrong(integer_half_cases<std::int64_t>(half), half) == 0);
    CHECK(wrong(integer_half_cases<std::uint64_t>(half), half) == 0);
  }
}

TEST_CASE("Eigen's conversions of f32 are those of Scalar") {
  for (const auto& one : real_half_cases<float>(f16)) REQUIRE(std::bit_cast<std::uint16_t>(Eigen::half(one.value)) == one.bits);
  for (const auto& one : real_half_cases<float>(bf16)) REQUIRE(std::bit_cast<std::uint16_t>(Eigen::bfloat16(one.value)) == one.bits);
}

TEST_CASE("load and store keep every value of 8 and 16 bit types") {
  for (const DType dtype : {i8, u8, i16, u16, f16, bf16})
    for (std::uint32_t bits = 0; bits < (1u << (8 * size_of(dtype))); ++bits) {
      std::uint16_t back = 0;
      const Scalar value = Scalar::load(dtype, &bits);
      value.store(&back);
      if (is_floating(dtype) && std::isnan(value.real())) continue;
      REQUIRE(back == bits);
    }
}

TEST_CASE("equality is of dtype and bits, NaNs are equal") {
  CHECK(Scalar(nan_value) == Scalar(-nan_value));
  CHECK_FALSE(Scalar(0.0) == Scalar(-0.0));
  CHECK_FALSE(Scalar(1) == Scalar(1.0));
  CHECK(Scalar(std::int64_t{3}) == Scalar::of(i64, 3.5));
  CHECK(Scalar(-0.0).is_zero());
  CHECK_FALSE(Scalar(nan_value).is_zero());
  CHECK(Scalar(Eigen::half(1.5f)) == Scalar::of(f16, 1.5));
  CHECK(Scalar(Eigen::bfloat16(1.5f)) == Scalar::of(bf16, 1.5));
  CHECK(Scalar(std::numeric_limits<std::uint64_t>::max()).as_double() == 0x1p64);
  CHECK(Scalar(std::int8_t{-5}).as_double() == -5);
}

TEST_CASE("text is the shortest that reads back") {
  CHECK(to_text(Scalar(true)) == "true");
  CHECK(to_text(Scalar(false)) == "false");
  CHECK(to_text(Scalar(std::int8_t{-128})) == "-128");
  CHECK(to_text(Scalar(std::numeric_limits<std::uint64_t>::max())) == "18446744073709551615");
  CHECK(to_text(Scalar(2.0)) == "2");
  CHECK(to_text(Scalar(-0.5f)) == "-0.5");
  CHECK(to_text(Scalar(-0.0)) == "-0");
  CHECK(to_text(Scalar(0.1f)) == "0.1");
  CHECK(to_text(Scalar::of(f16, 100.0)) == "100");
  CHECK(to_text(Scalar::of(f16, 0.1)) == "0.1");
  CHECK(to_text(Scalar::of(bf16, 1e30)) == "1e+30");
  CHECK(to_text(Scalar(0.1)) == "0.1");
  CHECK(to_text(Scalar(static_cast<double>(0.1f))) == "0.10000000149011612");
  CHECK(to_text(Scalar::of(f16, 0.1)) == "0.1");
  CHECK(to_text(Scalar::of(bf16, 3.14159)) == "3.14");
  CHECK(to_text(Scalar(5e-324)) == "5e-324");
  CHECK(to_text(Scalar(inf)) == "inf");
  CHECK(to_text(Scalar(-inf)) == "-inf");
  CHECK(to_text(Scalar(-nan_value)) == "nan");
  for (const DType dtype : {f16, bf16})
    for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
      const Scalar value = Scalar::load(dtype, &bits);
      if (std::isfinite(value.real())) REQUIRE(Scalar::of(dtype, std::stod(to_text(value))) == value);
    }
}
