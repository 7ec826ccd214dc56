// The loops of the Theano document, read from the program text (tests/README.md, requirements 3, 98, 140, 151, 152, 153).
#include <weft/elemwise.h>
#include <weft/function.h>

#include "compiled.h"

using namespace weft;

namespace {

const auto product_and_sum = [](const std::vector<Expr>& a) { return std::vector<Expr>{a[0] * a[1], a[0] + a[1]}; };

// x of rank 2 and y of rank 1, in one elemwise; the program for these layouts of x and of the result of rank 2.
std::string program_of(Order order, const std::vector<ModeSpec>& modes, Order x_layout, Order z_layout) {
  Graph g("loops");
  const Expr x = g.input("x", f64, {"n", "n"}), y = g.input("y", f64, {"n"});
  auto outputs = elemwise({x, y}, order, std::vector<ModeSpec>{modes[0], accumulate(sum)}, product_and_sum);
  if (modes.size() == 1) outputs.pop_back();
  const Function f = compile(outputs, {x, y}, checked());
  std::vector<Array> results{Array(f64, {100, 100}, z_layout)};
  if (modes.size() > 1) results.emplace_back(f64, Dims{100});
  f.bind({Array(f64, {100, 100}, x_layout), Array(f64, {100})}, results);
  return f.program();
}

// A text with the letters of the axes: @ outside, $ as vectors.
std::string along(std::string text, char outside, char vectors) {
  for (char& c : text) c = c == '@' ? outside : c == '$' ? vectors : c;
  return text;
}
// y follows the outer loop, and what folds the inner one is set after it.
const std::string inner_folded = R"(program loops_0 {
  parallel @ in n {
    t2 = load %y[@]
    lanes $ in n, folds %1 by sum f64 {
      t1 = load %x[i,j]
      t0 = multiply t1 t2
      store %0[i,j] = t0
      %1 += t1
    }
    t3 = %1
    t4 = add t3 t2
    store %2[@] = t4
  }
}
)";
// y follows the inner loop.
const std::string read_again = R"(program loops_0 {
  parallel @ in n {
    lanes $ in n {
      t1 = load %x[i,j]
      t2 = load %y[$]
      t0 = multiply t1 t2
      store %0[i,j] = t0
    }
  }
}
)";

}  // namespace

TEST_CASE("order c: the output of full rank is set in the innermost loop, the accumulated one after it") {
  CHECK(program_of(Order::c, {Mode::broadcast, accumulate(sum)}, Order::c, Order::c) == along(inner_folded, 'i', 'j'));
}

TEST_CASE("order f over F contiguous arrays: the loops run from the last axis to the first") {
  CHECK(program_of(Order::f, {Mode::broadcast, accumulate(sum)}, Order::f, Order::f) == along(inner_folded, 'j', 'i'));
}

TEST_CASE("order f over C contiguous arrays: loops from the first axis to the last, the array of lesser rank is read again") {
  CHECK(program_of(Order::f, {Mode::broadcast}, Order::c, Order::c) == along(read_again, 'i', 'j'));
  CHECK(program_of(Order::f, {Mode::broadcast, accumulate(sum)}, Order::c, Order::c) == R"(program loops_0 {
  parallel j in n by 128, one unit {
    serial i in n, folds %1 by sum f64 in row0(%1) {
      lanes j in n within unit {
        t1 = load %x[i,j]
        t2 = load %y[j]
        t0 = multiply t1 t2
        store %0[i,j] = t0
        %1 += t1
      }
    }
    lanes j in n within unit {
      t4 = load row0(%1)[j]
      t5 = load %y[j]
      t3 = add t4 t5
      store %2[j] = t3
    }
  }
}
)");
}

TEST_CASE("order c over F contiguous arrays: loops from the last axis to the first") {
  CHECK(program_of(Order::c, {Mode::broadcast}, Order::f, Order::f) == along(read_again, 'j', 'i'));
}

TEST_CASE("three ranks: each output is set after the loop that folds what it lacks") {
  Graph g("ranks");
  const Expr x = g.input("x", f64, {"n", "m", "k"}), y = g.input("y", f64, {"n", "m"}), w = g.input("w", f64, {"n"});
  const auto outputs = elemwise({x, y, w}, Order::c, {Mode::broadcast, accumulate(sum), accumulate(prod)}, [](const std::vector<Expr>& a) {
    return std::vector<Expr>{a[0] * a[1] * a[2], a[0] + a[1], a[0] - a[2]};
  });
  const Function f = compile(outputs, {x, y, w}, checked());
  f.bind({Array(f64, {20, 30, 80}), Array(f64, {20, 30}), Array(f64, {20})},
         {Array(f64, {20, 30, 80}), Array(f64, {20, 30}), Array(f64, {20})});
  CHECK(f.program() == R"(program ranks_0 {
  parallel i in n {
    t4 = load %w[i]
    serial j in m, folds %5 by prod f64 {
      t2 = load %y[i,j]
      lanes k in k, folds %2 by sum f64, %4 by prod f64 {
        t1 = load %x[i,j,k]
        t0 = multiply t1 t2
        t3 = multiply t0 t4
        store %1[i,j,k] = t3
        %2 += t1
        %4 += t1
      }
      t5 = %2
      t6 = %4
      t7 = add t5 t2
      store %3[i,j] = t7
      %5 += t6
    }
    t8 = %5
    t9 = subtract t8 t4
    store %6[i] = t9
  }
}
)");
}

TEST_CASE("an accumulator starts from its unit on every outer iteration") {
  for (const Order order : {Order::c, Order::f}) {
    Graph g;
    const Expr x = g.input("x", f64, {"n", "m"}), y = g.input("y", f64, order == Order::c ? Shape{"n"} : Shape{"m"});
    const auto outputs = elemwise({x, y}, order, {accumulate(sum), accumulate(prod), accumulate(max), accumulate(min)}, [](const std::vector<Expr>& a) {
      return std::vector<Expr>{a[0] + a[1], a[0] + a[1], a[0] + a[1], a[0] + a[1]};
    });
    const Function f = compile(outputs, {x, y}, checked());
    // Falling products and maxima, rising minima: what one row leaves behind would show in the next.
    const Array rows = Array::from<double>({9, 8, 7, -1, 2, 3, 0, 1, 2}, {3, 3});
    const auto out = f({order == Order::c ? rows : rows.transpose(), Array(f64, {3})});
    CHECK(out[0].to_vector<double>() == std::vector<double>{24, 4, 3});
    CHECK(out[1].to_vector<double>() == std::vector<double>{504, -6, 0});
    CHECK(out[2].to_vector<double>() == std::vector<double>{9, 3, 2});
    CHECK(out[3].to_vector<double>() == std::vector<double>{7, -1, 0});
    // The unit alone, for every outer iteration.
    const auto empty = compile({outputs[0], outputs[1]}, {x, y}, checked())({Array(f64, order == Order::c ? Dims{2, 0} : Dims{0, 2}), Array(f64, {2})});
    CHECK(empty[0].to_vector<double>() == std::vector<double>{0, 0});
    CHECK(empty[1].to_vector<double>() == std::vector<double>{1, 1});
  }
}

TEST_CASE("equal shapes: one node, nothing is broadcast") {
  Graph g("equal");
  const Expr x = g.input("x", f64, {"n", "m"}), y = g.input("y", f64, {"n", "m"});
  const Function f = compile({x + y}, {x, y}, checked());
  CHECK(f.graph() == "graph equal(%x: f64[n,m], %y: f64[n,m]) -> (%0) {\n  %0: f64[i:n,j:m] = add(%x[i,j], %y[i,j])\n}\n");
  f.bind({Array(f64, {30, 40}), Array(f64, {30, 40})}, {Array(f64, {30, 40})});
  CHECK(f.program() == R"(program equal_0 {
  parallel i in (m)*(n) by 1024 {
    lanes i in (m)*(n) within unit {
      t1 = load %x[0,i]
      t2 = load %y[0,i]
      t0 = add t1 t2
      store %0[0,i] = t0
    }
  }
}
)");
}

TEST_CASE("an operand that is broadcast is read where it is: no memory is taken") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), row = g.input("row", f32, {"m"}), column = g.input("column", f32, {"n", 1}), one = g.input("one", f32, {});
  const Index n = 300, m = 500;
  const std::vector<Array> arrays{Array(f32, {n, m}), Array(f32, {m}), Array(f32, {n, 1}), Array(f32, {})};
  const std::vector<Expr> in{x, row, column, one};
  const auto bytes = [&](const Expr& z) {
    const Call call = compile({z}, in, checked()).bind(arrays, {Array(f32, {n, m})});
    return call.temporary_bytes() + call.scratch_bytes();
  };
  CHECK(bytes(x * row) == 0);
  CHECK(bytes(x * column) == 0);
  CHECK(bytes(row + column) == 0);
  CHECK(bytes(x + one) == 0);
  CHECK(bytes(x * broadcast_to(row, {"n", "m"})) == 0);
  CHECK(bytes(elemwise(x, row, Order::f, {Mode::broadcast}, [](Expr a, Expr b) { return a * b; })) == 0);
}

TEST_CASE("steps within lines of cache beat steps from row to row") {
  Graph g("steps");
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"});
  const Array every_second = Array(f32, {500, 600}).slice(1, 0, 300, 2);
  const Function columns = compile({sum(square(x - mean(x, Axes{0}, true)), 0)}, {x}, checked()), rows = compile({x * w}, {x, w}, checked());
  columns.bind({every_second}, {Array(f32, {300})});
  for (const char* letter : {"i", "j"}) CHECK(columns.schedule().find(concat("lanes ", letter, ":n")) == std::string::npos);
  rows.bind({every_second, Array(f32, {300})}, {Array(f32, {500, 300}, Order::f)});
  CHECK(rows.schedule().find("lanes i:n") != std::string::npos);       // the result has no gaps along i
}

TEST_CASE("few elements that lie side by side go right outside the vectors, and rows of results are written one after the other") {
  Graph g;
  const Expr x = g.input("x", f32, {4, 512, 8, 64}), planes = g.input("p", f32, {16, 2, 2, 30, 56});
  const auto loops_of = [&](const Expr& y, const Expr& of, const Dims& shape, int threads) {
    const Function f = compile({y}, {of}, {.threads = threads, .verify = true});
    f({Array(f32, shape)});
    const std::string report = f.report();
    const auto from = report.find("loops");
    return report.substr(from, report.find('\n', from) - from);
  };
  const Expr apart = permute_dims(x, {0, 2, 1, 3});                 // i: 4, j: 8, k: 512, l: 64
  CHECK(loops_of(apart, x, {4, 512, 8, 64}, 1) == "loops    i, j, k, l as vectors");
  CHECK(loops_of(apart, x, {4, 512, 8, 64}, 2) == "loops    i, j, k, l as vectors");
  CHECK(loops_of(apart, x, {4, 512, 8, 64}, 3) == "loops    k, i, j, l as vectors");        // four are not shared evenly
  const Expr pixels = permute_dims(planes, {0, 3, 1, 4, 2});        // i: 16, j: 30, k: 2, l: 56, m: 2
  CHECK(loops_of(pixels, planes, {16, 2, 2, 30, 56}, 1) == "loops    i, k, j, m, l as vectors");
}
