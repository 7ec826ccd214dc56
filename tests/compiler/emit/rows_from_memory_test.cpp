// Rows of what comes from memory, whose ends alone have masks: every length, bodies small and long, beside what repeats or stays, against the interpreter.
#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Options from_memory() { return {.threads = 1, .cache_bytes = 1, .verify = true}; }

// How many loads have masks in the code of the last variant.
std::size_t masked_loads(const Function& f) {
  const std::string code = f.llvm();
  std::size_t found = 0;
  for (std::size_t at = code.find("= call", 0); at != std::string::npos; at = code.find("= call", at + 1))
    found += code.compare(code.find('@', at), 17, "@llvm.masked.load") == 0;
  return found;
}

}  // namespace

TEST_CASE("rows of every length, folded and stored, of small bodies and of long ones") {
  for (const DType dtype : {f32, f64, f16, i32}) {
    Graph g;
    const Expr y = g.input("y", dtype, {"n", "m"}), w = g.input("w", dtype, {"m"});
    const bool floats = is_floating(dtype);
    const Function plain = compile({y * w + y, sum(y * w, 1)}, {y, w}, from_memory());
    const Function gated = compile({floats ? y * sigmoid(y - w) : (y * w - y) * (y + w * w) - y * y * 3 + w}, {y, w}, from_memory());
    for (const Index m : {1, 5, 15, 16, 17, 31, 33, 63, 64, 65, 79, 100, 127, 130}) {
      const std::vector<Array> arrays{uneven(dtype, {40, m}), near_one(dtype, {m})};
      same_bits(plain, arrays);
      same_bits(gated, arrays);
    }
  }
}

TEST_CASE("what repeats and what stays goes in whole steps") {
  for (const Index few : {3, 5, 7}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", few}), u = g.input("u", f32, {"n"}), v = g.input("v", f32, {few});
    const Function f = compile({x - 0.01f * expand_dims(u, 1) * v, x * v + v}, {x, u, v}, from_memory());
    for (const Index n : {1, 7, 16, 17, 100, 5000, 20001}) same_bits(f, {uneven(f32, {n, few}), near_one(f32, {n}), near_one(f32, {few})});
  }
}

TEST_CASE("tiles of few floats come in pieces from memory, and as masked vectors in the caches") {
  if (!has_feature(host_features(), "+avx512f")) return;
  const auto masks = [](DType dtype, const Options& options) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", 20});          // longer rows than are moved as whole vectors
    const Function f = compile({x.slice({Slice::all, Slice{0, 5}}) * exp(x.slice({Slice::all, Slice{5, 10}}))}, {x}, options);
    same_bits(f, {uneven(dtype, {5000, 20})});
    return masked_loads(f);
  };
  CHECK(masks(f32, {.threads = 1}) > masks(f32, from_memory()));
}
