#include <pass_text.h>

#include "compiled.h"
#include "passes/pipeline.h"

using namespace weft;

TEST_CASE("folds of f32 and integers, and f16 without folds, stay") {
  const std::string text =
      "graph g(%x: f32[n,m], %h: f16[n]) -> (%0, %1) {\n"
      "  %0: f32[i:n] = sum(j:m) exp(%x[i,j])\n"
      "  %1: f16[i:n] = exp(%h[i])\n}\n";
  CHECK(text_after(widen_folds, text) == text);
}

TEST_CASE("the element of a fold of f16 is an f16, its fold an f32, rounded at its end") {
  CHECK(text_after(widen_folds, "graph g(%x: f16[n,m]) -> (%0) { %0: f16[i:n] = sum(j:m) exp(%x[i,j]) }") ==
        "graph g(%x: f16[n,m]) -> (%2) {\n"
        "  %0: f16[i:n,j:m] = exp(%x[i,j])\n"
        "  %1: f32[i:n] = sum(j:m) cast(%0[i,j])\n"
        "  %2: f16[i:n] = cast(%1[i])\n}\n");
}

TEST_CASE("what is folded as it is needs no element of its own") {
  CHECK(text_after(widen_folds, "graph g(%x: bf16[n,m]) -> (%0) { %0: bf16[j:m] = max(i:n) copy(%x[i,j]) }") ==
        "graph g(%x: bf16[n,m]) -> (%1) {\n"
        "  %0: f32[i:m] = max(j:n) cast(%x[j,i])\n"
        "  %1: bf16[i:m] = cast(%0[i])\n}\n");
}

TEST_CASE("an element is computed over the axes that it has, not over those of the fold") {
  CHECK(text_after(widen_folds, "graph g(%x: f16[m]) -> (%0) { %0: f16[i:3,j:2] = prod(k:m) square(%x[k]) }") ==
        "graph g(%x: f16[m]) -> (%2) {\n"
        "  %0: f16[i:m] = square(%x[i])\n"
        "  %1: f32[i:3,j:2] = prod(k:m) cast(%0[k])\n"
        "  %2: f16[i:3,j:2] = cast(%1[i,j])\n}\n");
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
