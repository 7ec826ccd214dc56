// Axes of one element: what loses them, what keeps them, and that values that differ in nothing else become one.
#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/interpret.h>
#include <weft/passes.h>
#include <weft/text.h>

#include "pass_text.h"
#include "values.h"

using namespace weft;

TEST_CASE("values between others lose axes of one element") {
  CHECK(text_after(drop_unit_axes, R"(graph t(%x: f32[n,m]) -> (%3) {
  %0: f32[i:1,j:m] = sum(k:n) copy(%x[k,j])
  %1: f32[i:1,j:m] = divide(%0[i,j], 3)
  %2: f32[i:n,j:m] = subtract(%x[i,j], %1[0,j])
  %3: f32[i:n,j:m] = exp(%2[i,j])
}
)") == R"(graph t(%x: f32[n,m]) -> (%3) {
  %0: f32[i:m] = sum(j:n) copy(%x[j,i])
  %1: f32[i:m] = divide(%0[i], 3)
  %2: f32[i:n,j:m] = subtract(%x[i,j], %1[j])
  %3: f32[i:n,j:m] = exp(%2[i,j])
}
)");
}

TEST_CASE("several axes, in the middle and at both ends, down to single values") {
  CHECK(text_after(drop_unit_axes, R"(graph t(%x: f32[n,m], %y: f32[3,1]) -> (%3) {
  %0: f32[i:1,j:m,k:1,l:n] = exp(%x[l,j])
  %1: f32[i:1,j:1] = add(%y[2,i], %y[1,j])
  %2: f32[i:1,j:m] = sum(k:n) multiply(%0[0,j,i,k], %1[i,0])
  %3: f32[i:m,j:1] = tan(%2[j,i])
}
)") == R"(graph t(%x: f32[n,m], %y: f32[3,1]) -> (%3) {
  %0: f32[i:m,j:n] = exp(%x[j,i])
  %1: f32[] = add(%y[2,0], %y[1,0])
  %2: f32[i:m] = sum(j:n) multiply(%0[i,j], %1)
  %3: f32[i:m,j:1] = tan(%2[i])
}
)");
}

// Outputs; what is folded along the axis, or read by others than ops and folds; extents that happen to be 1 are not known to.
TEST_CASE("what keeps its axes of one element") {
  const char* text = R"(graph t(%x: f32[n,m], %k: f32[u,m]) -> (%1, %4, %6, %7) {
  %0: f32[i:1,j:m] = exp(%x[0,j])
  %1: f32[i:m] = sum(j:1) copy(%0[j,i])
  %2: f32[i:1,j:m] = tan(%x[1,j])
  %3: f32[m,1] = reshape(%2)
  %4: f32[i:m,j:1] = copy(%3[i,j])
  %5: f32[i:u,j:m] = exp(%k[i,j])
  %6: f32[i:u,j:m] = tan(%5[i,j])
  %7: f32[i:1,j:m] = cos(%x[0,j])
}
)";
  CHECK(text_after(drop_unit_axes, text) == text);
}

TEST_CASE("a mean with an axis of one element and the same without are one value, to the bit") {
  Graph g("t");
  const Expr x = g.input("x", f64, {"n", "m"});
  const Expr centered = x - expand_dims(mean(x, 1), 1), spread = sqrt(mean(square(x - mean(x, 1, true)), 1, true) + 1e-5);
  const Graph before = extract(g, {x}, {centered / spread}), after = drop_dead(merge_duplicates(drop_unit_axes(absorb_copies(before))));
  const std::string text = to_text(after);
  const auto count = [&](const char* what) {
    int found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  CHECK(count("copy(%x") == 1);
  CHECK(count("subtract") == 1);
  const std::vector<Array> arrays{case_x({5, 37})};
  CHECK(interpret(after, after.outputs, after.inputs, arrays)[0].to_vector<double>() == interpret(before, before.outputs, before.inputs, arrays)[0].to_vector<double>());
}
