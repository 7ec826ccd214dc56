// What updates write along axes of a few elements: loops over these know each index, and so that a window has no element there.
#include <weft/rearrange.h>

#include "bits.h"
#include "occurrences.h"

using namespace weft;

TEST_CASE("zeros that are padded along a narrow axis are zeros, whatever the dtype") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {f32, f64, u8, i16, f16})
      for (const Index columns : {1, 2, 3, 5, 8}) {
        CAPTURE(lanes);
        CAPTURE(dtype);
        CAPTURE(columns);
        for (const Extent& rows : {Extent("n"), Extent(1000)}) {
          Graph g;
          const Expr x = g.input("x", dtype, {rows, columns});
          const std::vector<Array> arrays{uneven(dtype, {1000, columns})};
          const Expr before = pad(x, {{0, 0}, {1, 0}}), around = pad(x, {{1, 2}, {2, 1}});
          check_bits({before, around}, {x}, arrays, 2, lanes);
          check_bits({sum(before, 1), transpose(around)}, {x}, {arrays[0].copy(Order::f)}, 2, lanes);
        }
      }
}

TEST_CASE("two windows side by side are added") {
  const Function f = compile_text(
      "graph g(%a: f32[n,1], %b: f32[n,2]) -> (%2) {\n"
      "  %0: f32[n,3] = update(%a[i,j]) at [i,j]\n"
      "  %1: f32[n,3] = update(%b[i,j]) at [i,j+1]\n"
      "  %2: f32[i:n,j:3] = add(%0[i,j], %1[i,j])\n}");
  check_call(f, {uneven(f32, {5000, 1}), uneven(f32, {5000, 2})});
}

TEST_CASE("gradients through what is rolled along a narrow axis") {
  for (const int lanes : {0, 8})
    for (const Index columns : {2, 3, 4, 5, 8}) {
      CAPTURE(lanes);
      CAPTURE(columns);
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"n", "m"}), y = roll(x, -1, 1), deviation = y - mean(y, 1, {.keepdims = true});
      check_bits(grad(sum(square(deviation)), {x}), {x}, {uneven(f32, {5000, columns})}, 2, lanes);
      check_bits(grad(sum(softmax(y, 1) * w), {x}), {x, w}, {uneven(f32, {5000, columns}), near_one(f32, {5000, columns})}, 2, lanes);
    }
}

// Elements of a row beside each other: a copy of the body reads in its window what another one has loaded.
TEST_CASE("what other copies of a tile have loaded is not gathered, whichever way the window runs") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {f32, f64, u8, f16})
      for (const Index columns : {3, 4, 7, 10, 15}) {
        CAPTURE(lanes);
        CAPTURE(dtype);
        CAPTURE(columns);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", columns});
        const Expr before = pad(x.slice({Slice::all, Slice{0, columns - 1}}), {{0, 0}, {1, 0}}), after = pad(x.slice({Slice::all, Slice{1, columns}}), {{0, 0}, {0, 1}});
        const Expr turned = pad(flip(x.slice({Slice::all, Slice{0, 2}}), 1), {{0, 0}, {columns - 2, 0}});
        const Function f = compile({x * 3 - before, maximum(after, x), x + turned, before + after}, {x}, {.threads = 2, .lanes = lanes, .verify = true});
        same_bits(f, {uneven(dtype, {5000, columns})});
        same_bits(f, {uneven(dtype, {37, columns})});
      }
  Graph g;
  const Expr x = g.input("x", f32, {"n", 5});
  const Function f = compile({x - roll(x, 1, 1) * 0.5f}, {x}, {.threads = 1});
  f({uneven(f32, {5000, 5})});
  CHECK(f.assembly().find("gather") == std::string::npos);
}

// One code for all of them, however many vectors are copied: it took seconds to compile where each had sixteen branches.
TEST_CASE("windows of elements that lie apart are read by a function where no instruction gathers") {
  for (const int lanes : {0, 8})
    for (const DType dtype : {u8, i16, f32, f64}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"});
      const Expr around = pad(x, {{1, 1}, {1, 1}}), nine = around.slice({Slice{{}, -2}, Slice{{}, -2}}) + around.slice({Slice{1, -1}, Slice{{}, -2}}) + around.slice({Slice{2, {}}, Slice{1, -1}});
      for (const Dims& shape : {Dims{859, 2}, Dims{50, 60}, Dims{17, 1}, Dims{3, 5}}) {
        check_bits({nine}, {x}, {uneven(dtype, shape)}, 1, lanes);
        const Function f = compile({nine}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
        same_bits(f, {uneven(dtype, {1, 1})});         // the first call would make numbers of few columns
        same_bits(f, {uneven(dtype, shape)});
        if (size_of(dtype) < 4 || lanes == 8) CHECK(occurrences(f.llvm(), "@llvm.masked.gather") <= 2);      // in the function, and what declares it
        if (shape[1] == 2 && lanes == 8) CHECK(f.llvm().find("@weft_gather_") != std::string::npos);
        check_bits({nine, transpose(nine)}, {x}, {uneven(dtype, shape).copy(Order::f)}, 1, lanes);
      }
    }
}
