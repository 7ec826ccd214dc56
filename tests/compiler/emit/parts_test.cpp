// Loops that ask where they are, in parts: windows and conditions on an index, along the vectors and along rows, with code for some sizes that is called
// with others. The bits of the interpreter.
#include "bits.h"
#include "code/features.h"
#include "layouts.h"

#include <weft/recurrence.h>

using namespace weft;

namespace {

struct Maker {
  const char* name;
  std::vector<Expr> (*make)(const Expr& x, const Expr& y);
};

const Maker makers[] = {
    {"torus", [](const Expr& x, const Expr&) { return std::vector{roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - x}; }},
    {"rolled far", [](const Expr& x, const Expr& y) { return std::vector{roll(x, 70, 1) * y + roll(x, -20, 0)}; }},
    {"columns joined", [](const Expr& x, const Expr& y) { return std::vector{concat({x + y, x * y, x}, 1)}; }},
    {"rows joined", [](const Expr& x, const Expr& y) { return std::vector{concat({x + y, x * y}, 0)}; }},
    {"padded", [](const Expr& x, const Expr& y) { return std::vector{pad(x * y, {{1, 2}, {3, 70}}), pad(x, {{0, 0}, {1, 0}}, is_boolean(x.dtype()) ? Value(true) : Value(3))}; }},
    {"written", [](const Expr& x, const Expr& y) { return std::vector{update(x, {Slice{1, {}}, Slice{5, -2}}, (x + y).slice({Slice{1, {}}, Slice{5, -2}}))}; }},
    {"one column, one row", [](const Expr& x, const Expr& y) { return std::vector{update(x, {Slice::all, Slice(7)}, (x + y).slice({Slice::all, Slice(3)})), update(x, {Slice(2)}, y.slice({Slice(1)}))}; }},
    {"backwards", [](const Expr& x, const Expr& y) { return std::vector{pad(flip(x + y, 1), {{0, 0}, {2, 5}}), concat({flip(x, 1), y}, 1)}; }},
    {"every second", [](const Expr& x, const Expr& y) { return std::vector{update(x, {Slice::all, Slice{1, {}, 2}}, y.slice({Slice::all, Slice{1, {}, 2}}) + x.slice({Slice::all, Slice{1, {}, 2}}))}; }},
    {"differences", [](const Expr& x, const Expr& y) { return std::vector{diff(concat({x, y}, 1), 2, 1), pad(diff(x, 1, 0), {{1, 0}, {0, 0}})}; }},
};

}  // namespace

TEST_CASE("every dtype, sizes about bounds, both layouts") {
  const std::vector<Dims> sizes = {{5, 300}, {40, 131}, {4, 16}, {3, 8}, {130, 70}};
  std::size_t turn = 0;
  for (DType dtype : loop_dtypes)
    for (const Maker& maker : makers) {
      if (is_boolean(dtype) && std::string(maker.name) != "rows joined" && std::string(maker.name) != "backwards") continue;
      CAPTURE(to_text(dtype));
      CAPTURE(maker.name);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"});
      std::vector<Expr> outputs;
      if (is_boolean(dtype)) outputs = {concat({x, !y}, 0), pad(flip(x, 1), {{1, 0}, {2, 5}})};
      else outputs = maker.make(x, y);
      const Dims first = sizes[turn++ % 2];
      const Function f = compile(outputs, {x, y}, checked(turn % 3 == 0 ? 2 : 1));
      same_bits(f, {counting(dtype, first), uniform(dtype, first)});
      for (const Dims& shape : {sizes[turn % sizes.size()], sizes[(turn + 2) % sizes.size()]}) same_bits(f, {counting(dtype, shape), uniform(dtype, shape)});
      if (turn % 4 == 0) same_bits(f, {counting(dtype, {300, 60}).transpose(), uniform(dtype, {60, 300})});
    }
}

TEST_CASE("special values keep their place, in registers of every width") {
  for (const Maker& maker : makers)
    for (int lanes : {4, 8, 16}) {
      CAPTURE(maker.name);
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
      check_bits(maker.make(x, y), {x, y}, {special(f32, {24, 203}, 1), special(f32, {24, 203}, 2)}, 1, lanes);
    }
}

TEST_CASE("code for long parts serves calls in which they are short, empty or the other way round") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "p"}), y = g.input("y", f32, {"n", "q"}), z = g.input("z", f32, {"n", "r"});
  const Function f = compile({concat({x * 2, y + 1, z}, 1), roll(concat({x, z}, 1), 1, 1)}, {x, y, z}, checked());
  for (const auto& [n, p, q, r] : std::vector<std::array<Index, 4>>{{20, 300, 200, 500}, {20, 3, 2, 1}, {1, 0, 400, 5}, {3, 500, 0, 300}, {5, 64, 16, 128}, {2, 1, 129, 1}}) {
    CAPTURE(p);
    CAPTURE(q);
    same_bits(f, {uniform(f32, {n, p}, 1), uniform(f32, {n, q}, 2), uniform(f32, {n, r}, 3)});
  }
}

TEST_CASE("conditions that users write: on a scalar of the call, either way round, under and beside each other") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "m"});
  const Expr column = iota(g, "m"), row = expand_dims(iota(g, "n"), 1), half = g.extent(floor_div(Extent("m"), 2));
  const Expr inside = logical_and(greater(column, 3), less(column, half)), edge = logical_or(less_equal(row, 1), greater(g.extent("n") - 2, row));
  const Function f = compile({where(inside, exp(x), x), where(less(half, column), 2 * x, where(edge, -x, x + 1)), where(equal(column, 9), x, 0)}, {x}, checked());
  for (const Dims& shape : {Dims{50, 400}, Dims{3, 20}, Dims{1, 1000}, Dims{40, 8}}) same_bits(f, {uniform(f64, shape)});
}

TEST_CASE("conditions on thin axes, merged axes and axes in the middle, in blocks of rows and between folds") {
  for (Index c : {2, 3, 5, 8, 16, 20}) {
    CAPTURE(c);
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m", c}), channel = iota(g, c), column = expand_dims(iota(g, "m"), 1);
    const Expr first = where(less(channel, 1), x, 2 * x), odd = where(logical_or(equal(channel, 1), greater(column, 2)), x * x, first);
    const Function f = compile({first, odd, softmax(where(less_equal(channel, 1), x, -4.0f), 2), sum(odd, 1), roll(x, 1, 2) * where(greater_equal(column, 1), x, 0)}, {x}, checked(2));
    for (const Dims& shape : {Dims{9, 70, c}, Dims{300, 3, c}, Dims{1, 5, c}, Dims{2, 800, c}}) same_bits(f, {uniform(f32, shape)});
    const Expr y = g.input("y", f32, {"k", c}), own = where(less(channel, c - 1), y, y * y);
    const Function rows = compile({own, sum(own, 1), own / sum(own * own, 1, true), max(own - mean(own, 1, true), 0)}, {y}, checked());
    for (Index k : {1, 17, 200, 4000}) same_bits(rows, {uniform(f32, {k, c})});
  }
}

TEST_CASE("rows of three axes, folds beside and scans before") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", "c"});
  const Expr y = pad(x, {{1, 1}, {1, 1}, {1, 1}});
  Expr neighbours = x * -6;
  for (int axis = 0; axis < 3; ++axis)
    for (Index from : {0, 2}) {
      std::vector<Slice> at(3, Slice{1, -1});
      at[static_cast<std::size_t>(axis)] = from == 0 ? Slice{{}, -2} : Slice{2, {}};
      neighbours = neighbours + y.slice(at);
    }
  const Function f = compile({neighbours, sum(roll(x, 1, 2) * x, 2), pad(cumulative_sum(x, 2), {{0, 0}, {0, 0}, {1, 0}}), grad(sum(square(diff(x, 1, 1))), {x})[0]}, {x}, checked(2));
  for (const Dims& shape : {Dims{4, 20, 200}, Dims{20, 3, 130}, Dims{1, 1, 5}, Dims{2, 2, 300}}) same_bits(f, {uniform(f32, shape)});
}

TEST_CASE("folds over parts: in their order, over leaves, over rows and over all") {
  for (DType dtype : {f32, f64, i32, bf16}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = roll(x, 1, 1), z = pad(x, {{0, 0}, {2, 3}});
    const Expr half = where(less(iota(g, "m"), g.extent(floor_div(Extent("m"), 2))), x, x * x);
    const Function f = compile({sum(y * x, 1), max(z, 1), sum(y - x), prod(min(z, 1) + max(half, 1)), sum(half, 0), sum(concat({half, x}, 1), 1), max(y * x)}, {x}, checked(2));
    for (const Dims& shape : {Dims{3, 9000}, Dims{20, 300}, Dims{40, 70}, Dims{5, 8}, Dims{1, 1}}) same_bits(f, {uniform(dtype, shape)});
  }
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), last = g.extent("n") - 1;
  const Function f = compile({sum(square(roll(x, 1, 0) - x)), max(where(less(iota(g, "n"), last), roll(x, -1, 0) * 2, x))}, {x}, checked(2));
  for (Index n : {30000, 5000, 130, 1}) same_bits(f, {uniform(f32, {n})});
}

TEST_CASE("triangles and bands, in every row another bound, and softmax below a diagonal") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), column = iota(g, "m"), row = expand_dims(iota(g, "n"), 1);
  const Expr causal = where(less_equal(column, row), x, -INFINITY), band = where(logical_and(less(column - 40, row), greater(column, row - 300)), x, 0);
  const Function f = compile({tril(x, 3), triu(x, -70), softmax(causal, 1), band, sum(band, 1), max(where(greater(row + 2, column), x, -1), 1), where(equal(column, row), x, 1)}, {x}, checked(2));
  for (const Dims& shape : {Dims{400, 400}, Dims{20, 700}, Dims{700, 90}, Dims{1, 5}, Dims{30, 16}}) same_bits(f, {uniform(f32, shape)});
  same_bits(f, {uniform(f32, {300, 200}).transpose()});
}

TEST_CASE("results past the caches") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  Options options = checked();
  options.cache_bytes = 1;
  const Function f = compile({concat({x + y, x * y}, 1), roll(x, 1, 0)}, {x, y}, options);
  for (const Dims& shape : {Dims{20, 512}, Dims{5, 203}, Dims{1, 4000}}) same_bits(f, {uniform(f32, shape, 1), uniform(f32, shape, 2)});
}

TEST_CASE("halves of 32 elements are parts, and loads of windows are where they are read") {
  Graph g;
  const Expr x = g.input("x", f32, {"t", "h", 64}), c = g.input("c", f32, {"t", 32}), s = g.input("s", f32, {"t", 32});
  const Expr a = x.slice({Slice::all, Slice::all, Slice{0, 32}}), b = x.slice({Slice::all, Slice::all, Slice{32, 64}}), cosine = expand_dims(c, 1), sine = expand_dims(s, 1);
  const Function f = compile({concat({a * cosine - b * sine, b * cosine + a * sine}, 2)}, {x, c, s}, checked());
  for (const auto& [t, h] : {std::pair<Index, Index>{9, 8}, {1, 1}, {3, 0}, {40, 3}}) same_bits(f, {uniform(f32, {t, h, 64}, 1), uniform(f32, {t, 32}, 2), uniform(f32, {t, 32}, 3)});
  const std::string program = f.program();
  std::size_t loops = 0;
  for (std::size_t at = 0; (at = program.find("serial j in h", at)) != std::string::npos; ++at) ++loops;
  CHECK(loops == 1);
  CHECK(program.find("whole vectors to 32 {") != std::string::npos);
  CHECK(program.find("whole vectors from 32 {") != std::string::npos);
}

TEST_CASE("rows of a few vectors, of a length that code knows: each vector knows where it is") {
  for (const DType dtype : {f32, f64, u8})
    for (const Index length : {5, 12, 16, 28, 33, 60}) {
      CAPTURE(dtype);
      CAPTURE(length);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", 3, length}), y = g.input("y", dtype, {"n", 3, length});
      for (const Expr& z : {pad(x, {{0, 0}, {1, 1}, {2, 2}}), pad(x * y, {{0, 0}, {0, 0}, {1, 0}}, 1), roll(x, 3, 2) + y, concat({x, y}, 2), flip(pad(x, {{0, 0}, {0, 0}, {0, 3}}), 2)}) {
        const Function f = compile({z}, {x, y}, checked());
        for (const Index n : {1, 0, 40}) same_bits(f, {uniform(dtype, {n, 3, length}, 1), uniform(dtype, {n, 3, length}, 2)});
      }
    }
  Graph g;
  const Expr x = g.input("x", f32, {"n", 28, 28});
  const Function f = compile({pad(x, {{0, 0}, {0, 0}, {2, 2}})}, {x}, checked());
  same_bits(f, {uniform(f32, {20, 28, 28}, 1)});
  if (has_feature(host_features(), "+avx512f")) CHECK(f.llvm().find("icmp sge <16 x i64>") == std::string::npos);
}

TEST_CASE("tiles, and rows side by side, have parts along their vectors: columns less those of the row before, concatenated, folded") {
  for (const DType dtype : {f32, f64, u8})
    for (const Index few : {3, 5, 15, 20, 31}) {
      CAPTURE(dtype);
      CAPTURE(few);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", few}), y = g.input("y", dtype, {"n", few}), w = g.input("w", dtype, {"n"}), by_row = expand_dims(w, 1);
      const std::vector<std::vector<Expr>> results = {{sum(y - roll(x, 1, 0), 0)}, {concat({x * by_row, y}, 0)}, {sum(x - roll(x, 1, 1), 1), max(y - roll(x, -1, 0), 1)}};
      for (const std::vector<Expr>& outputs : results) {
        const Function f = compile(outputs, {x, y, w}, checked());
        for (const Index n : {4000, 100, 17, 1}) same_bits(f, {uniform(dtype, {n, few}, 1), uniform(dtype, {n, few}, 2), uniform(dtype, {n}, 3)});
      }
    }
}
