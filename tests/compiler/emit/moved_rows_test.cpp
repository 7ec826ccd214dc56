// Rows of a few elements that turn, lie beside others or run backwards: whole vectors, the interpreter's bits, no byte beyond the array.
#include <weft/weft.h>

#if defined(__linux__)
#include "bits.h"
#include "code/features.h"
#include "guarded.h"

using namespace weft;

namespace {

Expr columns(const Expr& x, Index first, Index end) { return x.slice({Slice::all, Slice{first, end}}); }

}  // namespace

TEST_CASE("rolled, concatenated, padded, sliced and flipped rows of every length, from the first byte of memory to the last") {
  for (const DType dtype : {f32, f64, i32, f16})
    for (const Index few : {2, 3, 4, 5, 8, 11, 15, 16})
      for (const int lanes : {0, 8}) {
        CAPTURE(dtype);
        CAPTURE(few);
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", few}), y = g.input("y", dtype, {"n", few}), z = g.input("z", dtype, {"n", few + 2});
        const Expr one = g.constant(dtype, {}, {1});
        const Options options{.threads = 2, .lanes = lanes, .verify = true};
        std::vector<Function> functions{compile({roll(x, 1, 1) * y, roll(y, -1, 1) - roll(x, 2, 1)}, {x, y, z}, options),
                                        compile({concat({x + one, y}, 1), pad(x, {{0, 0}, {1, 2}})}, {x, y, z}, options),
                                        compile({flip(x, 1) + y, columns(z, 1, few + 1) * x}, {x, y, z}, options),
                                        compile({sum(columns(z, 2, few + 2) * y, 1), sum(flip(y, 1) * x, 0)}, {x, y, z}, options),
                                        compile({columns(x, 1, few) - columns(x, 0, few - 1)}, {x, y, z}, options)};
        functions.push_back(compile({roll(x, 1, 1) + one}, {x, y, z}, {.threads = 1, .lanes = lanes, .cache_bytes = 1, .verify = true}));
        for (const Index n : {1024, 0, 1, 15, 16, 17, 100})
          for (const bool at_end : {false, true}) {
            CAPTURE(n);
            const auto matrix = [&](Index length) { return guarded(uneven(dtype, {n, length}), at_end); };
            for (const Function& f : functions) same_bits(f, {matrix(few), matrix(few), matrix(few + 2)});
          }
      }
}

TEST_CASE("gradients of slices add what windows have, and zero elsewhere") {
  for (const DType dtype : {f32, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", 5}), w = g.input("w", dtype, {"n", 4});
    const Expr difference = columns(x, 1, 5) - columns(x, 0, 4);
    const Function f = compile({grad(sum(square(difference) * w), {x})}, {x, w}, {.threads = 1, .verify = true});
    for (const Index n : {1, 16, 33, 1000}) same_bits(f, {uneven(dtype, {n, 5}), uneven(dtype, {n, 4})});
  }
}

TEST_CASE("three components by rotation are loaded as vectors, and nothing is gathered") {
  if (!has_feature(host_features(), "+avx512f")) return;
  Graph g;
  const Expr a = g.input("a", f32, {"n", 3}), b = g.input("b", f32, {"n", 3});
  const Function f = compile({roll(a, -1, 1) * roll(b, -2, 1) - roll(a, -2, 1) * roll(b, -1, 1)}, {a, b}, {.threads = 1, .verify = true});
  same_bits(f, {uneven(f32, {1000, 3}), uneven(f32, {1000, 3})});
  CHECK(f.llvm().find("gather") == std::string::npos);
}

TEST_CASE("rows with gaps, of other strides and orders") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 5});
  const Function f = compile({roll(x, 2, 1) * 2, concat({x, x}, 1)}, {x}, {.threads = 1, .verify = true});
  const Array wide = uneven(f32, {200, 9}), transposed = uneven(f32, {5, 200});
  same_bits(f, {wide.slice(1, 2, 5)});
  same_bits(f, {transposed.transpose()});
  same_bits(f, {uneven(f32, {400, 5}).slice(0, 0, 200, 2)});
}
#endif
