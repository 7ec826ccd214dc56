// Nests that slide together: what they pass to each other is never a whole array. Machines with small caches make them.
#include <random>

#include <weft/passes.h>
#include <weft/rearrange.h>

#include "bits.h"
#include "function/compile_for.h"

using namespace weft;

namespace {

Machine small_caches() {
  Machine machine = this_machine();
  machine.second_level_bytes = 65536;
  machine.third_level_bytes = 1 << 20;
  return machine;
}

Function sliding(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, int threads = 1) {
  return compile_for(small_caches(), outputs, inputs, {.threads = threads, .verify = true});
}

// Weighted neighbours along an axis.
Expr along(const Expr& x, std::size_t axis, const std::vector<float>& weights, Index step = 1) {
  Expr sum;
  const auto count = static_cast<Index>(weights.size());
  for (Index k = 0; k < count; ++k) {
    std::vector<Slice> at(axis + 1);
    at[axis] = Slice(k, k + 1 < count ? std::optional<Index>(k + 1 - count) : std::nullopt, step);
    const Expr term = x.slice(at) * weights[static_cast<std::size_t>(k)];
    sum = sum ? sum + term : term;
  }
  return sum;
}
Expr blur(const Expr& x) { return along(along(x, 1, {1, 2, 1}), 0, {1, 2, 1}); }
Expr neighbours(const Expr& x) {
  return x.slice({Slice({}, -2), Slice(1, -1)}) + x.slice({Slice(2, {}), Slice(1, -1)}) + x.slice({Slice(1, -1), Slice({}, -2)}) - x.slice({Slice(1, -1), Slice(2, {})});
}

struct Bytes {
  Index between, scratch;
};
// Of a call that gives the interpreter's bits on one thread, two and seven.
Bytes check(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Array>& arrays) {
  Bytes bytes{};
  for (int threads : {7, 2, 1}) {
    const Function f = sliding(outputs, inputs, threads);
    same_bits(f, arrays);
    const Call call = f.bind(arrays, f(arrays));
    bytes = {call.temporary_bytes(), call.scratch_bytes()};
  }
  return bytes;
}

}  // namespace

TEST_CASE("stencils of stencils have no arrays between them") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const std::vector<std::vector<Expr>> graphs{
      {neighbours(neighbours(x))},
      {neighbours(neighbours(neighbours(neighbours(x))))},
      {blur(blur(x))},
      {neighbours(x).slice({Slice(1, -1), Slice(1, -1)}) * blur(neighbours(x))},
      {neighbours(neighbours(x)), blur(neighbours(x))},
      {neighbours(neighbours(x)), mean(neighbours(exp(x)), 1)},
  };
  for (std::size_t k = 0; k < graphs.size(); ++k)
    for (const Dims& shape : {Dims{300, 40}, Dims{500, 33}, Dims{301, 128}}) {
      CAPTURE(k);
      const Bytes bytes = check(graphs[k], {x}, {uneven(f32, shape)});
      CHECK(bytes.between == 0);
      CHECK(bytes.scratch > 0);
    }
}

TEST_CASE("what is passed on is a few lines, however long the arrays are") {
  Graph g;
  const Expr x = g.input("x", f64, {"h", "w"});
  const Function f = sliding({neighbours(neighbours(x))}, {x});
  const auto scratch = [&](Index rows) {
    const Array array = uneven(f64, {rows, 40});
    return f.bind({array}, f({array})).scratch_bytes();
  };
  CHECK(scratch(2000) == scratch(4000));
  CHECK(scratch(4000) < 16384);
}

TEST_CASE("many steps slide in several parts, with whole arrays between these alone") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  Expr y = x;
  for (int step = 0; step < 12; ++step) y = neighbours(y) * 0.25f;
  const Bytes bytes = check({y}, {x}, {near_one(f32, {200, 300})});
  const Index array = 190 * 290 * 4;
  CHECK(bytes.between > array / 2);
  CHECK(bytes.between < 6 * array);
}

TEST_CASE("arrays that stay near as they are, and few rows, do not slide") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const Function f = sliding({neighbours(neighbours(x))}, {x});
  for (const Dims& shape : {Dims{8, 20}, Dims{5, 5}, Dims{6, 500}}) {
    const Array array = uneven(f32, shape);
    same_bits(f, {array});
    CHECK(f.bind({array}, f({array})).temporary_bytes() > 0);
  }
}

TEST_CASE("padded, strided and one-dimensional stencils slide; so do rows of folds, and arrays of other dtypes") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"}), v = g.input("v", f32, {"n"}), b = g.input("b", u8, {"h", "w"});
  const auto padded = [](const Expr& of) { return neighbours(pad(of, {{1, 1}, {1, 1}})); };
  const std::vector<Expr> graphs{
      padded(exp(padded(x)) / 3),
      along(exp(along(exp(x), 0, {1, 2, 3}, 2)), 0, {1, 1}, 2),
      neighbours(x / expand_dims(sum(exp(x), 1), 1)),
      neighbours(exp(neighbours(cast(b, f32)))),
      cast(neighbours(cast(neighbours(x), f64)), f16),
  };
  const Array picture = uneven(f32, {180, 70}), bytes = counted_by(u8, {180, 70}, [](Index k) { return static_cast<double>(k * 77 % 256); });
  for (const Expr& result : graphs) {
    CAPTURE(&result - graphs.data());
    check({result}, {x, b}, {picture, bytes});
  }
  for (const Index n : {1000, 5000, 20011}) check({along(exp(along(exp(v), 0, {1, 2, 3})), 0, {1, -1, 2, 1})}, {v}, {near_one(f32, {n})});
}

TEST_CASE("a result that lies upon an input is written after all of it was read") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const Expr next = neighbours(neighbours(pad(x, {{2, 2}, {2, 2}})));
  const Function f = sliding({next}, {x}, 2);
  const Array before = uneven(f32, {200, 50}), state = before.copy();
  const std::vector<Array> expected = interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {before}, {}, compiled_math);
  f.run({state}, {state});
  CHECK(difference(state, expected[0]) == "");
}

TEST_CASE("a call with a smaller picture after a larger one has buffers of its own size") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w"});
  const Function f = sliding({neighbours(exp(neighbours(x)))}, {x}, 2);
  for (const Dims& shape : {Dims{300, 200}, Dims{300, 20}, Dims{40, 200}, Dims{3000, 9}, Dims{4, 4}}) same_bits(f, {near_one(f32, shape)});
}

TEST_CASE("random chains of stencils, folds and joins") {
  std::mt19937 random(11);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  for (int k = 0; k < 25; ++k) {
    Graph g;
    const Expr x = g.input("x", f32, {"h", "w"});
    std::vector<Expr> values{x};
    for (int step = 0; step < 6; ++step) {
      const Expr& from = values[values.size() - 1 - static_cast<std::size_t>(pick(std::min<int>(2, static_cast<int>(values.size()))))];
      switch (pick(7)) {
        case 0: values.push_back(neighbours(pad(from, {{1, 1}, {1, 1}}))); break;
        case 1: values.push_back(along(pad(from, {{1, 2}, {0, 0}}), 0, {1, .5f, .25f, 2})); break;
        case 2: values.push_back(along(pad(from, {{0, 0}, {2, 0}}), 1, {1, -1, .5f})); break;
        case 3: values.push_back(from - mean(from, 1, true)); break;
        case 4: values.push_back(sigmoid(from)); break;
        case 5: values.push_back(roll(from, pick(5) - 2, 0)); break;
        default: values.push_back(from * values[static_cast<std::size_t>(pick(static_cast<int>(values.size())))]); break;
      }
    }
    std::vector<Expr> results{values.back()};
    if (pick(2)) results.push_back(sum(values[static_cast<std::size_t>(1 + pick(4))], pick(2)));
    CAPTURE(to_text(extract(g, {x}, results)));
    check(results, {x}, {near_one(f32, {90 + pick(60), 20 + pick(40)})});
  }
}
