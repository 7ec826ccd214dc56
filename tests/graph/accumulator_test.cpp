#include <weft/accumulator.h>

#include <cmath>
#include <doctest/doctest.h>
#include <error_text.h>
#include <limits>
#include <vector>

#include <weft/expr.h>
#include <weft/interpret.h>

using namespace weft;

namespace {

constexpr AccumulatorId every_accumulator[] = {AccumulatorId::sum,        AccumulatorId::prod,        AccumulatorId::max,     AccumulatorId::min,
                                               AccumulatorId::any,        AccumulatorId::all,         AccumulatorId::supremum, AccumulatorId::infimum,
                                               AccumulatorId::bitwise_or, AccumulatorId::bitwise_and, AccumulatorId::bitwise_xor};

template <class T> Scalar fold(AccumulatorId acc, const std::vector<T>& values) {
  T result{};
  fold_values(acc, dtype_of<T>(), values.data(), static_cast<Index>(values.size()), sizeof(T), &result);
  return Scalar(result);
}

// The order of the header, written down a second time: leaves, slots, and a tree by splitting at the largest power of two.
template <class T> T leaf(const std::vector<T>& values, const std::vector<T>& factors, std::size_t first, std::size_t count) {
  std::vector<T> slots(16, T(-0.0));
  for (std::size_t s = 0; s < 16; ++s)
    for (std::size_t k = first + s; k < first + count; k += 16) slots[s] = factors.empty() ? slots[s] + values[k] : std::fma(values[k], factors[k], slots[s]);
  for (std::size_t half : {8u, 4u, 2u, 1u})
    for (std::size_t s = 0; s < half; ++s) slots[s] = slots[s] + slots[s + half];
  return slots[0];
}
template <class T> T tree(const std::vector<T>& values, const std::vector<T>& factors, std::size_t first, std::size_t leaves) {
  if (leaves == 1) return leaf(values, factors, first * 1024, std::min<std::size_t>(1024, values.size() - first * 1024));
  std::size_t left = 1;
  while (left * 2 < leaves) left *= 2;
  return tree(values, factors, first, left) + tree(values, factors, first + left, leaves - left);
}

std::vector<float> noise(std::size_t count) {
  std::vector<float> values(count);
  std::uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = (static_cast<float>(state >> 8) - 8e6f) * std::exp2(static_cast<float>(state % 29) - 30.0f);
  }
  return values;
}

}  // namespace

TEST_CASE("accumulators have names") {
  for (AccumulatorId acc : every_accumulator)
    CHECK(find_accumulator(name_of(acc)) == acc);
  CHECK(name_of(AccumulatorId::none) == "none");
  CHECK_FALSE(find_accumulator("none").has_value());
}

TEST_CASE("the op that combines gives what combine does") {
  const double values[] = {0.0, -0.0, 1.0, -2.5, 3.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  int ops = 0;
  for (AccumulatorId acc : every_accumulator) {
    const std::optional<Op> op = combining_op(acc);
    if (!op) continue;
    ++ops;
    for (const DType dtype : {DType::bool_, i32, f32, f64}) {
      if (!accepts(acc, dtype) || (dtype == DType::bool_ && acc != AccumulatorId::any && acc != AccumulatorId::all)) continue;
      for (double a : values)
        for (double b : values) {
          if (!is_floating(dtype) && !(std::isfinite(a) && std::isfinite(b))) continue;
          const Scalar left = Scalar::of(dtype, a), right = Scalar::of(dtype, b);
          Graph g;
          const Expr made = elementwise(*op, {g.constant(left), g.constant(right)});
          CAPTURE(name_of(acc));
          CHECK(to_text(Scalar::load(dtype, static_cast<const std::byte*>(interpret({made}, {}, {})[0].data()))) == to_text(combine(acc, left, right)));
        }
    }
  }
  CHECK(ops == 9);
  CHECK_FALSE(combining_op(AccumulatorId::none).has_value());
}

TEST_CASE("units are identities of each dtype") {
  CHECK(to_text(unit(AccumulatorId::sum, f32)) == "-0");
  CHECK(to_text(unit(AccumulatorId::sum, i32)) == "0");
  CHECK(to_text(unit(AccumulatorId::prod, f16)) == "1");
  CHECK(to_text(unit(AccumulatorId::min, u8)) == "255");
  CHECK(to_text(unit(AccumulatorId::min, f32)) == "inf");
  CHECK(to_text(unit(AccumulatorId::max, bf16)) == "-inf");
  CHECK(to_text(unit(AccumulatorId::max, i8)) == "-128");
  CHECK(to_text(unit(AccumulatorId::max, bool_)) == "false");
  CHECK(to_text(unit(AccumulatorId::any, bool_)) == "false");
  CHECK(to_text(unit(AccumulatorId::all, bool_)) == "true");
  CHECK(to_text(unit(AccumulatorId::supremum, f32)) == "-inf");
  CHECK(to_text(unit(AccumulatorId::infimum, i16)) == "32767");
  CHECK(to_text(unit(AccumulatorId::bitwise_or, i8)) == "0");
  CHECK(to_text(unit(AccumulatorId::bitwise_and, i8)) == "-1");
  CHECK(to_text(unit(AccumulatorId::bitwise_and, u16)) == "65535");
  CHECK(to_text(unit(AccumulatorId::bitwise_and, bool_)) == "true");
  CHECK(to_text(unit(AccumulatorId::bitwise_xor, u64)) == "0");
  for (int k = 0; k <= static_cast<int>(f64); ++k)
    for (AccumulatorId acc : every_accumulator) {
      const DType dtype = static_cast<DType>(k);
      if (!accepts(acc, dtype)) continue;
      for (double v : {1.0, 0.0, -0.0, 5.0, -7.0}) {
        const Scalar value = Scalar::of(dtype, v);
        CHECK(combine(acc, unit(acc, dtype), value) == value);
        CHECK(combine(acc, value, unit(acc, dtype)) == value);
      }
    }
}

TEST_CASE("folds over nothing") {
  CHECK(to_text(*empty_value(AccumulatorId::sum, f64)) == "0");
  CHECK(to_text(*empty_value(AccumulatorId::prod, i32)) == "1");
  CHECK(to_text(*empty_value(AccumulatorId::all, bool_)) == "true");
  CHECK_FALSE(empty_value(AccumulatorId::max, f32).has_value());
  CHECK(to_text(*empty_value(AccumulatorId::supremum, f32)) == "-inf");
  CHECK(to_text(*empty_value(AccumulatorId::infimum, u8)) == "255");
  CHECK(fold<std::int8_t>(AccumulatorId::bitwise_and, {}).integer() == -1);
  CHECK(fold<std::uint32_t>(AccumulatorId::bitwise_xor, {}).integer() == 0);
  CHECK(to_text(fold<double>(AccumulatorId::sum, {})) == "0");
  CHECK(to_text(fold<double>(AccumulatorId::prod, {})) == "1");
}

TEST_CASE("a sum of negative zeros is a negative zero") {
  CHECK(to_text(fold<float>(AccumulatorId::sum, {-0.0f, -0.0f, -0.0f})) == "-0");
  CHECK(to_text(fold<float>(AccumulatorId::sum, {-0.0f, 0.0f})) == "0");
}

TEST_CASE("a float sum has the documented order at every length") {
  for (std::size_t count : {1u, 2u, 15u, 16u, 17u, 100u, 1023u, 1024u, 1025u, 2048u, 3000u, 3072u, 5000u, 7168u, 8193u, 100000u}) {
    const std::vector<float> values = noise(count);
    CAPTURE(count);
    CHECK(fold(AccumulatorId::sum, values) == Scalar(tree(values, {}, 0, (count + 1023) / 1024)));
  }
}

TEST_CASE("products of f32 and f64 that are summed are added unrounded, in the order of a sum") {
  for (std::size_t count : {1u, 15u, 17u, 1000u, 1025u, 5000u}) {
    CAPTURE(count);
    std::vector<float> values = noise(2 * count), a, b;
    std::vector<double> c, d;
    for (std::size_t k = 0; k < count; ++k) a.push_back(values[2 * k]), b.push_back(values[2 * k + 1]), c.push_back(1 + values[2 * k] / 3.0), d.push_back(std::sqrt(2.0) + values[2 * k + 1]);
    float sum = 0, apart = 0, squares = 0;
    fold_products(f32, values.data(), 8, values.data() + 1, 8, static_cast<Index>(count), &sum);       // every second value
    CHECK(sum == tree(a, b, 0, (count + 1023) / 1024));
    fold_products(f32, a.data(), 4, b.data(), 4, static_cast<Index>(count), &apart);
    CHECK(apart == sum);
    fold_products(f32, a.data(), 4, a.data(), 4, static_cast<Index>(count), &squares);
    CHECK(squares == tree(a, a, 0, (count + 1023) / 1024));
    double wide = 0;
    fold_products(f64, c.data(), 8, d.data(), 8, static_cast<Index>(count), &wide);
    CHECK(wide == tree(c, d, 0, (count + 1023) / 1024));
  }
  float nothing = 1, zero = 0, minus = -0.0f, result = 1;
  fold_products(f32, nullptr, 4, nullptr, 4, 0, &nothing);
  CHECK((nothing == 0 && !std::signbit(nothing)));
  fold_products(f32, &zero, 4, &minus, 4, 1, &result);
  CHECK(std::signbit(result));                                 // as the product alone
}

TEST_CASE("which folds add products") {
  CHECK(adds_products(AccumulatorId::sum, Op::multiply, f32));
  CHECK(adds_products(AccumulatorId::sum, Op::square, f64));
  CHECK_FALSE(adds_products(AccumulatorId::sum, Op::multiply, f16));
  CHECK_FALSE(adds_products(AccumulatorId::sum, Op::multiply, i32));
  CHECK_FALSE(adds_products(AccumulatorId::sum, Op::add, f32));
  CHECK_FALSE(adds_products(AccumulatorId::prod, Op::multiply, f32));
}

TEST_CASE("integers wrap, bool folds are any and all") {
  CHECK(fold<std::int8_t>(AccumulatorId::sum, {100, 100}).integer() == -56);
  CHECK(fold<std::uint16_t>(AccumulatorId::prod, {256, 256, 3}).integer() == 0);
  bool values[] = {true, false, true}, result = false;
  fold_values(AccumulatorId::any, bool_, values, 3, 1, &result);
  CHECK(result);
  fold_values(AccumulatorId::all, bool_, values, 3, 1, &result);
  CHECK_FALSE(result);
}

TEST_CASE("max and min propagate NaN wherever it stands") {
  for (std::size_t at : {0u, 5u, 16u, 1500u}) {
    std::vector<float> values = noise(2000);
    values[at] = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(fold(AccumulatorId::max, values).real()));
    CHECK(std::isnan(fold(AccumulatorId::min, values).real()));
  }
}

TEST_CASE("f16 accumulates in f32 and rounds once") {
  const std::vector<Eigen::half> values(5000, Eigen::half(1.0f));   // in f16 itself the slots of a leaf would be exact but not the tree
  CHECK(fold(AccumulatorId::sum, values).real() == 5000);
  const std::vector<Eigen::half> small{Eigen::half(2048.0f), Eigen::half(0.5f), Eigen::half(0.5f)};
  CHECK(fold(AccumulatorId::sum, small) == Scalar::of(f16, 2049.0));
}

TEST_CASE("a fold may skip through memory") {
  const double values[] = {1, 100, 2, 100, 3, 100};
  double result = 0;
  fold_values(AccumulatorId::sum, f64, values, 3, 16, &result);
  CHECK(result == 6);
  fold_values(AccumulatorId::max, f64, values + 4, 3, -16, &result);
  CHECK(result == 3);
}

TEST_CASE("only float sums and products depend on the order") {
  CHECK(is_ordered(AccumulatorId::sum, f32));
  CHECK_FALSE(is_ordered(AccumulatorId::sum, i32));
  CHECK_FALSE(is_ordered(AccumulatorId::max, f32));
  CHECK(error_text([] { combine(AccumulatorId::sum, Scalar(1.0), Scalar(1)); }) == "dtype: sum: cannot combine f64 with i32");
}

TEST_CASE("bitwise folds work bit by bit and take no floats") {
  CHECK(fold<std::uint8_t>(AccumulatorId::bitwise_or, {1, 4, 128}).integer() == 133);
  CHECK(fold<std::int16_t>(AccumulatorId::bitwise_and, {-1, 0x0FF0, 0x7F3C}).integer() == 0x0F30);
  CHECK(fold<std::int64_t>(AccumulatorId::bitwise_xor, {5, -3, 5}).integer() == -3);
  bool parity = false;
  const bool truths[] = {true, true, true};
  fold_values(AccumulatorId::bitwise_xor, bool_, truths, 3, 1, &parity);
  CHECK(parity);
  for (AccumulatorId acc : {AccumulatorId::bitwise_or, AccumulatorId::bitwise_and, AccumulatorId::bitwise_xor}) {
    for (DType dtype : {bool_, i8, i64, u8, u64}) CHECK(accepts(acc, dtype));
    for (DType dtype : {f16, bf16, f32, f64}) CHECK_FALSE(accepts(acc, dtype));
    CHECK_FALSE(is_ordered(acc, i32));
  }
}
