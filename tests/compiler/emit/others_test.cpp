// Compiled products of all other elements: the interpreter's bits along the vectors and across them, in place and through rows.
#include <limits>

#include <weft/rearrange.h>

#include "bits.h"
#include "layouts.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return 0.75 + static_cast<double>(k * 7919 % 211) / 400; });
}

std::vector<Expr> with_gradient(const Expr& x, int axis) {
  const Expr products = prod(x, {axis});
  return {products, grad(sum(products), {x})[0]};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every number of elements, along the vectors and across them") {
  for (Index count = 2; count <= 64; count += count < 20 || count > 60 ? 1 : 7) {
    CAPTURE(count);
    const DType dtype = count % 2 == 0 ? f32 : f64;
    Graph g;
    const Expr rows = g.input("rows", dtype, {"n", count}), columns = g.input("columns", dtype, {count, "n"});
    std::vector<Expr> outputs = with_gradient(rows, 1);
    for (const Expr& output : with_gradient(columns, 0)) outputs.push_back(output);
    const Function f = compile(outputs, {rows, columns}, checked());
    for (const Index n : {37, 1, 0, 64}) check_call(f, {counted(dtype, {n, count}), counted(dtype, {count, n})});
  }
}

TEST_CASE("every layout, of input and results") {
  for (const DType dtype : {f32, f64})
    for (const Index count : {5, 32, 33}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", count});
      const Function f = compile(with_gradient(x, 1), {x}, checked());
      const Array values = counted(dtype, {50, count});
      const std::vector<Array> expected = f({values});
      for (const auto& [from, view] : layouts(dtype, {50, count}))
        for (const auto& [to, result] : layouts(dtype, {50, count})) {
          CAPTURE(from);
          CAPTURE(to);
          Array product(dtype, {50});
          f.bind({filled_like(values, view)}, {product, result})();
          CHECK(difference(product, expected[0]) == "");
          CHECK(difference(result, expected[1]) == "");
        }
    }
}

TEST_CASE("ranks, axes and threads") {
  for (const int threads : {1, 3}) {
    Graph g;
    const Expr x = g.input("x", f32, {6, "n", 20}), v = g.input("v", f64, {40});
    std::vector<Expr> outputs = with_gradient(v, 0);
    for (const int axis : {0, 2})
      for (const Expr& output : with_gradient(x, axis)) outputs.push_back(output);
    const Function f = compile(outputs, {x, v}, checked(threads));
    for (const Index n : {1, 19, 700}) check_call(f, {counted(f32, {6, n, 20}), counted(f64, {40})});
  }
}

TEST_CASE("elements that are computed, results that are read, and both") {
  for (const DType dtype : {f32, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", 24}), w = g.input("w", dtype, {24}), s = g.input("s", dtype, {"n"});
    const Expr y = sqrt(x * w + 1) + 0.5;
    const Expr loss = sum(prod(y, {1}) * s) + sum(square(prod(x, {1})));
    const Expr slope = grad(sum(prod(x, {1})), {x})[0];
    const Function f = compile({loss, grad(loss, {x})[0], slope * x - expand_dims(s, 1), slope / sum(slope, 1, true)}, {x, w, s}, checked());
    for (const Index n : {3, 17, 200}) check_call(f, {counted(dtype, {n, 24}), counted_by(dtype, {24}, [](Index k) { return 0.01 * static_cast<double>(k % 5); }), counted(dtype, {n})});
  }
}

TEST_CASE("what is searched for an index may be a row in registers") {
  for (const Index count : {5, 24, 37})
    for (const Index axis : {0, 1})
      for (const int lanes : {0, 8}) {
        CAPTURE(count);
        CAPTURE(axis);
        Graph g;
        const Expr x = g.input("x", f64, axis == 0 ? Shape{count, "n"} : Shape{"n", count}), limit = g.input("limit", f64, {"n"});
        const Expr products = grad(sum(prod(x, {static_cast<int>(axis)})), {x})[0], none = g.constant(std::numeric_limits<std::int64_t>::max());
        const Expr index = axis == 0 ? expand_dims(iota(g, count), 1) : iota(g, count), limits = axis == 0 ? limit : expand_dims(limit, 1);
        for (const Index n : {1, 5, 8, 16, 40})
          check_bits({min(where(products == limits, index, none), static_cast<int>(axis)), argmax(products, {static_cast<int>(axis)})}, {x, limit},
                     {counted(f64, axis == 0 ? Dims{count, n} : Dims{n, count}), counted(f64, {n})}, 2, lanes);
      }
}

TEST_CASE("the gradient of a gradient") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 9});
  const Expr slope = grad(sum(prod(x, {1})), {x})[0];
  const Function f = compile({slope, grad(sum(slope * slope), {x})[0]}, {x}, checked());
  for (const Index n : {2, 40}) check_call(f, {counted(f64, {n, 9})});
}

TEST_CASE("arrays are read and written in place along the vectors, and the product comes with the others") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 32});
  const Function f = compile(with_gradient(x, 1), {x}, checked());
  check_call(f, {counted(f32, {100, 32})});
  CHECK(has(f.program(), "= product of others along j of %x[i,j]"));
  CHECK(!has(f.program(), "row"));
  CHECK(!has(f.program(), "folds"));
  Graph h;
  const Expr y = h.input("y", f32, {32, "n"});
  const Function across = compile(with_gradient(y, 0), {y}, checked());
  check_call(across, {counted(f32, {32, 1000})});
  CHECK(has(across.program(), "= product of others along j of %y[j,i]"));
  CHECK(!has(across.program(), "row"));
  check_call(across, {counted(f32, {32, 1024})});
  // Lines of a column 4096 bytes apart are written by rows of scratch.
  const Function apart = compile(with_gradient(y, 0), {y}, checked());
  check_call(apart, {counted(f32, {32, 1024})});
  CHECK(has(apart.program(), "row"));
}

TEST_CASE("in rows of scratch whose loops are long, and in registers where they are short") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 32});
  const Expr y = x + 1;
  Expr longer = x;
  for (int k = 0; k < 40; ++k) longer = sqrt(longer * x + 1);
  for (const Expr& element : {y, longer}) {
    const Function f = compile({grad(sum(prod(element, {1})), {x})[0]}, {x}, checked());
    check_call(f, {counted(f32, {100, 32})});
    check_call(f, {counted(f32, {1, 32})});
  }
}

TEST_CASE("more loops than one function has") {
  std::string text = "graph chain(%x: f32[n,20]) -> (%59) {\n  %0: f32[i:n,j:20] = copy(%x[i,j])\n  %1: f32[i:n,j:20] = others(j) prod(%x[i,j])\n";
  for (int k = 2; k < 60; k += 2)
    text += concat("  %", k, ": f32[i:n,j:20] = fma(%", k - 1, "[i,j], 0.0078125, %x[i,j])\n  %", k + 1, ": f32[i:n,j:20] = others(j) prod(%", k, "[i,j])\n");
  const Function f = compile_text(text + "}\n");
  check_call(f, {counted(f32, {40, 20})});
  const std::string program = f.program();
  int loops = 0;
  for (auto at = program.find("lanes j"); at != std::string::npos; at = program.find("lanes j", at + 1)) ++loops;
  CHECK(loops > 24);
}

TEST_CASE("products along an axis that some kept axis is not read along") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 6}), s = g.input("s", f64, {"n", "n", 6});
  const Expr wide = expand_dims(x, 0) + 0.0 * s;
  const Expr products = prod(broadcast_to(expand_dims(x, 0), s.shape()), {2});
  const Function f = compile({products, grad(sum(products * sum(s, 2)), {x})[0], prod(wide, {2})}, {x, s}, checked());
  check_call(f, {counted(f64, {9, 6}), counted(f64, {9, 9, 6})});
}

TEST_CASE("an input that the gradient overwrites is refused or right") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 32});
  const Function f = compile({x * 2, grad(sum(prod(x, {1})), {x})[0]}, {x}, checked());
  const Array values = counted(f32, {40, 32});
  const std::vector<Array> expected = f({values});
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    std::vector<Array> results{Array(f32, {40, 32}), Array(f32, {40, 32})};
    Array shared = values.copy();
    results[which] = shared;
    try {
      f.bind({shared}, results)();
    } catch (const Error&) {
      CHECK(difference(shared, values) == "");                // nothing was written
      continue;
    }
    for (std::size_t k = 0; k < 2; ++k) CHECK(difference(results[k], expected[k]) == "");
  }
}
