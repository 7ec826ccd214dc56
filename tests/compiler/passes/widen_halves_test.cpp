#include <pass_text.h>

#include "compiled.h"
#include "passes/pipeline.h"

using namespace weft;

namespace {

void check_stays(const std::string& text) { CHECK(text_after(widen_halves, text) == text); }

}  // namespace

TEST_CASE("f32 and integers stay, and halves that nothing computes") {
  check_stays("graph g(%x: f32[n,m]) -> (%0) {\n  %0: f32[i:n] = sum(j:m) exp(%x[i,j])\n}\n");
  check_stays("graph g(%x: f16[n], %y: f16[n]) -> (%1, %2) {\n"
              "  %0: f16[i:n] = negative(%x[i])\n"
              "  %1: f16[i:n] = maximum(%0[i], %y[i])\n"
              "  %2: bool[i:n] = less(%x[i], %y[i])\n}\n");
}

TEST_CASE("ops are ops in f32, and the output is rounded") {
  CHECK(text_after(widen_halves, "graph g(%x: bf16[n], %y: bf16[n]) -> (%1) { %0: bf16[i:n] = multiply(%x[i], %y[i])  %1: bf16[i:n] = exp(%0[i]) }") ==
        "graph g(%x: bf16[n], %y: bf16[n]) -> (%4) {\n"
        "  %0: f32[i:n] = cast(%x[i])\n"
        "  %1: f32[i:n] = cast(%y[i])\n"
        "  %2: f32[i:n] = multiply(%0[i], %1[i])\n"
        "  %3: f32[i:n] = exp(%2[i])\n"
        "  %4: bf16[i:n] = cast(%3[i])\n}\n");
}

TEST_CASE("what others read of an output is not rounded: no result depends on which others are asked for") {
  CHECK(text_after(widen_halves, "graph g(%x: f16[n]) -> (%0, %1) { %0: f16[i:n] = exp(%x[i])  %1: f16[i:n] = negative(%0[i]) }") ==
        "graph g(%x: f16[n]) -> (%3, %4) {\n"
        "  %0: f32[i:n] = cast(%x[i])\n"
        "  %1: f32[i:n] = exp(%0[i])\n"
        "  %2: f32[i:n] = negative(%1[i])\n"
        "  %3: f16[i:n] = cast(%1[i])\n"
        "  %4: f16[i:n] = cast(%2[i])\n}\n");
}

TEST_CASE("a number becomes the f32 that it is, after it was rounded to a half") {
  CHECK(text_after(widen_halves, "graph g(%x: bf16[n]) -> (%0) { %0: bf16[i:n] = multiply(%x[i], 0.1:bf16) }") ==
        "graph g(%x: bf16[n]) -> (%2) {\n"
        "  %0: f32[i:n] = cast(%x[i])\n"
        "  %1: f32[i:n] = multiply(%0[i], 0.100097656)\n"
        "  %2: bf16[i:n] = cast(%1[i])\n}\n");
}

TEST_CASE("a fold is one in f32 of elements in f32") {
  CHECK(text_after(widen_halves, "graph g(%x: f16[n,m]) -> (%0) { %0: f16[i:n] = sum(j:m) exp(%x[i,j]) }") ==
        "graph g(%x: f16[n,m]) -> (%2) {\n"
        "  %0: f32[i:n,j:m] = cast(%x[i,j])\n"
        "  %1: f32[i:n] = sum(j:m) exp(%0[i,j])\n"
        "  %2: f16[i:n] = cast(%1[i])\n}\n");
}

TEST_CASE("what is folded as it lies is cast where it is folded") {
  CHECK(text_after(widen_halves, "graph g(%x: bf16[n,m]) -> (%0) { %0: bf16[j:m] = max(i:n) copy(%x[i,j]) }") ==
        "graph g(%x: bf16[n,m]) -> (%1) {\n"
        "  %0: f32[i:m] = max(j:n) cast(%x[j,i])\n"
        "  %1: bf16[i:m] = cast(%0[i])\n}\n");
}

TEST_CASE("a cast to a half rounds where it stands, one to f32 of what is computed does nothing") {
  CHECK(text_after(widen_halves,
                   "graph g(%x: f32[n], %h: f16[n]) -> (%2, %4) {\n"
                   "  %0: f16[i:n] = cast(%x[i])  %1: f16[i:n] = exp(%0[i])  %2: f32[i:n] = cast(%1[i])\n"
                   "  %3: f16[i:n] = square(%h[i])  %4: bf16[i:n] = cast(%3[i]) }") ==
        "graph g(%x: f32[n], %h: f16[n]) -> (%3, %6) {\n"
        "  %0: f16[i:n] = cast(%x[i])\n"
        "  %1: f32[i:n] = cast(%0[i])\n"
        "  %2: f32[i:n] = exp(%1[i])\n"
        "  %3: f32[i:n] = copy(%2[i])\n"
        "  %4: f32[i:n] = cast(%h[i])\n"
        "  %5: f32[i:n] = square(%4[i])\n"
        "  %6: bf16[i:n] = cast(%5[i])\n}\n");
  CHECK(text_after(widen_halves, "graph g(%x: f32[n]) -> (%0) { %0: f16[] = sum(i:n) cast(%x[i]) }") ==
        "graph g(%x: f32[n]) -> (%2) {\n"
        "  %0: f16[i:n] = cast(%x[i])\n"
        "  %1: f32[] = sum(i:n) cast(%0[i])\n"
        "  %2: f16[] = cast(%1)\n}\n");
}

TEST_CASE("what lies in memory for an update or a reshape, and what is asked for its neighbour, is rounded") {
  CHECK(text_after(widen_halves, "graph g(%x: f16[n]) -> (%1) { %0: f16[i:n] = exp(%x[i])  %1: f16[i:n] = nextafter(%0[i], %x[i]) }") ==
        "graph g(%x: f16[n]) -> (%3) {\n"
        "  %0: f32[i:n] = cast(%x[i])\n"
        "  %1: f32[i:n] = exp(%0[i])\n"
        "  %2: f16[i:n] = cast(%1[i])\n"
        "  %3: f16[i:n] = nextafter(%2[i], %x[i])\n}\n");
  CHECK(text_after(widen_halves, "graph g(%x: f16[n]) -> (%0) { %0: f16[] = sum(i:n) nextafter(%x[i], %x[i]) }") ==
        "graph g(%x: f16[n]) -> (%2) {\n"
        "  %0: f16[i:n] = nextafter(%x[i], %x[i])\n"
        "  %1: f32[] = sum(i:n) cast(%0[i])\n"
        "  %2: f16[] = cast(%1)\n}\n");
  Graph g;
  const Expr x = g.input("x", f16, {4, 6});
  const Function f = compile({reshape(exp(x), {24}), exp(reshape(exp(x), {24}))}, {x}, checked());
  const auto out = f({uniform(f16, {4, 6})});
  for (Index k = 0; k < 24; ++k) {                       // the second reads what the first is
    const double first = out[0].get({k}).real();
    CHECK(out[1].get({k}).real() == doctest::Approx(std::exp(first)).epsilon(0x1p-11));
  }
}

TEST_CASE("a sum over several axes of f16 is rounded once") {
  Graph g;
  const Expr x = g.input("x", f16, {"n", "m"});
  const Function f = compile({sum(x), sum(x, 1)}, {x}, checked());
  Array a(f16, {2, 4});
  for (Index i : {0, 1}) {
    a.at<Eigen::half>({i, 0}) = Eigen::half(2048.0f);
    a.at<Eigen::half>({i, 1}) = Eigen::half(1.0f);
    a.at<Eigen::half>({i, 3}) = Eigen::half(1.0f);
  }
  const auto out = f({a});
  CHECK(out[1].get({0}) == Scalar::of(f16, 2050));
  CHECK(out[0].get({}) == Scalar::of(f16, 4100));         // 2050 and 2050
  a.at<Eigen::half>({0, 3}) = Eigen::half(0.0f);
  const auto odd = f({a});
  CHECK(odd[1].get({0}) == Scalar::of(f16, 2048));        // 2049
  CHECK(odd[0].get({}) == Scalar::of(f16, 4100));         // 2049 + 2050 = 4099; of rounded rows it would be 4098, hence 4096
  check_call(f, {uniform(f16, {3, 5000})});
}

TEST_CASE("a product of matrices of bf16 is that of their f32, rounded once") {
  Graph g;
  const Expr x = g.input("x", bf16, {"n", "k"}), y = g.input("y", bf16, {"k", "m"});
  const Expr wide = sum(expand_dims(cast(x, f32), 2) * cast(y, f32), 1);
  const Function f = compile({sum(expand_dims(x, 2) * y, 1), cast(wide, bf16)}, {x, y}, checked());
  const auto out = f({uniform(bf16, {17, 40}), uniform(bf16, {40, 33})});
  CHECK(difference(out[0], out[1]) == "");
}

TEST_CASE("sums of squares of f16 beyond its range: only the result has to fit") {
  Graph g;
  const Expr x = g.input("x", f16, {"n"});
  const Function f = compile({sqrt(sum(square(x)))}, {x}, checked());
  Array a(f16, {4});
  a.fill(Scalar::of(f16, 1000));
  CHECK(f({a})[0].get({}) == Scalar::of(f16, 2000));      // of 4 000 000, which f16 has not
}
