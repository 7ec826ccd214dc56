#include <pass_text.h>

#include "compiled.h"
#include "passes/pipeline.h"

using namespace weft;

TEST_CASE("a fold over one axis stays") {
  const std::string text = "graph g(%x: f64[n,m]) -> (%0) {\n  %0: f64[i:n] = sum(j:m) exp(%x[i,j])\n}\n";
  CHECK(text_after(split_folds, text) == text);
}

TEST_CASE("several axes are folded from the last to the first, the op in the first fold") {
  CHECK(text_after(split_folds, "graph g(%x: f64[n,m,l]) -> (%0) { %0: f64[] = sum(i:n,j:m,k:l) exp(%x[i,j,k]) }") ==
        "graph g(%x: f64[n,m,l]) -> (%2) {\n"
        "  %0: f64[i:n,j:m] = sum(k:l) exp(%x[i,j,k])\n"
        "  %1: f64[i:n] = sum(j:m) copy(%0[i,j])\n"
        "  %2: f64[] = sum(i:n) copy(%1[i])\n}\n");
}

TEST_CASE("kept axes stay in front, whatever the operand's order of axes") {
  CHECK(text_after(split_folds, "graph g(%x: f32[a,b,c]) -> (%0) { %0: f32[i:b] = max(j:c,k:a) negative(%x[k,i,j]) }") ==
        "graph g(%x: f32[a,b,c]) -> (%1) {\n"
        "  %0: f32[i:b,j:c] = max(k:a) negative(%x[k,i,j])\n"
        "  %1: f32[i:b] = max(j:c) copy(%0[i,j])\n}\n");
}

TEST_CASE("users read the last of the folds") {
  CHECK(text_after(split_folds, "graph g(%x: f64[n,m]) -> (%1) {\n%0: f64[] = sum(i:n,j:m) copy(%x[i,j])\n%1: f64[i:n,j:m] = divide(%x[i,j], %0)\n}") ==
        "graph g(%x: f64[n,m]) -> (%2) {\n"
        "  %0: f64[i:n] = sum(j:m) copy(%x[i,j])\n"
        "  %1: f64[] = sum(i:n) copy(%0[i])\n"
        "  %2: f64[i:n,j:m] = divide(%x[i,j], %1)\n}\n");
}

TEST_CASE("folded axes of extent 1 go, and their maps become fixed indices") {
  CHECK(text_after(split_folds, "graph g(%x: f64[n,1,m], %y: f64[5]) -> (%0, %1) {\n%0: f64[i:n] = sum(j:1,k:m) exp(%x[i,j,k])\n%1: f64[] = prod(i:1) copy(%y[2*i+3])\n}") ==
        "graph g(%x: f64[n,1,m], %y: f64[5]) -> (%0, %1) {\n"
        "  %0: f64[i:n] = sum(j:m) exp(%x[i,0,j])\n"
        "  %1: f64[] = copy(%y[3])\n}\n");
}

TEST_CASE("the fold of one element only is that element: an elementwise node") {
  CHECK(text_after(split_folds, "graph g(%x: bool[n,1,1]) -> (%0) { %0: bool[i:n] = any(j:1,k:1) logical_not(%x[i,j,k]) }") ==
        "graph g(%x: bool[n,1,1]) -> (%0) {\n  %0: bool[i:n] = logical_not(%x[i,0,0])\n}\n");
}

TEST_CASE("an axis that one operand lacks is folded as it stands") {
  CHECK(text_after(split_folds, "graph g(%x: f64[n], %y: f64[m]) -> (%0) { %0: f64[] = sum(i:n,j:m) multiply(%x[i], %y[j]) }") ==
        "graph g(%x: f64[n], %y: f64[m]) -> (%1) {\n"
        "  %0: f64[i:n] = sum(j:m) multiply(%x[i], %y[j])\n"
        "  %1: f64[] = sum(i:n) copy(%0[i])\n}\n");
}

TEST_CASE("products whose first folded axis goes are rounded, as its fold would") {
  CHECK(text_after(split_folds, "graph g(%x: f64[n,m,1]) -> (%0, %1) {\n%0: f64[i:n] = sum(j:m,k:1) square(%x[i,j,k])\n%1: f64[i:n,j:m] = sum(k:1) square(%x[i,j,k])\n}") ==
        "graph g(%x: f64[n,m,1]) -> (%1, %2) {\n"
        "  %0: f64[i:n,j:m,k:1] = square(%x[i,j,k])\n"
        "  %1: f64[i:n] = sum(j:m) copy(%0[i,j,0])\n"
        "  %2: f64[i:n,j:m] = square(%x[i,j,0])\n}\n");
}

TEST_CASE("splitting changes no bit") {
  const Graph graph = parse("graph g(%x: f32[n,m,l]) -> (%0, %1, %2, %3) {\n"
                            "%0: f32[] = sum(i:n,j:m,k:l) exp(%x[i,j,k])\n%1: f32[i:m] = prod(j:n,k:l) copy(%x[j,i,k])\n"
                            "%2: f32[i:l] = min(j:m,k:n) copy(%x[k,j,i])\n%3: f32[i:n,j:m] = sum(k:l) square(%x[i,j,k])\n}");
  const Graph after = split_folds(graph);
  for (const Dims& shape : {Dims{1, 1, 1}, Dims{3, 40, 1100}, Dims{1100, 3, 20}, Dims{2, 1, 17}}) {
    const Array x = uniform(f32, shape);
    const auto expected = interpret(graph, graph.outputs, graph.inputs, {x}), got = interpret(after, after.outputs, after.inputs, {x});
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
  }
}

TEST_CASE("splitting twice changes nothing more") {
  const Graph once = split_folds(parse("graph g(%x: f64[n,1,m,l]) -> (%0) { %0: f64[] = sum(i:n,j:1,k:m,l:l) exp(%x[i,j,k,l]) }"));
  CHECK(same(split_folds(once), once));
}
