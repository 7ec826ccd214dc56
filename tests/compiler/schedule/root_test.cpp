// Which nodes part because together they would lose a root.
#include "schedule/root.h"

#include "bits.h"
#include "layouts.h"
#include "rows.h"

using namespace weft;

namespace {

// Compiled as if the first level held 48 KiB, with the bits of the interpreter.
int nests_of(const std::vector<Expr>& results, const Expr& x, Index rows, Index columns, Order order = Order::c) {
  const Function f = compile_for(with_caches(1 << 24), results, {x}, {.threads = 1, .verify = true});
  const std::vector<Array> arrays{uneven(f32, {rows, columns}).copy(order)};
  same_bits(f, arrays);
  const std::string report = f.report();
  int nests = 0;
  for (std::size_t at = report.find("\n  nest "); at != std::string::npos; at = report.find("\n  nest ", at + 1)) ++nests;
  return nests;
}

}  // namespace

TEST_CASE("what runs through rows of few elements parts from what folds each column") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), largest = max(x, 0, true), least = min(x, 0, true);
  for (const Index columns : {3, 5, 10, 15}) {
    CAPTURE(columns);
    CHECK(nests_of({x - largest}, x, 5000, columns) == 2);
    CHECK(nests_of({(x - least) / (largest - least)}, x, 5000, columns) == 3);          // the differences of columns are one
    CHECK(nests_of({argmax(x, 0)}, x, 5000, columns) == 2);
    CHECK(nests_of({softmax(x, 0)}, x, 5000, columns) > 1);
    CHECK(nests_of({x - largest}, x, 70, columns) == 2);
    CHECK(nests_of({(x - least) / (largest - least)}, x, 700, columns) == 3);
    CHECK(nests_of({x - largest}, x, 5000, columns, Order::f) == 1);         // columns lie one after the other
  }
}

TEST_CASE("pixels of a few channels are folded row by row, in vectors along the rows, by nests that share no channel as their root") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w", "c"}), norm = (x - mean(x, {0, 1})) / sqrt(var(x, {0, 1}) + 1e-5);
  for (const Dims& shape : {Dims{32, 226, 8}, Dims{88, 226, 3}, Dims{300, 100, 2}, Dims{468, 64, 2}}) {
    CAPTURE(to_text(Dims(shape)));
    Graph own;
    const Expr y = own.input("y", f32, {"h", "w", shape[2]}), deviations = (y - mean(y, {0, 1})) / sqrt(var(y, {0, 1}) + 1e-5);
    for (const Expr& result : {mean(y, {0, 1}), deviations}) {
      const Function f = compile({result}, {y}, {.threads = 1, .verify = true});
      same_bits(f, {uneven(f32, shape)});
      CHECK(f.report().find(concat("tiles of ", shape[2], " elements")) != std::string::npos);
    }
    same_bits(compile({norm}, {x}, {.threads = 2, .verify = true}), {uneven(f32, shape)});
  }
}

TEST_CASE("folds down few columns run through whole rows, of few leaves too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  for (const Index columns : {2, 5, 15})
    for (const Index rows : {70, 1000, 4000}) {
      CAPTURE(columns);
      CAPTURE(rows);
      const Function f = compile({sum(x, 0), max(x, 0)}, {x}, {.threads = 1, .verify = true});
      same_bits(f, {uneven(f32, {rows, columns})});
      CHECK(f.program().find(" in n by 1024") != std::string::npos);
      CHECK(f.program().find("parallel i in " + std::to_string(columns) + " {") == std::string::npos);
    }
}
