// What Options::fast_math relaxes and what it keeps. Special values under it: special_values_test.cpp; errors: tests/math.
#include <weft/function.h>

#include "compiled.h"
#include "functions_text.h"

using namespace weft;

namespace {

Options fast(int threads = 1) { return {.threads = threads, .fast_math = true, .executor = nullptr, .verify = true, .trace = ""}; }

template <class T> T at(const Array& array, Index k) { return array.data<T>()[k]; }

constexpr const char* shared_product = R"(graph g(%x: f32[n], %w: f32[n], %c: f32[n]) -> (%1, %2) {
  %0: f32[i:n] = multiply(%x[i], %w[i])
  %1: f32[i:n] = add(%0[i], %c[i])
  %2: f32[i:n] = subtract(%c[i], %0[i])
})";
constexpr const char* sum_of_products = R"(graph g(%x: f32[n], %w: f32[n], %c: f32[n]) -> (%0) {
  %0: f32[] = sum(i:n) multiply(%x[i], %w[i])
})";

// Every stage over several units, so that threads share it.
constexpr const char* rows = R"(graph g(%x: f32[n,m], %w: f32[m]) -> (%3, %4, %6) {
  %0: f32[i:n] = sum(j:m) multiply(%x[i,j], %w[j])
  %1: f32[i:n,j:m] = divide(%x[i,j], %0[i])
  %2: f32[i:n,j:m] = multiply(%1[i,j], %w[j])
  %3: f32[i:n,j:m] = add(%2[i,j], %1[i,j])
  %4: f32[i:n,j:m] = subtract(%2[i,j], %w[j])
  %5: f32[i:n,j:m] = tanh(%x[i,j])
  %6: f32[j:m] = sum(i:n) multiply(%5[i,j], %x[i,j])
})";

constexpr const char* quotient = "graph g(%x: f32[n], %y: f32[]) -> (%0) {\n%0: f32[i:n] = divide(%x[i], %y[])\n}";

// The number of elements of which the bits differ.
Index differing(const Array& a, const Array& b) {
  Index count = 0;
  for (Index k = 0; k < a.size(); ++k) count += at<float>(a, k) != at<float>(b, k);
  return count;
}

std::string float_functions(DType dtype) {
  // logaddexp is right to its terms: vecmath_test.
  return functions_text(dtype, [](const OpInfo& row) { return (row.rule == DTypeRule::floating || row.op == Op::power) && row.op != Op::logaddexp; });
}

}  // namespace

TEST_CASE("with fast_math functions stay within 4 ULP of the default, infinities, zeros and NaN included, and have the same bits in any registers") {
  for (DType dtype : {f32, f64})
    for (const auto& [x, y] : {std::pair{uniform(dtype, {67}, 1), uniform(dtype, {67}, 2)}, std::pair{special(dtype, {67}, 3), special(dtype, {67}, 4)}}) {
      const Function f = compile_text(float_functions(dtype));
      const auto got = compile(parse(float_functions(dtype)), fast())({x, y}), exact = f({x, y});
      Options narrow = fast();
      narrow.lanes = 8;
      const auto same = compile(parse(float_functions(dtype)), narrow)({x, y});
      for (std::size_t k = 0; k < got.size(); ++k) {
        CAPTURE(info(f.final_graph().node(f.final_graph().outputs[k]).op).name);
        CHECK(difference(got[k], exact[k], 4) == "");
        CHECK(difference(same[k], got[k]) == "");
      }
    }
}

TEST_CASE("fast_math is off by default, and contracts nothing that is not contracted without it") {
  CHECK(!Options().fast_math);
  for (const std::string text : {shared_product, sum_of_products})
    for (Index n : {5, 1000}) {
      const std::vector<Array> inputs{uniform(f32, {n}, 1), uniform(f32, {n}, 2), uniform(f32, {n}, 3)};
      check_call(compile_text(text), inputs);
      check_call(compile(parse(text), fast()), inputs);
    }
}

TEST_CASE("with fast_math a quotient by one divisor for a whole loop is a product with its reciprocal, within 2 ULP") {
  const Array x = uniform(f32, {1000});
  for (const float divisor : {3.0f, -0.7f, 0x1.23456p100f, 0x1.fffffep125f, 0x1p-126f, 0x1.8p-127f}) {
    CAPTURE(divisor);
    const Array y = Array::from<float>({divisor}, {});
    const Array got = compile(parse(quotient), fast())({x, y})[0], exact = compile_text(quotient)({x, y})[0];
    CHECK(difference(got, exact, 2) == "");
    for (Index k = 0; k < x.size(); ++k) CHECK(at<float>(got, k) == at<float>(x, k) * (1 / divisor));
    if (divisor == 3) CHECK(differing(got, exact) > 100);
  }
}

TEST_CASE("with fast_math it stays a division where the reciprocal is no normal number") {
  const std::vector<float> numbers{1, -2.5, 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, 0x1.fffffep127f, 0x1.8p-126f, 3e38f, 0x1p126f};
  const Array x = Array::from<float>(numbers, {static_cast<Index>(numbers.size())});
  for (const float divisor : {0x1.000002p126f, -0x1.8p127f, 0x1.fffffep-129f, 0x1p-149f, 0.0f, -0.0f, INFINITY, -INFINITY, NAN}) {
    CAPTURE(divisor);
    const Array y = Array::from<float>({divisor}, {});
    CHECK(difference(compile(parse(quotient), fast())({x, y})[0], compile_text(quotient)({x, y})[0]) == "");
  }
}

TEST_CASE("with fast_math results have the same bits on 1, 2 and 7 threads and on every run") {
  const std::vector<Array> inputs{uniform(f32, {3001, 130}, 1), uniform(f32, {130}, 2)};
  const auto expected = compile(parse(rows), fast())(inputs), exact = compile_text(rows)(inputs);
  CHECK(differing(expected[0], exact[0]) > 100);
  for (int threads : {1, 2, 7}) {
    CAPTURE(threads);
    const Function f = compile(parse(rows), fast(threads));
    for (int round = 0; round < 2; ++round) {
      const auto got = f(inputs);
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
    }
  }
}
