// Integers, bool and small types through loads, ops, folds and stores; floats that are no ordinary numbers.
#include <sstream>

#include <weft/function.h>

#include <half_cases.h>

#include "compiled.h"

using namespace weft;

namespace {

// sum or any, max and min of a matrix: along rows, along columns, of everything; and an elementwise use.
Function folds_of(DType dtype) {
  Graph g;
  const Expr x = g.input("x", dtype, {"n", "m"});
  std::vector<Expr> outputs;
  for (const Axes& axes : {Axes({1}), Axes({0}), all_axes}) {
    if (is_boolean(dtype)) outputs.insert(outputs.end(), {any(x, axes), all(x, axes), sum(x, axes)});
    else outputs.insert(outputs.end(), {max(x, axes), min(x, axes), sum(x, axes), prod(x, axes)});
    if (!is_floating(dtype)) outputs.insert(outputs.end(), {reduce_or(x, axes), reduce_and(x, axes), reduce_xor(x, axes)});
  }
  outputs.push_back(is_boolean(dtype) ? !x : maximum(x, x.slice({{{}, {}, -1}})));
  return compile(outputs, {x}, checked());
}

}  // namespace

TEST_CASE("folds of every dtype agree with the interpreter") {
  for (DType dtype : loop_dtypes) {
    CAPTURE(std::string(to_text(dtype)));
    const Function f = folds_of(dtype);
    for (const Dims& shape : {Dims{1, 1}, Dims{5, 7}, Dims{70, 33}, Dims{3, 2500}, Dims{2500, 3}}) {
      CAPTURE(to_text(shape));
      check_call(f, {counting(dtype, shape, is_floating(dtype) ? 0.125 : 1)});
    }
  }
}

TEST_CASE("folds of special values agree with the interpreter") {
  for (DType dtype : {f16, bf16, f32, f64, i8, u8, i64, u64}) {
    CAPTURE(std::string(to_text(dtype)));
    const Function f = folds_of(dtype);
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      for (const Dims& shape : {Dims{9, 5}, Dims{40, 40}, Dims{2, 1100}, Dims{1100, 2}}) {
        CAPTURE(to_text(shape));
        CAPTURE(seed);
        check_call(f, {special(dtype, shape, seed)});
      }
  }
}

TEST_CASE("max and min propagate a NaN from any place") {
  const Function f = compile_text("graph g(%x: f32[n]) -> (%0, %1) {\n%0: f32[] = max(i:n) copy(%x[i])\n%1: f32[] = min(i:n) copy(%x[i])\n}");
  for (Index n : {1, 5, 16, 17, 100, 1024, 1025, 4100})
    for (Index place : {Index{0}, n / 2, n - 1}) {
      Array x = uniform(f32, {n});
      x.at<float>({place}) = NAN;
      const auto out = f({x});
      CHECK(std::isnan(out[0].at<float>({})));
      CHECK(std::isnan(out[1].at<float>({})));
    }
}

TEST_CASE("zeros keep their signs through max, min and sum") {
  const Function f = compile_text("graph g(%x: f64[n]) -> (%0, %1, %2) {\n%0: f64[] = max(i:n) copy(%x[i])\n%1: f64[] = min(i:n) copy(%x[i])\n"
                                  "%2: f64[] = sum(i:n) copy(%x[i])\n}");
  for (Index n : {1, 3, 16, 40, 1025}) {
    Array x(f64, {n});
    x.fill(Scalar(-0.0));
    for (const Array& result : f({x})) CHECK(std::signbit(result.at<double>({})));
    x.at<double>({n / 2}) = 0.0;
    const auto out = f({x});
    CHECK_FALSE(std::signbit(out[0].at<double>({})));
    CHECK(std::signbit(out[1].at<double>({})) == (n > 1));
    CHECK_FALSE(std::signbit(out[2].at<double>({})));
  }
}

TEST_CASE("infinities of both signs sum to NaN, wherever they meet") {
  const Function f = compile_text("graph g(%x: f64[n]) -> (%0) { %0: f64[] = sum(i:n) copy(%x[i]) }");
  for (Index n : {2, 17, 1025, 5000}) {
    Array x = uniform(f64, {n});
    x.at<double>({0}) = INFINITY;
    CHECK(f({x})[0].at<double>({}) == INFINITY);
    x.at<double>({n - 1}) = -INFINITY;
    CHECK(std::isnan(f({x})[0].at<double>({})));
  }
}

TEST_CASE("integers wrap in their own width") {
  const Function f = compile_text("graph g(%a: u8[n], %b: u8[n]) -> (%0, %1, %2, %3) {\n%0: u8[i:n] = add(%a[i], %b[i])\n"
                                  "%1: u8[i:n] = multiply(%a[i], %b[i])\n"
                                  "%2: u8[i:n] = subtract(%a[i], %b[i])\n%3: u8[i:n] = floor_divide(%a[i], %b[i])\n}");
  Array a(u8, {256 * 256}), b(u8, {256 * 256});
  for (Index k = 0; k < a.size(); ++k) {
    a.at<std::uint8_t>({k}) = static_cast<std::uint8_t>(k);
    b.at<std::uint8_t>({k}) = static_cast<std::uint8_t>(k / 256);
  }
  check_call(f, {a, b});
  const auto out = f({a, b});
  CHECK(out[0].at<std::uint8_t>({255 + 256 * 3}) == 2);
  CHECK(out[3].at<std::uint8_t>({200}) == 0);
}

TEST_CASE("a sum of u8 or bool counts beyond 255") {
  Graph g;
  const Expr b = g.input("b", u8, {"n"}), t = g.input("t", bool_, {"n"});
  const Function f = compile({sum(b), sum(t)}, {b, t}, checked());
  Array bytes(u8, {100000}), truths(bool_, {100000});
  bytes.fill(Scalar::of(u8, 255));
  truths.fill(Scalar::of(bool_, 1));
  const auto out = f({bytes, truths});
  CHECK(out[0].dtype() == u64);
  CHECK(out[0].at<std::uint64_t>({}) == 25500000);
  CHECK(out[1].at<std::int64_t>({}) == 100000);
}

TEST_CASE("casts between every two dtypes, special values included") {
  for (DType from : loop_dtypes) {
    Graph g;
    const Expr x = g.input("x", from, {"n"});
    std::vector<Expr> outputs;
    for (DType to : loop_dtypes)
      if (to != from) outputs.push_back(cast(x, to));
    const Function f = compile(outputs, {x}, checked());
    CAPTURE(std::string(to_text(from)));
    for (Index n : {64, 5, 1}) check_call(f, {special(from, {n}, static_cast<std::uint64_t>(n))});
  }
}

namespace {

// Compiled casts of numbers next to the middle between two halves: the bits that the definition of rounding gives.
template <class T> std::size_t wrong_casts(const std::vector<HalfCase<T>>& cases, DType half) {
  Graph g;
  const Expr x = g.input("x", dtype_of<T>(), {"n"});
  Array values(dtype_of<T>(), {static_cast<Index>(cases.size())});
  for (std::size_t k = 0; k < cases.size(); ++k) values.View::data<T>()[k] = cases[k].value;
  const Array got = compile({cast(x, half)}, {x}, checked())({values})[0];
  const auto* bits = static_cast<const std::uint16_t*>(static_cast<const void*>(got.View::data()));
  std::size_t count = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) count += bits[k] != cases[k].bits;
  return count;
}

}  // namespace

TEST_CASE("compiled casts to f16 and bf16 round once, to even from the middle") {
  for (const DType half : {f16, bf16}) {
    CHECK(wrong_casts(real_half_cases<float>(half), half) == 0);
    CHECK(wrong_casts(real_half_cases<double>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::int32_t>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::uint32_t>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::int64_t>(half), half) == 0);
    CHECK(wrong_casts(integer_half_cases<std::uint64_t>(half), half) == 0);
  }
}

TEST_CASE("f16 and bf16 are computed in f32 and rounded at the store: no native arithmetic, no calls that convert") {
  for (const DType half : {f16, bf16}) {
    const Function f = compile_text(concat("graph g(%a: ", half, "[], %x: ", half, "[n], %y: ", half, "[n]) -> (%1) {\n  %0: ", half,
                                           "[i:n] = multiply(%a, %x[i])\n  %1: ", half, "[i:n] = add(%0[i], %y[i])\n}"));
    Array a(half, {});
    a.fill(Scalar::of(half, 1.0078125));
    const Array x = uniform(half, {1000}, 1), y = uniform(half, {1000}, 2);
    check_call(f, {a, x, y});
    const Array out = f({a, x, y})[0];
    for (Index k = 0; k < out.size(); ++k) {                // a float holds products of halves, and the double their sum with another
      const double exact = 1.0078125 * x.get({k}).real() + y.get({k}).real();
      CHECK(out.get({k}) == Scalar::of(half, static_cast<float>(exact)));
    }
    const std::string code = f.assembly();
    std::istringstream lines(code);
    for (std::string line; std::getline(lines, line);)      // the end of an array may be copied
      CHECK((line.find("call") == std::string::npos || line.find("weft_move_part") != std::string::npos));
    for (const char* other : {"mulph", "addph", "mulsh", "addsh", "13ph", "13sh"}) CHECK(code.find(other) == std::string::npos);
  }
}

TEST_CASE("a bool in memory is the byte 0 or 1") {
  const Function f = compile_text("graph g(%x: f64[n]) -> (%0, %1) {\n%0: bool[i:n] = less(%x[i], 0)\n%1: bool[i:n] = logical_not(%0[i])\n}");
  const auto out = f({counting(f64, {37})});
  for (const Array& array : out)
    for (Index k = 0; k < array.size(); ++k) CHECK(static_cast<const std::uint8_t*>(static_cast<const void*>(array.View::data()))[k] <= 1);
}

// About the limits of an integer dtype, on both sides of each, and what is no number.
Array about_limits(DType from, DType to) {
  std::vector<double> values = {0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1, -1, std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 1e4, -1e4, 1e30, -1e30};
  for (const int digits : {static_cast<int>(8 * size_of(to)), static_cast<int>(8 * size_of(to)) - 1})
    for (const double beside : {0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 129.0})
      for (const double sign : {1.0, -1.0}) values.insert(values.end(), {sign * (std::ldexp(1.0, digits) + beside), sign * (std::ldexp(1.0, digits) - beside)});
  Array array = Array::empty(from, {static_cast<Index>(values.size())});
  for (std::size_t k = 0; k < values.size(); ++k) Scalar::of(from, values[k]).store(element_address(array, {static_cast<Index>(k)}));
  return array;
}

TEST_CASE("casts from floats to integers truncate, saturate and take NaN to 0, in registers of every width and one by one") {
  for (const DType from : {f16, bf16, f32, f64})
    for (const DType to : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64})
      for (const int lanes : {0, 4, 8, 16}) {
        CAPTURE(std::string(to_text(from)));
        CAPTURE(std::string(to_text(to)));
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", from, {"n"}), one = g.input("one", from, {});
        const Function f = compile({cast(x, to), cast(one, to)}, {x, one}, {.threads = 1, .lanes = lanes, .verify = true});
        const Array values = about_limits(from, to);
        check_call(f, {values, uniform(from, {})});
        if (lanes != 0) continue;
        for (Index k = 0; k < values.size(); ++k) check_call(f, {values.slice(0, k, 1), values.slice(0, k, 1).reshape_view({})});
      }
}
