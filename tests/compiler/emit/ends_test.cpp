// What rows leave over of whole steps: as many vectors side by side as the call that compiled had, the last one with masks. Calls of other lengths run the
// same code. All against the interpreter, bit for bit.
#include "bits.h"
#include "code/features.h"
#include "guarded.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 64 - 1.5; });
}

bool has_masks() { return has_feature(host_features(0), "+avx512f"); }

}  // namespace

TEST_CASE("rows of any length by code for the ends of others") {
  for (const DType dtype : {f32, f64, f16})
    for (const Index first : {65, 80, 97, 112, 200, 513, 1000}) {
      CAPTURE(dtype);
      CAPTURE(first);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), w = g.input("w", dtype, {"m"}), b = g.input("b", dtype, {"n"});
      const Expr y = tanh(x) * w;
      const Function f = compile({y, sum(y * x, 1), exp(x) + expand_dims(b, 1), max(sigmoid(x), 1)}, {x, w, b}, {.threads = 1, .verify = true});
      for (const Index m : {first, Index{1}, Index{16}, Index{63}, Index{64}, first - 1, first + 1, first + 17, first + 64, Index{2000}}) {
        CAPTURE(m);
        same_bits(f, {counted(dtype, {3, m}), counted(dtype, {m}), counted(dtype, {3})});
      }
    }
}

TEST_CASE("the vectors that are left run side by side, by code of their own") {
  if (!has_masks()) return;
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const auto code_for = [&](Index m) {
    const Function f = compile({tanh(x) * expand_dims(sum(x, 1), 1)}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {counted(f32, {300, m})});
    return f.llvm();
  };
  const auto by_way_of_memory = [](const std::string& code) { return code.find("part = alloca") != std::string::npos; };
  CHECK_FALSE(by_way_of_memory(code_for(100)));
  CHECK(by_way_of_memory(code_for(3000)));           // long rows hardly notice
}

#if defined(__linux__)
TEST_CASE("ends of rows read and write nothing beside them") {
  for (const Index first : {80, 100, 112})
    for (const Index m : {first, Index{65}, Index{127}, Index{70}})
      for (const bool at_end : {false, true}) {
        Graph g;
        const Expr x = g.input("x", f32, {"n", "m"}), b = g.input("b", f32, {"n"});
        const Function f = compile({tanh(x) * expand_dims(b, 1)}, {x, b}, {.threads = 1, .verify = true});
        f({counted(f32, {40, first}), counted(f32, {40})});
        const Array from = guarded(counted(f32, {3, m}), at_end), to = guarded(Array(f32, {3, m}), at_end), each = counted(f32, {3});
        f.run({from, each}, {to});
        CHECK(difference(to, interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {from, each}, {}, compiled_math)[0]) == "");
      }
}
#endif
