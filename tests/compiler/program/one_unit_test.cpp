// Short calls of small bodies are one unit, and what that folds is the result: no merge, whatever is folded, along whichever axis, to arrays of any
// order. Longer calls, and those of nothing, have code of their own, with the same bits.
#include "bits.h"
#include "layouts.h"

#include <weft/accumulator.h>
#include <weft/rearrange.h>

#include "program/one_unit.h"

using namespace weft;

namespace {

bool merges(const Function& f) { return f.program().find("merges") != std::string::npos; }
bool is_one_unit(const Function& f) { return f.program().find(", one unit {") != std::string::npos; }

}  // namespace

TEST_CASE("a short sum is one unit without a merge; longer ones and the sum of nothing merge") {
  for (const DType dtype : {f32, f64, i32, f16}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n"});
    const Function f = compile({sum(x)}, {x}, {.threads = 2, .verify = true});
    same_bits(f, {uneven(dtype, {1000})});
    CHECK(is_one_unit(f));
    CHECK_FALSE(merges(f));
    for (const Index n : {1, 15, 16, 17, 1023, 1024}) same_bits(f, {uneven(dtype, {n})});
    for (const Index n : {0, 1025, 5000}) same_bits(f, {uneven(dtype, {n})});
    CHECK(merges(f));
    for (const Index n : {1, 1000, 0, 2048}) same_bits(f, {uneven(dtype, {n})});
  }
}

TEST_CASE("a first call of nothing takes no unit for granted") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({sum(x), prod(x)}, {x}, {.threads = 1, .verify = true});
  for (const Index n : {0, 10, 0}) same_bits(f, {uneven(f32, {n})});
  CHECK(merges(f));
}

TEST_CASE("several folds of all kinds, and results beside them") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  for (const std::vector<Expr>& results : {std::vector<Expr>{sum(x * y), max(x), prod(y)}, {x - y, sum(square(x)), min(y)}, {all(x < y), any(x > y), sum(x)}}) {
    const Function f = compile(results, {x, y}, {.threads = 1, .verify = true});
    for (const Index n : {100, 1, 1024, 64, 3000, 7}) same_bits(f, {uneven(f32, {n}), uneven(f32, {n})});
  }
}

TEST_CASE("rows that units fold are stored to results that lie in any way") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d", "e"});
  for (const int axis : {0, 1, 2})
    for (const Dims& shape : {Dims{200, 3, 5}, {1, 3, 5}, {17, 64, 2}, {3, 5, 1000}, {3, 1, 1}, {4, 0, 5}}) {
      CAPTURE(axis);
      const Function f = compile({sum(x, axis), max(x, 0)}, {x}, {.threads = 1, .verify = true});
      for (const auto& [name, in] : layouts(f32, shape)) {
        const Array values = filled_like(uneven(f32, shape), in);
        same_bits(f, {values});
        const std::vector<Array> expected = f({values});
        for (const auto& [result_name, out] : layouts(f32, expected[0].shape())) {
          CAPTURE(name);
          CAPTURE(result_name);
          f.bind({values}, {out, Array(f32, expected[1].shape())})();
          CHECK(difference(out, expected[0]) == "");
        }
      }
    }
}

TEST_CASE("a large body is the same code for all lengths") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const Function f = compile({sum(erf(x) * tanh(y))}, {x, y}, {.threads = 1, .verify = true});
  same_bits(f, {uneven(f32, {100}), uneven(f32, {100})});
  CHECK(merges(f));
  const double seconds = f.compile_seconds();
  for (const Index n : {70, 140}) same_bits(f, {uneven(f32, {n}), uneven(f32, {n})});
  CHECK(f.compile_seconds() == seconds);
  same_bits(f, {uneven(f32, {5000}), uneven(f32, {5000})});
  for (const int length : {3, 40}) {
    Expr chain = x;
    for (int k = 0; k < length; ++k) chain = tanh(chain * 0.5 + y) + erf(chain);
    const Function large = compile({chain}, {x, y}, {.threads = 1, .verify = true});
    same_bits(large, {uneven(f32, {100}), uneven(f32, {100})});
    CHECK_FALSE(is_one_unit(large));
    const double once = large.compile_seconds();
    for (const Index n : {70, 140}) same_bits(large, {uneven(f32, {n}), uneven(f32, {n})});
    CHECK(large.compile_seconds() == once);
    same_bits(large, {uneven(f32, {5000}), uneven(f32, {5000})});
    CHECK_FALSE(is_one_unit(large));
  }
}

TEST_CASE("a program becomes one unit: partial results are the results, and no buffer is left of them") {
  Program program;
  program.axes.push_back({.extent = "n", .known = {.multiple = 1, .least = 1, .most = 256}});
  program.unit = 1024;
  program.buffers.resize(3);
  program.buffers[1].place = Place::result;
  program.buffers[2].place = Place::partial;
  Fold fold{};
  fold.accumulator = AccumulatorId::sum;
  fold.partial = 2;
  fold.target = 1;
  fold.result = 0;
  program.folds.push_back(fold);
  program.root.mark = Mark::units;
  program.root.var = {0, Part::tile};
  program.root.weight = 2;
  program.root.body.push_back(Store{2, {}, {0, {}}});
  Program longer = program, empty = program, large = program;
  longer.axes[0].known.most = 2048;
  empty.axes[0].known.least = 0;
  large.root.weight = 100;
  for (Program* kept : {&longer, &empty, &large}) {
    run_as_one_unit(*kept);
    CHECK_FALSE(kept->is_one_unit);
    CHECK(kept->buffers.size() == 3);
  }
  run_as_one_unit(program);
  CHECK(program.is_one_unit);
  REQUIRE(program.buffers.size() == 2);
  CHECK(std::get<Store>(program.root.body[0]).buffer == 1);
  CHECK(program.folds[0].partial == -1);
}
