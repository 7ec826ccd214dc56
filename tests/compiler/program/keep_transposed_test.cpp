// Arrays that lie across and are read by several loops: transposed once, kept in rows. Bits of the interpreter.
#include <weft/recurrence.h>

#include "bits.h"
#include "layouts.h"
#include "occurrences.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 100 - 1; });
}

}  // namespace

TEST_CASE("the second loop over an array that lies across reads rows, forwards or backwards") {
  for (const DType dtype : {f32, f64})
    for (const Index n : {5, 16, 63, 64, 200, 5000}) {
      CAPTURE(n);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", 80});
      const Expr products = prod(x, 1);
      const Function f = check_bits({products, grad(sum(products), {x})[0]}, {x}, {counted(dtype, {n, 80})});
      if (n == 5000) {
        CHECK(occurrences(f.program(), "= load %x[") == 1);
        CHECK(f.program().find("(%x)[j,i] = t") != std::string::npos);
        CHECK(f.program().find("(%x)[79-j,i]") != std::string::npos);
      }
    }
}

TEST_CASE("several arrays, three axes, one that is read once") {
  for (const Index n : {3300, 3317}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", 12}), y = g.input("y", f32, {"n", 12}), z = g.input("z", f32, {"n", 12});
    const Expr e = exp(x * y - max(x + y, 1, true));
    const Function f = check_bits({e / sum(e * z, 1, true), sum(tanh(x), 1)}, {x, y, z}, {counted(f32, {n, 12}), counted(f32, {n, 12}), counted(f32, {n, 12})});
    for (const char* name : {"x", "y", "z"}) CHECK(occurrences(f.program(), concat("= load %", name, "[")) == 1);
    const Expr a = g.input("a", f32, {"n", 4, 12});
    check_bits({softmax(a, 2), softmax(a, 1)}, {a}, {counted(f32, {n / 3, 4, 12})});
  }
}

TEST_CASE("what is stored over whole rows reads these as they lie, though their folds are transposed") {
  for (const DType dtype : {f32, f64})
    for (const Index few : {9, 10, 12, 15})
      for (const Index n : {1, 17, 3300, 4096}) {
        CAPTURE(few);
        CAPTURE(n);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", few});
        const Function f = check_bits({x - mean(x, 1, true)}, {x}, {counted(dtype, {n, few})});
        if (n >= 3300) CHECK(occurrences(f.program(), "= load %x[") == 2);
      }
}

TEST_CASE("a loop that reads an element of rows that it has yet to write reads it from the array") {
  const Accumulator hash = Accumulator::fold("hash", 1, [](Expr s, Expr x) { return s * 3 + x; });
  for (const DType dtype : {i32, i64})
    for (const Index n : {20, 64, 97, 700}) {
      CAPTURE(n);
      Graph g;
      const Expr x = g.input("x", dtype, {n, 32, 3}), y = x + x.slice({{}, {28, 29}});
      check_bits({scan(y, hash, 1)}, {x}, {counted(dtype, {n, 32, 3})});
      check_bits({cumulative_sum(y, 1), max(y, 1)}, {x}, {counted(dtype, {n, 32, 3})});
    }
}

TEST_CASE("loops over parts of an array read these where they are") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 48});
  const auto part = [&](Index start, Index count) { return x.slice({{}, {start, start + count}}); };
  const Array values = counted(f32, {4000, 48});
  for (const auto& [first, second] : std::vector<std::pair<Expr, Expr>>{{part(0, 12), part(12, 12)}, {part(0, 12), part(28, 12)}, {part(0, 12), x}, {part(8, 12), part(0, 12)}, {x, part(3, 12)}}) {
    const Function f = check_bits({softmax(first, 1), softmax(second, 1)}, {x}, {values});
    if (f.program().find(" in 48 ") == std::string::npos) CHECK(f.program().find("lanes i in n") != std::string::npos);      // whole rows are longer
  }
}

TEST_CASE("two or three loops over parts of two arrays, forwards and backwards, chosen at random") {
  SeededSource random(11);
  const std::vector<Array> values = {counted(f32, {3000, 40}), counted(f32, {3000, 40})};
  for (int turn = 0; turn < 24; ++turn) {
    CAPTURE(turn);
    Graph g;
    const std::vector<Expr> arrays = {g.input("x", f32, {"n", 40}), g.input("y", f32, {"n", 40})};
    const auto part = [&](Index extent) {
      const Expr& array = arrays[static_cast<std::size_t>(random.chance(70) ? 0 : 1)];
      const Index start = random.chance(40) ? 0 : std::min(random.pick<Index>({1, 5, 16}), 40 - extent);
      const Expr taken = array.slice({{}, {start, start + extent}});
      return random.chance(30) ? flip(taken, 1) : taken;
    };
    std::vector<Expr> outputs;
    const int loops = random.pick<int>({2, 3});
    for (int loop = 0; loop < loops; ++loop) {
      const Index extent = random.pick<Index>({24, 33, 40});
      const Expr a = part(extent), b = random.chance(50) ? part(extent) : a;
      outputs.push_back(random.chance(50) ? softmax(a, 1) * b : sum(exp(a - max(b, 1, true)) * b, 1));
    }
    check_bits(outputs, arrays, values);
  }
}

TEST_CASE("the result may lie upon the array") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 12});
  const Function f = compile({softmax(x, 1)}, {x}, {.threads = 2, .verify = true});
  const Array values = counted(f32, {4000, 12}), expected = f({values})[0];
  CHECK(occurrences(f.program(), "= load %x[") == 1);
  f.run({values}, {values});
  CHECK(difference(values, expected) == "");
}

TEST_CASE("an array that does not lie across is read where it is") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 20});
  const Function f = compile({softmax(x, 1)}, {x}, {.threads = 1, .verify = true});
  const Array turned(f32, {4000, 20}, Order::f);
  copy_elements(counted(f32, {4000, 20}), turned);
  f.run({turned}, {Array(f32, {4000, 20}, Order::f)});
  CHECK(f.program().find("(%x)") == std::string::npos);
  CHECK(occurrences(f.program(), "= load %x[") >= 2);
}

TEST_CASE("what an outer loop would read again for each of its elements is transposed before it") {
  Graph g;
  const Expr p = g.input("p", f32, {"n", 6}), r = g.input("r", f32, {5, 6});
  const Function f = compile({sum(expand_dims(p, 1) * r, 2)}, {p, r}, {.threads = 2, .verify = true});
  for (const Index n : {4096, 100, 1}) same_bits(f, {counted(f32, {n, 6}), counted(f32, {5, 6})});
  same_bits(f, {counted(f32, {4096, 6}), counted(f32, {5, 6})});
  const std::string program = f.program();
  CHECK(occurrences(program, "= load %p[") == 1);
  CHECK(program.find("= load %p[") < program.find("serial j"));
  for (const auto& outputs : {std::vector<Expr>{sum(expand_dims(p, 1) * r, 2), p * 2}, {sum(expand_dims(p, 1) * r, 2) + sum(p, 1, true)}}) {
    const Function more = compile(outputs, {p, r}, {.threads = 2, .verify = true});
    for (const Index n : {4096, 33}) same_bits(more, {counted(f32, {n, 6}), counted(f32, {5, 6})});
  }
}

TEST_CASE("rows of a few elements that loops read again for many others are transposed before these, all of them at once") {
  for (const Index few : {2, 3, 4}) {
    CAPTURE(few);
    Graph g;
    const Expr x = g.input("x", f32, {"n", few}), y = g.input("y", f32, {"m", few}), w = g.input("w", f32, {"n"});
    const Expr apart = expand_dims(x, 1) - expand_dims(y, 0), squares = sum(square(apart), 2);
    const Function nearest = check_bits({min(squares, 1), argmin(squares, 1)}, {x, y}, {counted(f32, {300, few}), counted(f32, {170, few})});
    CHECK(occurrences(nearest.program(), "= load %x[i,") == 1);
    for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {64, 3}, {65, 17}, {7, 0}})
      if (m > 0) same_bits(nearest, {counted(f32, {n, few}), counted(f32, {m, few})});
    const Expr between = expand_dims(x, 0) - expand_dims(x, 1), r2 = sum(square(between), 2) + 1e-3f;
    const Function forces = check_bits({sum(between * expand_dims(w / (r2 * sqrt(r2)), 2), 1)}, {x, w}, {counted(f32, {200, few}), counted(f32, {200})});
    CHECK(occurrences(forces.program(), "= load %x[i,") == 1);
    same_bits(forces, {counted(f32, {33, few}), counted(f32, {33})});
  }
}
