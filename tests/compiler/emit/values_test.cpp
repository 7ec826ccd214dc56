// What loops read once and what they read for every element.
#include "bits.h"
#include "compiled.h"

using namespace weft;

TEST_CASE("scalars that earlier nests made are hoisted from loops over rows; arguments, which results may overlap, are not") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), shift = g.input("shift", f32, {});
  const auto is_hoisted = [&](const Expr& result, const std::vector<Expr>& inputs) {
    const Function f = compile({result}, inputs, checked());
    std::vector<Array> arrays{uniform(f32, {300, 40}, 1), uniform(f32, {40}, 2)};
    if (inputs.size() > 2) arrays.push_back(uniform(f32, {}, 3));
    check_call(f, arrays);
    return f.llvm().find("!invariant.load") != std::string::npos;
  };
  CHECK(is_hoisted((x - (sum(x) / 7 + 1)) * w, {x, w}));
  CHECK_FALSE(is_hoisted((x - shift) * w, {x, w, shift}));
}
