// Compiled functions against the interpreter, bit for bit or within a few ULP.
#pragma once
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <random_data.h>
#include <weft/weft.h>

// The dtypes that compiled loops run on.
inline constexpr weft::DType loop_dtypes[] = {weft::bool_, weft::i8, weft::i16, weft::i32, weft::i64, weft::u8, weft::u16, weft::u32, weft::u64,
                                              weft::f16, weft::bf16, weft::f32, weft::f64};

// The number of floats between two values: 1 between neighbours, 0 between -0 and +0.
inline double ulps_between(const weft::Scalar& a, const weft::Scalar& b) {
  auto ordinal = [](const weft::Scalar& value) {
    std::uint64_t bits = 0;
    value.store(&bits);
    const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(value.dtype()) - 1);
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
  };
  const std::int64_t x = ordinal(a), y = ordinal(b);
  return (x < 0) == (y < 0) ? std::abs(static_cast<double>(x - y)) : std::abs(static_cast<double>(x)) + std::abs(static_cast<double>(y));
}

inline bool agrees(const weft::Scalar& got, const weft::Scalar& expected, double ulps) {
  if (got == expected) return true;
  if (ulps == 0 || !is_floating(got.dtype()) || std::isnan(got.real()) || std::isnan(expected.real())) return false;
  return ulps_between(got, expected) <= ulps;
}

// "[1, 2]: got 3, expected 4 (1 of 6 elements)", or nothing if the arrays agree.
inline std::string difference(const weft::View& got, const weft::View& expected, double ulps = 0) {
  using namespace weft;
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape())
    return concat("got ", got.dtype(), to_text(got.shape()), ", expected ", expected.dtype(), to_text(expected.shape()));
  std::string first;
  Index count = 0;
  for_each_element(got.shape(), [&](const Dims& index) {
    const Scalar a = Scalar::load(got.dtype(), element_address(got, index)), b = Scalar::load(got.dtype(), element_address(expected, index));
    if (!agrees(a, b, ulps) && ++count == 1) first = concat(to_text(index), ": got ", to_text(a), ", expected ", to_text(b));
  });
  return count == 0 ? "" : concat(first, " (", count, " of ", got.size(), " elements)");
}

// What the loops should give: the interpreter on the graph that they were made from.
inline std::vector<weft::Array> expected_of(const weft::Function& f, const std::vector<weft::Array>& inputs) {
  const weft::Graph& graph = f.final_graph(inputs);
  return interpret(graph, graph.outputs, graph.inputs, inputs);
}

// Calls f and compares every output; each ULP bound is for all of them.
inline void check_call(const weft::Function& f, const std::vector<weft::Array>& inputs, double ulps = 0) {
  const std::vector<weft::Array> got = f(inputs), expected = expected_of(f, inputs);
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    CAPTURE(k);
    CHECK(difference(got[k], expected[k], ulps) == "");
  }
}

// Every pass and level verified, one thread: what tests use unless they are about threads.
inline weft::Options checked(int threads = 1) { return {.threads = threads, .executor = nullptr, .verify = true, .trace = ""}; }

inline weft::Function compile_text(const std::string& text, int threads = 1) { return compile(weft::parse(text), checked(threads)); }

// Distinct values with both signs: 1, -2, 3, -4, .. in row-major order, times `scale`. u8 and bool wrap.
inline weft::Array counting(weft::DType dtype, const weft::Dims& shape, double scale = 1) {
  weft::Array array(dtype, shape);
  weft::Index k = 0;
  for_each_element(shape, [&](const weft::Dims& index) {
    ++k;
    const double value = static_cast<double>(k % 2 == 1 ? k : -k) * scale;
    (is_floating(dtype) ? weft::Scalar::of(dtype, value) : weft::Scalar::of(dtype, static_cast<std::int64_t>(value))).store(element_address(array, index));
  });
  return array;
}

// Uniform in [-2, 2), the same on every machine.
inline weft::Array uniform(weft::DType dtype, const weft::Dims& shape, std::uint64_t seed = 1) {
  SeededSource random(seed);
  weft::Array array = weft::Array::empty(dtype, shape);
  auto* bytes = static_cast<std::byte*>(array.View::data());
  for (weft::Index k = 0; k < array.size(); ++k)
    weft::Scalar::of(dtype, random.uniform() * 4 - 2).store(bytes + static_cast<std::size_t>(k) * size_of(dtype));
  return array;
}

// Infinities, NaN, zeros of both signs, subnormals and ordinary numbers.
inline weft::Array special(weft::DType dtype, const weft::Dims& shape, std::uint64_t seed = 1) {
  SeededSource random(seed);
  return random_array(random, dtype, shape, Data::special);
}
