// Elements of one or two bytes, and conditions: several vector steps in one register. The interpreter's bits, whatever the extents.
#include "bits.h"
#include "code/features.h"
#include "guarded.h"
#include "layouts.h"

using namespace weft;

namespace {

bool has_wide_vectors(const Function& f, const std::string& type) { return f.llvm().find("load <" + type) != std::string::npos; }

}  // namespace

TEST_CASE("elements of one and two bytes fill registers") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {u8, i8, u16, i16}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n"}), k = g.input("k", dtype, {}), m = g.input("m", bool_, {"n"});
      const std::vector<std::vector<Expr>> all{
          {x + y * 3},
          {where(maximum(x, y) > k, x, y), minimum(x, k)},
          {bitwise_xor(x & y, x | 5), ~x},
          {x << 1, y >> 2},
          {(x < y) & m, where(m, x, y - x)},
          {abs(x) - y, x == y},
          {where((x < 3) ^ (y > k), x, 7), !m},
      };
      for (std::size_t number = 0; number < all.size(); ++number) {
        CAPTURE(number);
        const Function f = compile(all[number], {x, y, k, m}, {.threads = 2, .lanes = lanes, .verify = true});
        for (const Index n : {1000, 0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 257, 4096, 20000}) {
          CAPTURE(n);
          same_bits(f, {uneven(dtype, {n}), near_one(dtype, {n}), uneven(dtype, {}), uneven(bool_, {n})});
          same_bits(f, {uneven(dtype, {2 * n}).slice(0, 0, n, 2), near_one(dtype, {n + 3}).slice(0, 3, n).flip(0), uneven(dtype, {}), uneven(bool_, {n + 1}).slice(0, 1, n)});
        }
        if (lanes == 0 && number == 0 && size_of(dtype) == 1) CHECK((has_wide_vectors(f, "64 x i8>") || has_wide_vectors(f, "32 x i8>") || has_wide_vectors(f, "16 x i8>")));
      }
    }
}

TEST_CASE("only loops of narrow elements run so") {
  Graph g;
  const Expr x = g.input("x", u8, {"n"}), y = g.input("y", f32, {"n"}), h = g.input("h", f16, {"n"});
  const auto compiled = [&](const Expr& output) {
    const Function f = compile({output}, {x, y, h}, {.threads = 1, .lanes = 8});
    same_bits(f, {uneven(u8, {1000}), uneven(f32, {1000}), uneven(f16, {1000})});
    return f;
  };
  CHECK(has_wide_vectors(compiled(x + 1), "32 x i8>"));
  CHECK_FALSE(has_wide_vectors(compiled(cast(x, f32) + y), "32 x i8>"));
  CHECK_FALSE(has_wide_vectors(compiled(h + 1), "32 x i16>"));
}

TEST_CASE("results may lie where operands do") {
  Graph g;
  const Expr x = g.input("x", u8, {"n"}), y = g.input("y", u8, {"n"});
  const Function f = compile({x + y, x - y}, {x, y}, {.threads = 1});
  for (const Index n : {64, 300, 1000}) {
    Array a = uneven(u8, {n}), b = near_one(u8, {n});
    const std::vector<Array> expected = f({a, b});
    f.bind({a, b}, {a, b})();
    CHECK(difference(a, expected[0]) == "");
    CHECK(difference(b, expected[1]) == "");
  }
}

TEST_CASE("stencils over bytes, rows and columns") {
  Graph g;
  const Expr x = g.input("x", u8, {"h", "w"});
  const auto at = [&](int i, int j) { return x.slice({Slice{i, i == 2 ? Slice{}.stop : std::optional<Index>(i - 2)}, Slice{j, j == 2 ? Slice{}.stop : std::optional<Index>(j - 2)}}); };
  Expr most = at(0, 0), sum = at(0, 0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) most = maximum(most, at(i, j)), sum = sum + at(i, j);
  const Function f = compile({most, where(sum == 3, most, sum)}, {x}, {.threads = 2, .verify = true});
  for (const Dims& d : {Dims{40, 200}, Dims{3, 3}, Dims{17, 66}, Dims{5, 131}}) same_bits(f, {uneven(u8, d)});
}

TEST_CASE("rows whose whole vectors are no multiple of four fill registers too; shorter ones do not") {
  for (const Index m : {1025, 1022, 1008, 129, 80, 65, 63, 48, 33, 20}) {
    CAPTURE(m);
    Graph g;
    const Expr x = g.input("x", u8, {40, m + 2}), least = minimum(minimum(x.slice({{}, {0, m}}), x.slice({{}, {1, m + 1}})), x.slice({{}, {2, m + 2}}));
    const Function f = compile({least}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uneven(u8, {40, m + 2})});
    if (has_feature(host_features(), "+avx512bw")) CHECK(has_wide_vectors(f, "64 x i8>") == (m >= 64));
  }
}

TEST_CASE("what is picked from rows of nine elements is so one vector at a time, of four several side by side") {
  for (const Index few : {4, 9}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", few});
    const Function f = compile({x.slice({{}, 0}) * x.slice({{}, few - 1}) + x.slice({{}, 1})}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uniform(f32, {5000, few})});
    if (has_feature(host_features(), "+avx512bw")) CHECK((f.report().find("vectors side by side") != std::string::npos) == (few == 4));
  }
}

#if defined(__linux__)
TEST_CASE("what is left of a register reads and writes no byte beside its own") {
  for (const DType dtype : {u8, i16})
    for (const Index m : {1, 15, 33, 63, 65, 100, 127, 129})
      for (const bool is_known : {false, true}) {
        CAPTURE(m);
        Graph g;
        const Shape shape = {is_known ? Extent(m) : Extent("n")};
        const Expr x = g.input("x", dtype, shape), y = g.input("y", dtype, shape);
        const Function f = compile({maximum(x, y) - minimum(x, y)}, {x, y}, {.threads = 1, .verify = true});
        for (const bool at_end : {false, true}) {
          const std::vector<Array> inputs = {guarded(uneven(dtype, {m}), at_end), guarded(near_one(dtype, {m}), at_end)};
          const Array result = guarded(uneven(dtype, {m}), at_end);
          f.run(inputs, {result});
          CHECK(difference(result, f(inputs)[0]) == "");
          same_bits(f, inputs);
        }
      }
}
#endif

// Several accumulators that fill registers, of any number of elements; and so many that units are merged.
TEST_CASE("folds without an order fill registers too") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {u8, i8, u16, i16}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n"}), m = g.input("m", bool_, {"n"});
      const std::vector<Expr> results{max(x), min(minimum(x, y)), any((x < y) & m), all(x >= y), max(where(m, x, y)), reduce(x ^ y, AccumulatorId::bitwise_xor), reduce(x | 9, AccumulatorId::bitwise_and)};
      const Function f = compile(results, {x, y, m}, {.threads = 3, .lanes = lanes, .verify = true}), one = compile({results[1]}, {x, y}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const Index n : {1, 5, 16, 63, 64, 65, 127, 200, 256, 300, 511, 1024, 1025, 4097, 8192, 8193, 40000}) {
        const auto values = [&](Index step) { return counted_by(dtype, {n}, [&](Index k) { return static_cast<double>((k * step + 3) % 100 + 5); }); };
        const Array conditions = counted_by(bool_, {n}, [&](Index k) { return static_cast<double>(k % 7 == 3 || k == n - 1); });
        same_bits(f, {values(7919), values(104729), conditions});
        same_bits(one, {values(31), values(37)});
      }
      if (lanes == 0 && has_feature(host_features(), "+avx512bw") && size_of(dtype) == 1) CHECK(has_wide_vectors(one, "64 x i8"));
    }
}

TEST_CASE("rows of bytes that are folded, and folds beside what is wider") {
  for (const DType dtype : {u8, i16}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"}), z = g.input("z", f32, {"n", "m"});
    const std::vector<Expr> inputs{x, y, z};
    const Function rows = compile({max(x, 1), any(x == y, 1), min(x - y, 1)}, {x, y}, checked(2)), columns = compile({max(x, 0), all(x > y, 0)}, {x, y}, checked(2));
    const Function beside = compile({max(x, 1), sum(z, 1), max(z, 1), any(z > 0, 1)}, {x, z}, checked(2)), both = compile({max(x, 1, true) - x, max(x)}, {x}, checked(2));
    const Expr first = expand_dims(x.slice({Slice::all, 0}), 1);           // of each row one element, in all places
    const Function stays = compile({max(maximum(first, y), 1), any(first == y, 1), max(broadcast_to(first, y.shape()), 1)}, {x, y}, checked(2));
    for (const auto& [n, m] : {std::pair<Index, Index>{3, 1}, {4, 15}, {5, 64}, {2, 100}, {7, 256}, {3, 513}, {2, 1500}, {40, 33}, {1200, 20}}) {
      const auto values = [&](DType as, Index step) { return counted_by(as, {n, m}, [&](Index k) { return static_cast<double>((k * step + 3) % 97 - (as == f32 ? 40 : 0)); }); };
      same_bits(rows, {values(dtype, 7919), values(dtype, 31)});
      same_bits(columns, {values(dtype, 7919), values(dtype, 31)});
      same_bits(beside, {values(dtype, 7919), values(f32, 31)});
      same_bits(both, {values(dtype, 7919)});
      same_bits(stays, {values(dtype, 7919), values(dtype, 5)});
    }
  }
}

TEST_CASE("bytes and conditions that are summed up in wider integers fill registers") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {u8, i8, bool_}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n"}), wide = g.input("wide", DType::i32, {"n"}), k = g.input("k", DType::i64, {});
      const std::vector<std::vector<Expr>> all{
          {sum(x)},
          {sum(x != y), sum(x)},
          {sum(cast(x, DType::i32)) + 3, max(cast(x, i16))},
          {mean(x), min(cast(y, i8)), count_nonzero(y)},
          {cast(sum(x), DType::i64) * k, sum(x & y), any(x > y)},
          {sum(where(wide > 3, x, y)), sum(wide), sum(cast(x, DType::i64) + wide)},
          {sum(x, 0, {.initial = 1})},
      };
      for (std::size_t number = 0; number < all.size(); ++number) {
        CAPTURE(number);
        const Function f = compile(all[number], {x, y, wide, k}, {.threads = 2, .lanes = lanes, .verify = true});
        for (const Index n : {1000, 0, 1, 15, 16, 17, 31, 33, 63, 64, 65, 128, 255, 257, 4096, 70000}) {
          if (number == 3 && n == 0) continue;             // of nothing there is no least
          if (number == 2 && n == 0) continue;
          CAPTURE(n);
          same_bits(f, {uneven(dtype, {n}), near_one(dtype, {n}), uneven(DType::i32, {n}), uneven(DType::i64, {})});
          same_bits(f, {uneven(dtype, {2 * n}).slice(0, 0, n, 2), near_one(dtype, {n + 3}).slice(0, 3, n).flip(0), uneven(DType::i32, {n}), uneven(DType::i64, {})});
        }
      }
      const Function f = compile({sum(x)}, {x}, {.threads = 1, .lanes = lanes});
      f({uneven(dtype, {4096})});
      if (lanes != 4) CHECK((f.llvm().find("psad.bw") != std::string::npos));
    }
}

TEST_CASE("sums of the largest and smallest bytes, of which rows and columns are short and long") {
  Graph g;
  const Expr x = g.input("x", u8, {"n", "m"}), y = g.input("y", i8, {"n", "m"});
  for (const int lanes : {0, 8}) {
    const Function f = compile({sum(x, 1), sum(y, 1), sum(x), mean(y, 1), sum(x, 0), sum(cast(y, DType::i32), 1)}, {x, y}, {.threads = 2, .lanes = lanes, .verify = true});
    for (const Index n : {3, 40})
      for (const Index m : {1, 20, 64, 100, 1000, 3000})
        for (const int value : {0, 127, 128, 255})
          same_bits(f, {counted_by(u8, {n, m}, [&](Index) { return value; }), counted_by(i8, {n, m}, [&](Index) { return value - 128; })});
  }
}

TEST_CASE("folds of blocks of rows, whose loops add to what another loop ends") {
  for (const DType dtype : {u8, i8, u16, i16, bool_})
    for (const Index few : {6, 16, 20}) {
      CAPTURE(dtype);
      CAPTURE(few);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", few}), rows = is_boolean(dtype) ? any(x, 1) : max(x, 1);
      const Function f = compile({is_boolean(dtype) ? any(rows) : max(rows)}, {x}, {.threads = 1, .verify = true});
      for (const Index n : {1, 63, 64, 100, 391}) {
        const auto whole = std::make_shared<Array>(counted_by(dtype, {n, few}, [](Index k) { return static_cast<double>(k * 7 % 101); }));
        same_bits(f, {*whole});
        same_bits(f, {Array::borrow(View(whole->data(), dtype, {n, few}, {few, 0}), whole)});       // each row has one element
      }
    }
}
