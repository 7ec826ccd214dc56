// Operands that lie across the vector loop are read in tiles of sixteen by sixteen: all sizes about that, every size of element, tails,
// several such operands, in nests of three axes, against the interpreter.
#include "bits.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 1009 - 400); });
}

}  // namespace

TEST_CASE("a transposed operand of any size and dtype has the bits of the interpreter") {
  for (DType dtype : {f32, f64, f16, u8, i64, bool_})
    for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 1}, {15, 40}, {16, 16}, {17, 33}, {32, 15}, {48, 64}, {50, 131}, {130, 18}}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"m", "n"}), y = g.input("y", f32, {"n", "m"});
      check_bits({cast(permute_dims(x, {1, 0}), f32) + y, permute_dims(x, {1, 0})}, {x, y}, {counted(dtype, {m, n}), counted(f32, {n, m})});
    }
}

TEST_CASE("tiles with values per row and per column, several operands across, offsets and reversed rows") {
  for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{40, 70}, {33, 16}, {16, 100}}) {
    Graph g;
    const Expr x = g.input("x", f32, {"m", "n"}), z = g.input("z", f32, {"m", "n"}), w = g.input("w", f32, {"n"}), v = g.input("v", f32, {"m"}), y = g.input("y", f32, {"n", "m"});
    const Expr scaled = permute_dims(x, {1, 0}) * expand_dims(w, 1) + v / expand_dims(exp(w), 1);
    const std::vector<Array> arrays{counted(f32, {m, n}), counted(f32, {m, n}), counted(f32, {n}), counted(f32, {m}), counted(f32, {n, m})};
    check_bits({scaled, permute_dims(x - z, {1, 0}) * y}, {x, z, w, v, y}, arrays, 3);
    check_bits({scaled + y}, {x, w, v, y}, {Array(arrays[0].flip(0)), arrays[2], arrays[3], arrays[4]});
    check_bits({scaled + y}, {x, w, v, y}, {Array(counted(f32, {m + 3, n + 5}).slice(0, 2, m).slice(1, 4, n)), arrays[2], arrays[3], arrays[4]});
  }
}

TEST_CASE("tiles inside nests of three axes, and results in the memory of an operand") {
  Graph g;
  const Expr x = g.input("x", f32, {"k", "m", "n"}), y = g.input("y", f32, {"k", "n", "m"});
  check_bits({permute_dims(x, {0, 2, 1}) + y}, {x, y}, {counted(f32, {3, 37, 50}), counted(f32, {3, 50, 37})});
  const Expr p = g.input("p", f32, {"a", "b", "c"});
  check_bits({permute_dims(p, {2, 1, 0}) * 2.0f, permute_dims(p, {1, 2, 0}) + 1.0f}, {p}, {counted(f32, {20, 18, 35})});

  Graph h;
  const Expr a = h.input("a", f32, {"n", "n"}), b = h.input("b", f32, {"n", "n"});
  const Function f = compile({permute_dims(a, {1, 0}) - b}, {a, b}, {.threads = 2, .verify = true});
  for (Index n : {16, 45}) {
    const Array first = counted(f32, {n, n}), second = counted(f32, {n, n}), expected = f({first, second})[0];
    Array shared = counted(f32, {n, n});
    f.run({first, shared}, {shared});                       // element for element
    CHECK(difference(shared, expected) == "");
    Array across = counted(f32, {n, n});
    f.run({across, second}, {across});                      // across: computed elsewhere, then copied
    CHECK(difference(across, expected) == "");
  }
}

TEST_CASE("scans along the last axis go in tiles, forwards and backwards, beside folds and with results across") {
  for (DType dtype : {f32, f64, f16, i32, u8})
    for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 40}, {15, 16}, {16, 32}, {33, 17}, {70, 5}, {1040, 19}}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"});
      const Array data = counted(dtype, {n, m});
      check_bits({cumulative_sum(x, 1)}, {x}, {data});
      check_bits({flip(cumulative_sum(flip(x, 1), 1), 1), cumulative_prod(x, 1), sum(x, 1)}, {x}, {data}, 3);
      check_bits({cumulative_sum(x, 1)}, {x}, {Array(counted(dtype, {n + 3, m + 5}).slice(0, 2, n).slice(1, 4, m).flip(1))});
      check_bits({permute_dims(cumulative_sum(x, 1), {1, 0})}, {x}, {data});
    }
  Graph g;
  const Expr x = g.input("x", f32, {"n", 32});
  const Expr product = prod(x, 1);
  check_bits({product, grad(sum(product), {x})[0]}, {x}, {counted(f32, {77, 32})}, 3);
}

TEST_CASE("folds of operands in two layouts go in tiles: along the vectors, along the other axis, over both") {
  for (DType dtype : {f32, f64, f16, i32, u8})
    for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 40}, {15, 16}, {16, 32}, {33, 17}, {50, 131}, {70, 5}, {18, 1040}, {1040, 19}, {20, 2100}}) {
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"m", "n"}), t = permute_dims(y, {1, 0});
      const std::vector<Array> arrays{counted(dtype, {n, m}), counted(dtype, {m, n})};
      check_bits({sum(x * t)}, {x, y}, arrays);
      check_bits({sum(x * t, 1), max(x - t, 1)}, {x, y}, arrays, 3);
      check_bits({sum(x * t, 0), min(x, 0), sum(x + t)}, {x, y}, arrays);
    }
}

TEST_CASE("several loops over the rows of a tile, each reading across, with values between them") {
  for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 40}, {16, 16}, {33, 17}, {50, 131}, {19, 1040}}) {
    Graph g;
    const Expr x = g.input("x", f32, {"m", "n"}), y = g.input("y", f32, {"n", "m"}), t = permute_dims(x, {1, 0});
    const std::vector<Array> arrays{counted(f32, {m, n}), counted(f32, {n, m})};
    check_bits({t - mean(t, {1}, true), y * 2.0f}, {x, y}, arrays);
    check_bits({softmax(t + y), softmax(t)}, {x, y}, arrays, 3);
    check_bits({var(t * y, 1), var(t * y, 0), permute_dims(y - max(t, {1}, true), {1, 0})}, {x, y}, arrays);
  }
}

TEST_CASE("large bodies go through squares in memory: operands and results that lie across, backwards too, values by row and by column") {
  for (DType dtype : {f32, f64, f16})
    for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 40}, {15, 40}, {16, 16}, {17, 33}, {50, 131}, {130, 18}}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"m", "n"}), y = g.input("y", dtype, {"n", "m"}), w = g.input("w", dtype, {"n"}), v = g.input("v", dtype, {"m"});
      const Expr t = permute_dims(x, {1, 0}) * 0.001, r = permute_dims(flip(x, 1), {1, 0}) * 0.002;
      const Expr large = tanh(t * y) + exp(t - r) * sigmoid(y * 0.01 + v) * expand_dims(w, 1);
      const std::vector<Array> arrays{counted(dtype, {m, n}), counted(dtype, {n, m}), counted(dtype, {n}), counted(dtype, {m})};
      const Function f = check_bits({large, permute_dims(large, {1, 0})}, {x, y, w, v}, arrays, 3);
      check_bits({large}, {x, y, w, v}, {Array(arrays[0].flip(0)), Array(arrays[1].flip(1)), arrays[2], arrays[3]});
      if (n > 16 && m > 16) CHECK(f.llvm().find("square") != std::string::npos);
    }
}

TEST_CASE("squares go side by side where vectors do, of any number of elements") {
  Graph g;
  const Expr x = g.input("x", f32, {"m", "n"}), y = g.input("y", f32, {"n", "m"});
  const Function f = compile({tanh(transpose(x) * 0.01) * y}, {x, y}, {.threads = 1, .verify = true});
  for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{64, 128}, {16, 64}, {64, 100}, {40, 63}, {33, 129}, {7, 64}})
    same_bits(f, {counted(f32, {m, n}), counted(f32, {n, m})});
  f({counted(f32, {128, 64}), counted(f32, {64, 128})});
  CHECK(f.report().find(" vectors side by side, squares of 16 elements of i transposed in memory\n") != std::string::npos);
}

TEST_CASE("folds over the rows of a large body go on from square to square") {
  for (DType dtype : {f32, f64})
    for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{1, 40}, {17, 15}, {33, 17}, {50, 131}, {1030, 18}, {20, 1040}}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"}), w = g.input("w", dtype, {"m"});
      const Expr large = tanh(x * 0.003) * sigmoid(y * 0.01) + exp(x * -0.001) * w;
      const std::vector<Array> arrays{counted(dtype, {n, m}).copy(Order::f), counted(dtype, {n, m}).copy(Order::f), counted(dtype, {m})};
      const Function f = check_bits({large, sum(large, 1), max(large * y, 1), sum(large * x)}, {x, y, w}, arrays, 3);
      if (n > 16 && m > 16 && n < 1030) CHECK(f.llvm().find("square") != std::string::npos);
      check_bits({large, sum(large, 0), min(large, 0)}, {x, y, w}, arrays);
    }
}

TEST_CASE("what tiles leave over of a known axis is a narrower tile, in large arrays: transposes, running sums, backwards, on any threads") {
  for (const DType dtype : {f32, f64, f16, u8})
    for (const Index d : {18, 20, 31, 33, 46}) {
      CAPTURE(dtype);
      CAPTURE(d);
      const Index n = 65536 / d + 9;
      Graph g;
      const Expr x = g.input("x", dtype, {"n", d}), y = g.input("y", dtype, {d, "n"});
      const std::vector<Array> arrays{counted(dtype, {n, d}), counted(dtype, {d, n})};
      check_bits({permute_dims(x, {1, 0}) + y, cumulative_sum(x, 1), exp(permute_dims(y, {1, 0})) * x}, {x, y}, arrays, 3);
      check_bits({cumulative_sum(permute_dims(y, {1, 0}), 1) + x, flip(cumulative_sum(flip(x, 1), 1), 1)}, {x, y}, arrays);
      check_bits({permute_dims(x, {1, 0}) + y}, {x, y}, {Array(arrays[0].flip(0)), Array(arrays[1].flip(0))}, 2);
    }
}

TEST_CASE("narrower tiles are for axes of known extent, of arrays that are worth the code") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 20});
  const auto goes_one_by_one = [&](Index n) {
    const Function f = compile({cumulative_sum(x, 1)}, {x}, {.threads = 1, .verify = true});
    f({counted(f32, {n, 20})});
    return f.llvm().find("\nserial") != std::string::npos;
  };
  CHECK_FALSE(goes_one_by_one(4000));
  CHECK(goes_one_by_one(400));
}
