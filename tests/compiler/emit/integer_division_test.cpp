// Quotients and remainders of vectors of integers, which are made by way of floats (emit_arithmetic.h): the interpreter's, which divides integers.
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "bits.h"

using namespace weft;

namespace {

// Pairs whose quotients are whole, or just not, of all sizes, and every pair of the numbers where something begins or ends.
template <class T> std::pair<std::vector<T>, std::vector<T>> hard_pairs() {
  using Limits = std::numeric_limits<T>;
  using U = std::make_unsigned_t<T>;
  std::vector<T> edges{0, 1, 2, 3, 7, static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-7), Limits::min(), static_cast<T>(Limits::min() + 1), Limits::max(),
                       static_cast<T>(Limits::max() - 1), static_cast<T>(Limits::max() / 2), static_cast<T>(Limits::max() / 2 + 1)};
  if constexpr (sizeof(T) == 8)
    for (const T step : {-1, 0, 1}) edges.push_back((T{1} << 53) + step), edges.push_back((T{1} << 52) + step), edges.push_back(static_cast<T>(0) - (T{1} << 53) + step);
  std::vector<T> a, b;
  const auto add = [&](T dividend, T divisor) { a.push_back(dividend), b.push_back(divisor); };
  for (const T dividend : edges) for (const T divisor : edges) add(dividend, divisor);
  std::mt19937_64 random(7);
  const auto any = [&](unsigned bits) { return static_cast<U>(random() >> (64 - bits)); };
  for (int k = 0; k < 40000; ++k) {
    const unsigned bits = 1 + static_cast<unsigned>(random() % (8 * sizeof(T)));
    const U divisor = any(1 + static_cast<unsigned>(random() % bits)), quotient = any(bits);
    const U product = static_cast<U>(static_cast<std::uint64_t>(divisor) * quotient), sign = static_cast<U>(random() % 2 ? 1 : -1);
    add(static_cast<T>(static_cast<std::uint64_t>(static_cast<U>(product + random() % 3 - 1)) * sign), static_cast<T>(static_cast<std::uint64_t>(divisor) * static_cast<U>(random() % 2 ? 1 : -1)));
  }
  return {a, b};
}

template <class T> Array array_of(DType dtype, const std::vector<T>& numbers, const Dims& shape) {
  Array array(dtype, shape);
  std::copy(numbers.begin(), numbers.end(), array.template data<T>());
  return array;
}

template <class T> void check(DType dtype) {
  CAPTURE(to_text(dtype));
  const auto [dividends, divisors] = hard_pairs<T>();
  Graph g;
  const Expr a = g.input("a", dtype, {"n"}), b = g.input("b", dtype, {"n"}), one = g.input("one", dtype, {});
  std::vector<Expr> results;
  for (const Op op : {Op::floor_divide, Op::remainder, Op::truncated_divide, Op::fmod}) {
    results.push_back(elementwise(op, {{a, b}}));
    results.push_back(elementwise(op, {{a, one}}));
    results.push_back(elementwise(op, {{a, 10}}));
  }
  for (const int lanes : {4, 8, 16})
    for (const T divisor : {T{7}, T{0}, static_cast<T>(-1)}) {
      const Dims shape{static_cast<Index>(dividends.size())};
      check_bits(results, {a, b, one}, {array_of(dtype, dividends, shape), array_of(dtype, divisors, shape), array_of(dtype, std::vector<T>{divisor}, {})}, 1, lanes);
    }
}

}  // namespace

TEST_CASE("quotients and remainders of integers") {
  check<std::int8_t>(i8);
  check<std::uint8_t>(u8);
  check<std::int16_t>(i16);
  check<std::uint16_t>(u16);
  check<std::int32_t>(i32);
  check<std::uint32_t>(u32);
  check<std::int64_t>(i64);
  check<std::uint64_t>(u64);
}
