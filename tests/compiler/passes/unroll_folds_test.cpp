// Folds of folds over a few elements become ops: in the order of weft/accumulator.h, so with the same bits.
#include <pass_text.h>

#include "compiled.h"
#include "pass_bits.h"
#include "passes/pipeline.h"

using namespace weft;

TEST_CASE("the last axis first, each element a slot of its own") {
  CHECK(text_after(unroll_folds, "graph g(%x: f32[n,2,2]) -> (%1) {\n  %0: f32[i:n,j:2] = sum(k:2) copy(%x[i,j,k])\n  %1: f32[i:n] = sum(j:2) copy(%0[i,j])\n}") ==
        "graph g(%x: f32[n,2,2]) -> (%2) {\n"
        "  %0: f32[i:n] = add(%x[i,0,0], %x[i,0,1])\n"
        "  %1: f32[i:n] = add(%x[i,1,0], %x[i,1,1])\n"
        "  %2: f32[i:n] = add(%0[i], %1[i])\n}\n");
  CHECK(text_after(unroll_folds, "graph g(%x: i32[n,2,4]) -> (%1) {\n  %0: i32[i:n,j:2] = max(k:4) copy(%x[i,j,k])\n  %1: i32[i:n] = max(j:2) copy(%0[i,j])\n}") ==
        "graph g(%x: i32[n,2,4]) -> (%6) {\n"
        "  %0: i32[i:n] = maximum(%x[i,0,0], %x[i,0,2])\n"
        "  %1: i32[i:n] = maximum(%x[i,0,1], %x[i,0,3])\n"
        "  %2: i32[i:n] = maximum(%0[i], %1[i])\n"
        "  %3: i32[i:n] = maximum(%x[i,1,0], %x[i,1,2])\n"
        "  %4: i32[i:n] = maximum(%x[i,1,1], %x[i,1,3])\n"
        "  %5: i32[i:n] = maximum(%3[i], %4[i])\n"
        "  %6: i32[i:n] = maximum(%2[i], %5[i])\n}\n");
}

TEST_CASE("ops that only the fold reads are made of each element, and what does not follow the axes once") {
  CHECK(text_after(unroll_folds, "graph g(%x: u8[n,2,2], %w: f32[n]) -> (%3) {\n  %0: f32[i:n,j:2,k:2] = cast(%x[i,j,k])\n  %1: f32[i:n] = exp(%w[i])\n"
                                 "  %2: f32[i:n,j:2] = sum(k:2) multiply(%0[i,j,k], %1[i])\n  %3: f32[i:n] = sum(j:2) copy(%2[i,j])\n  %4: f32[i:n] = add(%1[i], %3[i])\n}") ==
        "graph g(%x: u8[n,2,2], %w: f32[n]) -> (%11) {\n"
        "  %0: f32[i:n] = cast(%x[i,0,0])\n  %1: f32[i:n] = exp(%w[i])\n  %2: f32[i:n] = multiply(%0[i], %1[i])\n"
        "  %3: f32[i:n] = cast(%x[i,0,1])\n  %4: f32[i:n] = multiply(%3[i], %1[i])\n  %5: f32[i:n] = add(%2[i], %4[i])\n"
        "  %6: f32[i:n] = cast(%x[i,1,0])\n  %7: f32[i:n] = multiply(%6[i], %1[i])\n"
        "  %8: f32[i:n] = cast(%x[i,1,1])\n  %9: f32[i:n] = multiply(%8[i], %1[i])\n  %10: f32[i:n] = add(%7[i], %9[i])\n"
        "  %11: f32[i:n] = add(%5[i], %10[i])\n}\n");
}

TEST_CASE("rows of a few elements times a matrix as small, and what is cheap to make again") {
  CHECK(text_after(unroll_folds, "graph g(%x: f32[n,3], %w: f32[3,2]) -> (%0) {\n  %0: f32[i:n,j:2] = sum(k:3) multiply(%x[i,k], %w[k,j])\n}") ==
        "graph g(%x: f32[n,3], %w: f32[3,2]) -> (%4) {\n"
        "  %0: f32[i:n,j:2] = multiply(%x[i,0], %w[0,j])\n  %1: f32[i:n,j:2] = multiply(%x[i,2], %w[2,j])\n  %2: f32[i:n,j:2] = add(%0[i,j], %1[i,j])\n"
        "  %3: f32[i:n,j:2] = multiply(%x[i,1], %w[1,j])\n  %4: f32[i:n,j:2] = add(%2[i,j], %3[i,j])\n}\n");
  const std::vector<std::string> texts{
      "graph g(%x: f32[n,5], %w: f32[5,2]) -> (%0) {\n  %0: f32[i:n,j:2] = sum(k:5) multiply(%x[i,k], %w[k,j])\n}\n",
      "graph g(%x: f32[n,3], %w: f32[3,5]) -> (%0) {\n  %0: f32[i:n,j:5] = sum(k:3) multiply(%x[i,k], %w[k,j])\n}\n",
      "graph g(%x: f32[n,3], %w: f32[3,m]) -> (%0) {\n  %0: f32[i:n,j:m] = sum(k:3) multiply(%x[i,k], %w[k,j])\n}\n",
      "graph g(%x: f32[n,3,3], %w: f32[n,3]) -> (%0) {\n  %0: f32[i:n,j:3] = sum(k:3) multiply(%x[i,j,k], %w[i,k])\n}\n",       // of each element once
      "graph g(%x: f32[n,3], %w: f32[3,3]) -> (%1) {\n  %0: f32[i:n,j:3] = exp(%x[i,j])\n  %1: f32[i:n,j:3] = sum(k:3) multiply(%0[i,k], %w[k,j])\n}\n",
  };
  CHECK(changed_by(unroll_folds, texts).empty());
}

TEST_CASE("products with small matrices, of batches and their gradients: the same bits, signed zeros and NaN included") {
  for (const DType dtype : {f16, f32, f64, i32})
    for (const Index few : {2, 3, 4}) {
      CAPTURE(dtype);
      CAPTURE(few);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", few}), w = g.input("w", dtype, {few, few}), b = g.input("b", dtype, {"n", few, few});
      std::vector<Expr> results{matmul(x, w), matmul(x, transpose(w)), matmul(b, w), matmul(b, b), sum(matmul(x, w) * x, 1), matmul(w, transpose(x))};
      if (is_floating(dtype) && dtype != f16) results.push_back(grad(sum(square(matmul(x, w) - x)), {x})[0]);
      for (const Expr& y : results) {
        const Function f = compile({y}, {x, w, b}, checked());
        for (const Index n : {1, 16, 77}) same_bits(f, {special(dtype, {n, few}, 1), special(dtype, {few, few}, 2), special(dtype, {n, few, few}, 3)});
        same_bits(f, {uniform(dtype, {100, few}, 4), uniform(dtype, {few, few}, 5), uniform(dtype, {100, few, few}, 6)});
      }
    }
}

TEST_CASE("other folds stay: of many elements, one by itself, of what others read, of much work") {
  const std::vector<std::string> texts{
      "graph g(%x: f32[n,2,5]) -> (%1) {\n  %0: f32[i:n,j:2] = sum(k:5) copy(%x[i,j,k])\n  %1: f32[i:n] = sum(j:2) copy(%0[i,j])\n}\n",
      "graph g(%x: f32[n,2,m]) -> (%1) {\n  %0: f32[i:n,j:2] = sum(k:m) copy(%x[i,j,k])\n  %1: f32[i:n] = sum(j:2) copy(%0[i,j])\n}\n",
      "graph g(%x: f32[n,2]) -> (%0) {\n  %0: f32[i:n] = sum(j:2) copy(%x[i,j])\n}\n",
      "graph g(%x: f32[n,2,2]) -> (%0, %1) {\n  %0: f32[i:n,j:2] = sum(k:2) copy(%x[i,j,k])\n  %1: f32[i:n] = sum(j:2) copy(%0[i,j])\n}\n",
      "graph g(%x: f32[n,2,2]) -> (%1) {\n  %0: f32[i:n,j:2] = sum(k:2) copy(%x[i,j,k])\n  %1: f32[i:n] = sum(j:2) exp(%0[i,j])\n}\n",
      "graph g(%x: f32[n,2,2]) -> (%0, %2) {\n  %0: f32[i:n,j:2,k:2] = negative(%x[i,j,k])\n  %1: f32[i:n,j:2] = sum(k:2) copy(%0[i,j,k])\n  %2: f32[i:n] = sum(j:2) copy(%1[i,j])\n}\n",
      "graph g(%x: bool[n,2,2]) -> (%1) {\n  %0: bool[i:n,j:2] = max(k:2) copy(%x[i,j,k])\n  %1: bool[i:n] = max(j:2) copy(%0[i,j])\n}\n",
      "graph g(%x: f32[n,4,4]) -> (%1) {\n  %0: f32[i:n,j:4] = sum(k:4) sin(%x[i,j,k])\n  %1: f32[i:n] = sum(j:4) copy(%0[i,j])\n}\n",
  };
  CHECK(changed_by(unroll_folds, texts).empty());
}

TEST_CASE("the same bits, signed zeros and NaN included") {
  for (const DType dtype : {f32, f64}) {
    const std::string of = dtype == f32 ? "f32" : "f64";
    for (const char* fold : {"sum", "prod", "max", "min"})
      for (Index rows : {2, 3, 4})
        for (Index columns : {2, 3, 4}) {
          CAPTURE(fold);
          const std::string r = std::to_string(rows), c = std::to_string(columns);
          const Graph graph = parse("graph g(%x: " + of + "[n," + r + "," + c + "], %y: " + of + "[n," + r + "," + c + "]) -> (%1) {\n  %0: " + of + "[i:n,j:" + r + "] = " + fold + "(k:" + c +
                                    ") multiply(%x[i,j,k], %y[i,j,k])\n  %1: " + of + "[i:n] = " + fold + "(j:" + r + ") copy(%0[i,j])\n}");
          const std::vector<Array> arrays{special(dtype, {77, rows, columns}, 1), special(dtype, {77, rows, columns}, 2)};
          same_bits_after(unroll_folds, graph, arrays);
          same_bits(compile(graph, checked()), arrays);
        }
  }
}

TEST_CASE("pooling: planes and channels, blocks of pixels, of every dtype") {
  for (const DType dtype : loop_dtypes) {
    CAPTURE(to_text(dtype));
    Graph g;
    const Expr x = g.input("x", dtype, {8, 12, 36});
    const auto blocks = [&](Index size) { return reshape(x, {8, 12 / size, size, 36 / size, size}); };
    const Expr rows = reshape(x, {4, 2, 6, 2, 36});
    const std::vector<Expr> results = is_boolean(dtype)
        ? std::vector{any(blocks(2), {2, 4}), all(blocks(3), {2, 4}), any(rows, {1, 3})}
        : std::vector{max(blocks(2), {2, 4}), min(blocks(3), {2, 4}), max(rows, {1, 3}), sum(blocks(4), {2, 4}), cast(mean(cast(blocks(2), f32), {2, 4}), dtype)};
    const Function f = compile(results, {x}, checked());
    check_call(f, {uniform(dtype, {8, 12, 36}, 3)});
    check_call(f, {special(dtype, {8, 12, 36}, 4)});
  }
}
