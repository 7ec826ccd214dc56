// Short rows that are folded and then done with: several side by side, each with accumulators of its own; against the interpreter, to the bit.
#include <cmath>

#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [&](Index k) { return is_floating(dtype) ? static_cast<double>(k * 7919 % 1009) / 500 - 1 : static_cast<double>(k * 7919 % 13); });
}

// Whole blocks of rows, several and fewer than several left over; rows of whole vectors, of parts, and of both.
const std::vector<Index> counts{64, 67, 70, 131, 1024}, lengths{0, 1, 17, 20, 32, 47, 64, 100, 128};

}  // namespace

TEST_CASE("sums, products and dot products of short rows") {
  for (const Index rows : counts)
    for (const Index length : lengths) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"});
      check_bits({sum(x * w, 1), prod(x, 1), sqrt(sum(square(x), 1))}, {x, w}, {counted(f32, {rows, length}), counted(f32, {length})});
    }
}

TEST_CASE("maxima and minima of short rows, some with NaN, infinities or zeros of both signs") {
  const std::vector<double> specials{std::nan(""), HUGE_VAL, -HUGE_VAL, 0.0, -0.0};
  for (const DType dtype : {f32, f64, f16})
    for (const Index length : {1, 16, 17, 20, 32, 33, 100})
      for (const int lanes : {0, 8}) {
        CAPTURE(dtype);
        CAPTURE(length);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "m"});
        const Function f = compile({max(x, 1), min(x, 1), max(abs(x), 1) + sum(x, 1)}, {x}, {.threads = 2, .lanes = lanes, .verify = true});
        for (const Index rows : {64, 131, 1000})
          for (const bool zeros : {false, true})
            same_bits(f, {counted_by(dtype, {rows, length}, [&](Index k) {
              if (k * 31 % 97 < 3) return specials[static_cast<std::size_t>(k % 5)];
              return zeros ? (k / 7 % 2 == 0 ? 0.0 : -0.0) : static_cast<double>(k * 7919 % 1009) / 500 - 1;
            })});
      }
}

TEST_CASE("rows of other dtypes, folds without an order, logical ones") {
  for (const DType dtype : {f64, f16, bf16, DType::i32, DType::u8})
    for (const Index length : {17, 64, 100}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"});
      check_bits({sum(x, 1), any(x, 1), count_nonzero(x, 1)}, {x}, {counted(dtype, {133, length})});
    }
}

// Whole vectors of these are moved where a row has a part of one; behind it lies another slot.
TEST_CASE("sums of rows that end anywhere, element by element, of what zeros have no value of") {
  for (const DType dtype : {f32, f64, f16})
    for (const Index length : {1, 7, 15, 16, 17, 31, 33, 63, 130})
      for (const int lanes : {0, 4}) {
        CAPTURE(dtype);
        CAPTURE(length);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "m"}), w = g.input("w", dtype, {"m"});
        const Expr z = sum(x * w, 1);
        const Function f = compile({z, sum(log(x) * expand_dims(z, 1), 0), prod(1 / x, 0)}, {x, w}, {.threads = 2, .lanes = lanes, .verify = true});
        const auto positive = [](Index k) { return static_cast<double>(k * 7919 % 1009 + 900) / 1400; };
        for (const Index rows : {3, 16, 67, 1100}) same_bits(f, {counted_by(dtype, {rows, length}, positive), counted(dtype, {length})});
      }
}

TEST_CASE("registers of any width, any number of threads") {
  for (const int lanes : {4, 8, 16})
    for (const int threads : {1, 3}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"});
      check_bits({log1p(square(sum(x * w, 1)))}, {x, w}, {counted(f32, {515, 50}), counted(f32, {50})}, threads, lanes);
    }
}

TEST_CASE("code made for short rows is right for rows of many leaves") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), y = sum(x * w, 1);
  const Function f = compile({y}, {x, w}, {.threads = 2, .verify = true});
  for (const Index length : {20, 1024, 1025, 5000, 0}) {
    const std::vector<Array> arrays{counted(f32, {70, length}), counted(f32, {length})};
    CHECK(difference(f(arrays)[0], expected_of(f, arrays)[0]) == "");
  }
}

TEST_CASE("rows of values that are read again end in whole vectors") {
  for (const Index rows : {5, 64, 131})
    for (const Index length : {17, 20, 33, 100}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), e = exp(x - max(x, 1, true)), centred = x - mean(x, 1, true);
      check_bits({e / sum(e, 1, true), centred * rsqrt(mean(square(centred), 1, true) + 1e-5f)}, {x}, {counted(f32, {rows, length})});
    }
}

TEST_CASE("long rows go in blocks of eight, less than a vector: values, folds, results, and what is left over") {
  for (const int lanes : {0, 4, 8})
    for (const Index length : {513, 600, 1000, 1024}) {
      CAPTURE(lanes);
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), y = g.input("y", f32, {"n"});
      const Function f = compile({layer_norm(x, w, w), logsumexp(x, 1), var(x, {1}) * y, any(x, 1)}, {x, w, y}, {.threads = 2, .lanes = lanes, .verify = true});
      for (const Index rows : {16, 8, 7, 1, 33, 9, 0}) {
        same_bits(f, {counted(f32, {rows, length}), counted(f32, {length}), counted(f32, {rows})});
        if (rows == 16) CHECK(f.report().find("as vectors over 8 rows") != std::string::npos);
      }
    }
  for (const DType dtype : {f64, f16}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"});
    for (const Index rows : {8, 13, 64}) check_bits({var(x, {1})}, {x}, {counted(dtype, {rows, 1100})});
  }
}

TEST_CASE("what is folded over long rows too has whole slots: sixteen rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), deviation = sqrt(var(x, {1}));
  const Function f = compile({sum(deviation), sum(x / expand_dims(deviation, 1), 0)}, {x}, {.threads = 2, .verify = true});
  for (const Index rows : {64, 50, 3, 1100}) {
    same_bits(f, {counted(f32, {rows, 600})});
    CHECK(f.report().find("as vectors over 8 rows") == std::string::npos);
  }
}

// Vectors side by side go into a leaf: three of them do not, though they may go into the row.
TEST_CASE("rows of more than a leaf, of a length that the graph knows") {
  for (const int lanes : {0, 4, 8})
    for (const Index length : {1040, 1056, 1104, 1200, 1248, 1328, 2064, 2096, 3120}) {
      CAPTURE(length);
      Graph g;
      const Expr x = g.input("x", f32, {7, length}), w = g.input("w", f32, {7, length}), y = g.input("y", f64, {7, length});
      check_bits({sum(x * w, 1), prod(1 + x / 1024, 1), sum(exp(x), 1), logsumexp(w, 1)}, {x, w}, {counted(f32, {7, length}), counted(f32, {7, length})}, 2, lanes);
      check_bits({sum(y, 1), softmax(y, 1)}, {y}, {counted(f64, {7, length})}, 2, lanes);
      check_bits({sum(x * w, 1)}, {x, w}, {counted(f32, {7, length}), counted(f32, {7, length})}, 1, lanes);
    }
}

TEST_CASE("the same of operands that repeat, and of rows that others hold") {
  for (const Index length : {1104, 1200, 1248}) {
    Graph g;
    const Expr x = g.input("x", f32, {length, 3}), w = g.input("w", f32, {3}), y = g.input("y", f32, {67, length});
    check_bits({sum(x * w)}, {x, w}, {counted(f32, {length, 3}), counted(f32, {3})});
    check_bits({sum(expand_dims(relu(permute_dims(x, {1, 0})), 2) * permute_dims(y, {1, 0}), 1)}, {x, y}, {counted(f32, {length, 3}), counted(f32, {67, length})});
  }
}

TEST_CASE("long rows of several sums go two by two: even and odd numbers of them, any threads, results upon operands") {
  const auto goes_two_by_two = [](const Function& f) { return f.report().find("2 elements of i together") != std::string::npos; };
  for (const DType dtype : {f32, f64})
    for (const int threads : {1, 2}) {
      CAPTURE(dtype);
      CAPTURE(threads);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "d"}), gamma = g.input("gamma", dtype, {"d"}), beta = g.input("beta", dtype, {"d"});
      const Function f = compile({layer_norm(x, gamma, beta), var(x, 1)}, {x, gamma, beta}, {.threads = threads, .verify = true});
      const auto inputs = [&](Index n, Index d) { return std::vector<Array>{uniform(dtype, {n, d}, 1), uniform(dtype, {d}, 2), uniform(dtype, {d}, 3)}; };
      for (const auto& [n, d] : {std::pair<Index, Index>{301, 901}, {1, 901}, {2, 901}, {3, 256}, {300, 1000}, {5, 3}, {0, 7}, {7, 2100}}) {
        CAPTURE(n);
        CAPTURE(d);
        same_bits(f, inputs(n, d));
        if (n == 301) CHECK(goes_two_by_two(f) == has_feature(host_features(), "+avx512f"));
      }
      const std::vector<Array> arrays = inputs(301, 901), expected = f(arrays);
      f.run(arrays, {arrays[0], Array(dtype, {301})});
      CHECK(difference(arrays[0], expected[0]) == "");
    }
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), centred = x - mean(x, 1, true), unit = x / norm(x, 1, true);
  const auto on = [&](const Expr& result, Index n, Index d, Index cache_bytes = Options().cache_bytes) {
    const Function f = compile({result}, {x}, {.threads = 1, .cache_bytes = cache_bytes, .verify = true});
    same_bits(f, {uniform(f32, {n, d}, 4)});
    return goes_two_by_two(f);
  };
  const Expr normal = centred / sqrt(mean(square(centred), 1, true));
  CHECK(on(normal, 300, 900) == has_feature(host_features(), "+avx512f"));
  CHECK_FALSE(on(normal, 300, 900, 1));         // put together into lines past the caches, row by row
  CHECK_FALSE(on(normal, 20, 900));             // soon done
  CHECK_FALSE(on(normal, 30, 4000));            // two rows do not stay in the first level
  CHECK_FALSE(on(normal, 1000, 100));
  CHECK_FALSE(on(unit, 300, 900));              // one sum
}
