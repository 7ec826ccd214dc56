// Every pass on texts, the contract they share, and their cost on long chains.
#include <weft/passes.h>
#include <weft/recurrence.h>

#include <cmath>

#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/text.h>

#include "error_text.h"
#include "growth.h"
#include "pass_text.h"
#include "values.h"

using namespace weft;

namespace {

using Pass = Graph (*)(const Graph&);
Graph simplify_exactly(const Graph& graph) { return simplify(graph); }
constexpr Pass all_passes[] = {drop_dead, drop_unit_axes, merge_duplicates, fold_constants, simplify_exactly, contract, absorb_copies, turn_scans, shift_log_sums, shift_variances};

}  // namespace

TEST_CASE("extract takes the needed nodes with the inputs in the order given") {
  Graph g("whole");
  const Expr x = g.input("x", f64, {"n"}), y = g.input("y", f64, {"n"});
  tanh(x);
  const Expr z = x * y + y;
  CHECK(to_text(extract(g, {y, x}, {z})) == R"(graph whole(%y: f64[n], %x: f64[n]) -> (%1) {
  %0: f64[i:n] = multiply(%x[i], %y[i])
  %1: f64[i:n] = add(%0[i], %y[i])
}
)");
  CHECK(g.size() == 5);
}

TEST_CASE("every output of extract is a node of its own") {
  Graph g("outputs");
  const Expr x = g.input("x", f64, {"n"}), c = g.constant(Scalar(2.0)), y = x * x;
  CHECK(to_text(extract(g, {x}, {y, x, y, c, x})) == R"(graph outputs(%x: f64[n]) -> (%0, %1, %2, %3, %4) {
  %0: f64[i:n] = multiply(%x[i], %x[i])
  %1: f64[i:n] = copy(%x[i])
  %2: f64[i:n] = copy(%0[i])
  %3: f64[] = copy(2:f64)
  %4: f64[i:n] = copy(%x[i])
}
)");
}

TEST_CASE("extract says which input is missing, computed, repeated or foreign") {
  Graph g("mine"), other("theirs");
  const Expr x = g.input("x", f64, {3}), y = g.input("y", f64, {3}), z = x + y, w = other.input("w", f64, {3});
  CHECK(error_text([&] { extract(g, {x}, {z}); }) ==
        "usage: compile: the outputs need input %y, which is not listed\n  add it to the inputs");
  CHECK(error_text([&] { extract(g, {x, y, z}, {z}); }) == "usage: compile: %0 is listed as an input but it is computed");
  CHECK(error_text([&] { extract(g, {x, y, x}, {z}); }) == "usage: compile: input %x is listed twice");
  CHECK(error_text([&] { extract(g, {x, y}, {w}); }) == "usage: compile: output %w belongs to graph \"theirs\", not to \"mine\"");
  CHECK(error_text([&] { extract(g, {x, Expr()}, {z}); }) == "usage: compile: an input is an empty Expr");
}

TEST_CASE("drop_dead keeps what the outputs need and numbers it depth-first") {
  CHECK(text_after(drop_dead, R"(graph t(%x: f64[n], %unused: f64[n]) -> (%4) {
  %0: f64[i:n] = exp(%x[i])
  %1: f64[i:n] = sin(%x[i])
  %2: f64[i:n] = cos(%x[i])
  %3: f64[i:n] = tan(%0[i])
  %4: f64[i:n] = multiply(%2[i], %0[i])
}
)") == R"(graph t(%x: f64[n], %unused: f64[n]) -> (%2) {
  %0: f64[i:n] = cos(%x[i])
  %1: f64[i:n] = exp(%x[i])
  %2: f64[i:n] = multiply(%0[i], %1[i])
}
)");
}

TEST_CASE("merge_duplicates compares op, dtype, domain, fold, bits of constants, operands and maps") {
  CHECK(text_after(merge_duplicates, R"(graph t(%x: f64[n,n], %b: bool[n]) -> (%7) {
  %0: f64[i:n] = sum(j:n) multiply(%x[i,j], 2)
  %1: f64[i:n] = sum(j:n) multiply(%x[i,j], 2)
  %2: f64[i:n] = sum(j:n) multiply(%x[j,i], 2)
  %3: f64[i:n] = prod(j:n) multiply(%x[i,j], 2)
  %4: f64[i:n] = add(%0[i], %1[i])
  %5: f64[i:n] = add(%2[i], %3[i])
  %6: f64[i:n] = where(%b[i], 0:f64, -0:f64)
  %7: f64[i:n] = fma(%4[i], %5[i], %6[i])
}
)") == R"(graph t(%x: f64[n,n], %b: bool[n]) -> (%6) {
  %0: f64[i:n] = sum(j:n) multiply(%x[i,j], 2)
  %1: f64[i:n] = sum(j:n) multiply(%x[j,i], 2)
  %2: f64[i:n] = prod(j:n) multiply(%x[i,j], 2)
  %3: f64[i:n] = add(%0[i], %0[i])
  %4: f64[i:n] = add(%1[i], %2[i])
  %5: f64[i:n] = where(%b[i], 0:f64, -0:f64)
  %6: f64[i:n] = fma(%3[i], %4[i], %5[i])
}
)");
}

TEST_CASE("merge_duplicates keeps equal outputs apart and merges equal arrays and extents") {
  Graph g("t");
  const Expr x = g.input("x", f32, {"n"});
  const Expr a = g.constant(f32, {2}, {1, 2}), b = g.constant(f32, {2}, {1, 2}), c = g.constant(f32, {2}, {1, 3});
  const Expr ab = sum(a * b), ac = sum(a * c), p = ab + ac, e = g.extent(Extent("n") + 1) * g.extent(Extent("n") + 1);
  const Expr first = tanh(x), second = tanh(x);
  CHECK(to_text(merge_duplicates(extract(g, {x}, {first, second, p, e}))) == R"(graph t(%x: f32[n]) -> (%9, %10, %6, %8) {
  %0: f32[2] = constant [1, 2]
  %1: f32[2] = constant [1, 3]
  %2: f32[i:2] = multiply(%0[i], %0[i])
  %3: f32[] = sum(i:2) copy(%2[i])
  %4: f32[i:2] = multiply(%0[i], %1[i])
  %5: f32[] = sum(i:2) copy(%4[i])
  %6: f32[] = add(%3, %5)
  %7: i64[] = extent(n+1)
  %8: i64[] = multiply(%7, %7)
  %9: f32[i:n] = tanh(%x[i])
  %10: f32[i:n] = copy(%9[i])
}
)");
}

TEST_CASE("merge_duplicates keeps the order of each output, whatever else computes the same") {
  CHECK(text_after(merge_duplicates, R"(graph t(%x: f32[n,m]) -> (%0, %1, %2, %4) {
  %0: f32[i:n,j:m] = exp(%x[i,j])
  %1: f32[i:n,j:m] f = exp(%x[i,j])
  %2: f32[i:n,j:m] f = exp(%x[i,j])
  %3: f32[i:n,j:m] f = exp(%x[i,j])
  %4: f32[] = sum(i:n,j:m) copy(%3[i,j])
}
)") == R"(graph t(%x: f32[n,m]) -> (%0, %1, %3, %2) {
  %0: f32[i:n,j:m] = exp(%x[i,j])
  %1: f32[i:n,j:m] f = exp(%x[i,j])
  %2: f32[] = sum(i:n,j:m) copy(%0[i,j])
  %3: f32[i:n,j:m] f = copy(%1[i,j])
}
)");
}

TEST_CASE("fold_constants evaluates what is rounded exactly and leaves the rest") {
  CHECK(text_after(fold_constants, R"(graph t(%x: f64[n]) -> (%6, %7) {
  %0: f64[] = multiply(3:f64, 0.5:f64)
  %1: f64[i:n] = add(%0, 1)
  %2: f64[] = exp(1:f64)
  %3: bool[] = less(1:f64, 2:f64)
  %4: f64[] = where(%3, %0, %2)
  %5: f64[i:n] = multiply(%1[i], %4)
  %6: f64[i:n] = add(%5[i], %x[i])
  %7: i32[] = cast(2.9:f64)
}
)") == R"(graph t(%x: f64[n]) -> (%4, %5) {
  %0: f64[i:n] = copy(2.5:f64)
  %1: f64[] = exp(1:f64)
  %2: f64[] = where(true, 1.5, %1)
  %3: f64[i:n] = multiply(%0[i], %2)
  %4: f64[i:n] = add(%3[i], %x[i])
  %5: i32[] = copy(2:i32)
}
)");
}

TEST_CASE("absorb_copies writes whole arrays for their slices where the rest would land outside") {
  CHECK(text_after(absorb_copies, R"(graph t(%x: f64[n,4]) -> (%1, %3, %5, %7) {
  %0: f64[i:n-1,j:4] = copy(%x[i+1,j])
  %1: f64[n,4] = update(%0[i,j]) at [i,j]
  %2: f64[i:n,j:1] = copy(%x[i,3])
  %3: f64[n,4] = update(%2[i,j]) at [i,j]
  %4: f64[i:n,j:3] = copy(%x[i,j+0])
  %5: f64[n,5] = update(%4[i,j]) at [i,j+1]
  %6: f64[i:n,j:4] = copy(%x[i,j])
  %7: f64[n,5] = update(%6[i,j]) at [i,j+1]
}
)") == R"(graph t(%x: f64[n,4]) -> (%0, %1, %3, %4) {
  %0: f64[n,4] = update(%x[i,j]) within [i-1,j]
  %1: f64[n,4] = update(%x[i,j]) within [i,j-3]
  %2: f64[i:n,j:3] = copy(%x[i,j+0])
  %3: f64[n,5] = update(%2[i,j]) at [i,j+1]
  %4: f64[n,5] = update(%x[i,j]) at [i,j+1]
}
)");
}

TEST_CASE("contract makes fma nodes of add and subtract where the product has no other use") {
  CHECK(text_after(contract, R"(graph t(%a: f64[n], %b: f64[n], %c: f64[n]) -> (%1, %3, %5, %7) {
  %0: f64[i:n] = multiply(%a[i], %b[i])
  %1: f64[i:n] = add(%0[i], %c[i])
  %2: f64[i:n] = multiply(%a[i], %b[i])
  %3: f64[i:n] = subtract(%2[i], %c[i])
  %4: f64[i:n] = square(%a[i])
  %5: f64[i:n] = subtract(%c[i], %4[i])
  %6: f64[i:n] = multiply(%b[i], 2)
  %7: f64[] = sum(i:n) add(%c[i], %6[i])
}
)") == R"(graph t(%a: f64[n], %b: f64[n], %c: f64[n]) -> (%0, %2, %4, %5) {
  %0: f64[i:n] = fma(%a[i], %b[i], %c[i])
  %1: f64[i:n] = negative(%c[i])
  %2: f64[i:n] = fma(%a[i], %b[i], %1[i])
  %3: f64[i:n] = negative(%a[i])
  %4: f64[i:n] = fma(%3[i], %a[i], %c[i])
  %5: f64[] = sum(i:n) fma(%b[i], 2, %c[i])
}
)");
}

TEST_CASE("contract takes numbers off by adding their negatives") {
  CHECK(text_after(contract, R"(graph t(%a: f64[n], %c: f64[n]) -> (%1, %3, %5) {
  %0: f64[i:n] = multiply(0.5, %a[i])
  %1: f64[i:n] = subtract(%c[i], %0[i])
  %2: f64[i:n] = multiply(%a[i], 2)
  %3: f64[i:n] = subtract(%c[i], %2[i])
  %4: f64[i:n] = multiply(%a[i], %c[i])
  %5: f64[i:n] = subtract(%4[i], 3)
}
)") == R"(graph t(%a: f64[n], %c: f64[n]) -> (%0, %1, %2) {
  %0: f64[i:n] = fma(-0.5, %a[i], %c[i])
  %1: f64[i:n] = fma(%a[i], -2, %c[i])
  %2: f64[i:n] = fma(%a[i], %c[i], -3)
}
)");
}

TEST_CASE("contract lets sums multiply: of products and squares that nothing else uses, whatever they read") {
  CHECK(text_after(contract, R"(graph t(%a: f64[n,m], %w: f32[m], %x: f32[m,n], %y: f32[9]) -> (%1, %3, %5) {
  %0: f64[i:n,j:m] = square(%a[i,j])
  %1: f64[] = sum(i:n,j:m) copy(%0[i,j])
  %2: f32[i:n,j:m] = multiply(%x[j,i], %w[j])
  %3: f32[i:n] = sum(j:m) copy(%2[i,j])
  %4: f32[i:9] = multiply(%y[i], 2)
  %5: f32[] = sum(i:4) copy(%4[2*i+1])
}
)") == R"(graph t(%a: f64[n,m], %w: f32[m], %x: f32[m,n], %y: f32[9]) -> (%0, %1, %2) {
  %0: f64[] = sum(i:n,j:m) square(%a[i,j])
  %1: f32[i:n] = sum(j:m) multiply(%x[j,i], %w[j])
  %2: f32[] = sum(i:4) multiply(%y[2*i+1], 2)
}
)");
}

TEST_CASE("contract makes the same of sums that keep their axis") {
  CHECK(text_after(contract, R"(graph t(%a: f64[n,m], %c: f64[1,m]) -> (%1, %3) {
  %0: f64[i:n,j:m] = square(%a[i,j])
  %1: f64[i:n,j:1] = sum(k:m) copy(%0[i,k])
  %2: f64[i:m] = multiply(%a[2,i], 3)
  %3: f64[i:1,j:m] = add(%2[j], %c[i,j])
}
)") == R"(graph t(%a: f64[n,m], %c: f64[1,m]) -> (%0, %1) {
  %0: f64[i:n,j:1] = sum(k:m) square(%a[i,k])
  %1: f64[i:1,j:m] = fma(%a[2,j], 3, %c[i,j])
}
)");
}

TEST_CASE("contract takes products of what was before in the steps of recurrences, and leaves those that wait for nothing") {
  const auto ops = [](const auto& step) {
    Graph g;
    g.outputs = {scan(g.input("x", f32, {"n"}), Accumulator::fold("own", 0.5, step)).id()};
    const Graph contracted = contract(g);
    const Graph& made = std::get<Recurring>(contracted.node(contracted.outputs[0]).payload).recurrence->step;
    std::string names;
    for (std::size_t k = 0; k < made.size(); ++k)
      if (const Node& node = made.node(id_of(k)); node.kind == Kind::apply) names += std::string(info(node.op).name) + " ";
    return names;
  };
  CHECK(ops([](Expr s, Expr x) { return 0.9 * s + 0.1 * x; }) == "multiply fma ");
  CHECK(ops([](Expr s, Expr x) { return 0.1 * x + 0.9 * s; }) == "multiply fma ");
  CHECK(ops([](Expr s, Expr x) { return exp(s * x) * x - x; }) == "multiply exp negative fma ");
  CHECK(ops([](Expr s, Expr x) { return s + x * x; }) == "multiply add ");
  CHECK(ops([](Expr s, Expr x) { return maximum(s * x, s); }) == "multiply maximum ");
}

TEST_CASE("contract leaves what is shared, repeated, rounded to f16 or folded otherwise") {
  const std::string text = R"(graph t(%a: f32[n,m], %h: f16[n], %k: i32[n]) -> (%1, %2, %4, %6, %8, %10) {
  %0: f32[i:n,j:m] = multiply(%a[i,j], %a[i,j])
  %1: f32[i:n] = sum(j:m) copy(%0[i,j])
  %2: f32[i:n] = max(j:m) copy(%0[i,j])
  %3: f32[i:n,j:m] = multiply(%a[i,j], 3)
  %4: f32[i:n] = prod(j:m) copy(%3[i,j])
  %5: f16[i:n] = multiply(%h[i], %h[i])
  %6: f16[] = sum(i:n) copy(%5[i])
  %7: i32[i:n] = multiply(%k[i], %k[i])
  %8: i32[] = sum(i:n) copy(%7[i])
  %9: f32[i:n] = multiply(%1[i], %2[i])
  %10: f32[i:5] = sum(j:n) copy(%9[j])
}
)";
  CHECK(text_after(contract, text) == text);
}

TEST_CASE("contract leaves shared, folded, broadcast and integer products") {
  const std::string text = R"(graph t(%a: f64[n], %x: f64[m,n], %k: i32[n], %h: f16[n]) -> (%1, %3, %5, %7, %9) {
  %0: f64[i:n] = multiply(%a[i], %a[i])
  %1: f64[i:n] = add(%0[i], %0[i])
  %2: f64[i:n] = sum(j:m) multiply(%x[j,i], %a[i])
  %3: f64[i:n] = add(%2[i], %a[i])
  %4: f64[i:n] = multiply(%a[i], 3)
  %5: f64[i:m,j:n] = add(%4[j], %x[i,j])
  %6: i32[i:n] = multiply(%k[i], %k[i])
  %7: i32[i:n] = add(%6[i], %k[i])
  %8: f16[i:n] = multiply(%h[i], %h[i])
  %9: f16[i:n] = add(%8[i], %h[i])
}
)";
  CHECK(text_after(contract, text) == text);
}

TEST_CASE("absorb_copies reads through transposes, slices, flips and broadcasts") {
  CHECK(text_after(absorb_copies, R"(graph t(%x: f64[8,n]) -> (%3) {
  %0: f64[i:n,j:8] = copy(%x[j,i])
  %1: f64[i:n,j:3] = copy(%0[i,2*j+1])
  %2: f64[i:n,j:3] = copy(%1[n-1-i,j])
  %3: f64[i:3,j:n,k:5] = exp(%2[j,i])
}
)") == R"(graph t(%x: f64[8,n]) -> (%0) {
  %0: f64[i:3,j:n,k:5] = exp(%x[2*i+1,n-1-j])
}
)");
}

TEST_CASE("turn_scans: what reads reversed and is read reversed runs backwards") {
  CHECK(text_after(turn_scans, R"(graph t(%x: f64[m,n]) -> (%2, %4) {
  %0: f64[i:m,j:n] = scan(j) prod(%x[i,n-1-j])
  %1: f64[i:m,j:n] = scan(j) prod(%x[i,j])
  %2: f64[i:m,j:n] = multiply(%0[i,n-1-j], %1[i,j])
  %3: f64[i:m,j:n] = scan(i,j) sum(%2[m-1-i,n-1-j])
  %4: f64[i:n] = sum(j:m) copy(%3[m-1-j,n-1-i])
}
)") == R"(graph t(%x: f64[m,n]) -> (%2, %4) {
  %0: f64[i:m,j:n] = scan(-j) prod(%x[i,j])
  %1: f64[i:m,j:n] = scan(j) prod(%x[i,j])
  %2: f64[i:m,j:n] = multiply(%0[i,j], %1[i,j])
  %3: f64[i:m,j:n] = scan(-i,-j) sum(%2[i,j])
  %4: f64[i:n] = sum(j:m) copy(%3[j,i])
}
)");
  CHECK(text_after(turn_scans, R"(graph t(%x: f64[n]) -> (%2) {
  %0: f64[i:n] = scan(-i) sum(%x[n-1-i])
  %1: f64[i:n] = scan(i) sum(%0[n-1-i])
  %2: f64[i:n-1] = exp(%1[n-2-i])
}
)") == R"(graph t(%x: f64[n]) -> (%2) {
  %0: f64[i:n] = scan(i) sum(%x[i])
  %1: f64[i:n] = scan(i) sum(%0[i])
  %2: f64[i:n-1] = exp(%1[n-2-i])
}
)");
}

TEST_CASE("turn_scans leaves an output, what is read as often forwards, and what a reshape names") {
  for (const char* line : {"(%0, %1) {\n  %0: f64[i:n] = scan(i) sum(%x[n-1-i])\n  %1: f64[i:n] = exp(%0[n-1-i])\n", "(%1) {\n  %0: f64[i:n] = scan(i) sum(%x[n-1-i])\n  %1: f64[i:n] = exp(%0[i])\n",
                           "(%2) {\n  %0: f64[i:n] = scan(i) sum(%x[n-1-i])\n  %1: f64[n,1] = reshape(%0)\n  %2: f64[i:n,j:1] = exp(%1[i,j])\n"}) {
    const std::string text = "graph t(%x: f64[n]) -> " + std::string(line) + "}\n";
    CHECK(text_after(turn_scans, text) == text);
  }
}

TEST_CASE("absorb_copies keeps a copy that alone mentions a folded axis, and an output") {
  const std::string text = R"(graph t(%x: f64[n]) -> (%1, %2) {
  %0: f64[i:n,j:5] = copy(%x[i])
  %1: f64[i:n] = sum(j:5) copy(%0[i,j])
  %2: f64[i:n] = copy(%x[i])
}
)";
  CHECK(text_after(absorb_copies, text) == text);
}

TEST_CASE("two reversals read the first part of an axis, or all of it, and are seen to be equal") {
  CHECK(text_after(absorb_copies, R"(graph t(%x: f64[n]) -> (%1, %3, %5) {
  %0: f64[i:n-1] = copy(%x[n-2-i])
  %1: f64[i:n-1] = exp(%0[n-2-i])
  %2: f64[i:n] = copy(%x[n-1-i])
  %3: f64[i:n] = exp(%2[n-1-i])
  %4: f64[i:n-1] = copy(%x[i+0])
  %5: f64[i:n-2] = exp(%4[i+0])
}
)") == R"(graph t(%x: f64[n]) -> (%0, %1, %2) {
  %0: f64[i:n-1] = exp(%x[i+0])
  %1: f64[i:n] = exp(%x[i])
  %2: f64[i:n-2] = exp(%x[i+0])
}
)");
}

TEST_CASE("every pass keeps inputs, the number of outputs, values and its argument") {
  Graph g("t");
  const Expr x = g.input("x", f64, {3, 4}), unused = g.input("unused", i32, {}), w = g.input("w", f64, {4});
  const Expr t = transpose(x).slice({{1, {}}}), z = sum(x * w * 1, {1}), y = (x * w - 0.25) + x * 2;
  const Graph whole = extract(g, {x, unused, w}, {softmax(y), z, t + t, z, x, -(-w)});
  const std::vector<Array> arrays{case_x({3, 4}), Array::scalar<std::int32_t>(1), case_y({4}, 0.25)};
  const std::string before = to_text(whole);
  const auto expected = interpret(whole, whole.outputs, whole.inputs, arrays);
  for (Pass pass : all_passes) {
    const Graph result = pass(whole);
    CHECK(to_text(whole) == before);
    REQUIRE(result.inputs.size() == 3);
    CHECK(result.node(result.inputs[1]).name() == "unused");
    const auto got = interpret(result, result.outputs, result.inputs, arrays);
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto a = got[k].to_vector<double>(), b = expected[k].to_vector<double>();
      REQUIRE(a.size() == b.size());
      for (std::size_t e = 0; e < a.size(); ++e) CHECK(std::abs(a[e] - b[e]) <= (pass == contract ? 1e-15 * std::abs(b[e]) : 0));
    }
    CHECK(to_text(drop_dead(pass(result))) == to_text(drop_dead(result)));   // a second run finds nothing
  }
}

TEST_CASE("every pass handles chains of 20,000 nodes without recursion in about linear time") {
  const auto chain = [](int length) {
    Graph g;
    Expr y = g.input("x", f64, {4, 4});
    for (int k = 0; k < length; ++k) y = k % 4 == 0 ? y * 1.5 + 0.5 : k % 4 == 1 ? permute_dims(y, {1, 0}) : k % 4 == 2 ? -(-y) : tanh(y);
    g.outputs = {y.id()};
    return g;
  };
  const Graph small = chain(2000), large = chain(20000);
  for (Pass pass : all_passes) check_grows_linearly([&] { CHECK(pass(small).outputs.size() == 1); }, [&] { CHECK(pass(large).outputs.size() == 1); });
}
