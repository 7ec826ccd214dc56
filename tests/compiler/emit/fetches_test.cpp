// How far ahead the loops over rows fetch, in the caches and in memory.
#include "emit/fetches.h"

#include <doctest/doctest.h>

#include "rows.h"

using namespace weft;

namespace {

// What is fetched lies as many rows ahead as the stride of a row is multiplied by.
bool fetches(const Function& f, Index rows_ahead) {
  const std::string code = f.llvm();
  CHECK(code.find("llvm.prefetch") != std::string::npos);
  return code.find(concat("mul i64 ", rows_ahead, ", %")) != std::string::npos;
}

bool fetches_near(const Function& f) { return f.llvm().find("i32 0, i32 3, i32 1)") != std::string::npos; }
bool fetches_far(const Function& f) { return f.llvm().find("i32 0, i32 2, i32 1)") != std::string::npos; }

bool fetches_anything(const Function& f) { return f.llvm().find("llvm.prefetch") != std::string::npos; }

// Blocks of code, which are set apart by empty lines.
int blocks_that_fetch(const Function& f) {
  const std::string code = f.llvm();
  int blocks = 0;
  for (std::size_t at = code.find("call void @llvm.prefetch"); at != std::string::npos; at = code.find("call void @llvm.prefetch", code.find("\n\n", at))) ++blocks;
  return blocks;
}

}  // namespace

TEST_CASE("loops over rows fetch the next row; in memory, where that pays, so many ahead that these are 8192 bytes or more") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), shares = softmax(x, 1);
  for (const Index length : {1000, 1024, 5000}) CHECK(fetches(on_rows(shares, x, 70, length, with_caches(1 << 24)), 1));
  CHECK(fetches(on_rows(shares, x, 70, 100, with_caches(1 << 24)), 64));       // in blocks
  CHECK(fetches(on_rows(shares, x, 70, 100, with_caches(1000)), 21));
  CHECK(fetches(on_rows(shares, x, 70, 1000, with_caches(1000)), 3));
  CHECK(fetches(on_rows(shares, x, 70, 1024, with_caches(1000)), 2));
  CHECK(fetches(on_rows(shares, x, 70, 5000, with_caches(1000)), 1));
  CHECK_FALSE(fetches(on_rows(shares, x, 70, 5000, with_caches(1000)), 2));
  Machine machine = with_caches(1000);
  machine.row_bytes_ahead = next_row;
  for (const Index length : {100, 1000}) CHECK(fetches(on_rows(shares, x, 70, length, machine), 1));
}

TEST_CASE("of several loops over a row the last one fetches all where rows are fetched from memory further ahead, else they share them") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), unit = x / of_row(sqrt(sum(square(x), 1)));
  Machine next = with_caches(1000);
  next.row_bytes_ahead = next_row;
  const int last = blocks_that_fetch(on_rows(unit, x, 70, 1024, with_caches(1000))), shared = blocks_that_fetch(on_rows(unit, x, 70, 1024, next));
  CHECK(last > 0);
  CHECK(shared > last);
}

TEST_CASE("rows that are summed up themselves fetch the next ones too, one by one") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), weighted = sum(x * of_row(tanh(sum(x, 1))), 0);
  CHECK(fetches(on_rows(weighted, x, 70, 1000, with_caches(1000)), 3));
}

TEST_CASE("short rows that are folded fetch those that are 128 further, where the processor's own fetching falls behind") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  Machine machine = with_caches(1000);
  const auto compiled = [&](double fetch_bytes, const Expr& folded, Index length, Index rows = 20000) {
    machine.fetch_bytes = fetch_bytes;
    return on_rows(folded, x, rows, length, machine);
  };
  for (const Expr& folded : {sum(x, 0), max(x, 0), any(x > 1, 0), mean(square(x), 0)}) {
    for (const Index length : {17, 31}) CHECK(fetches(compiled(1000, folded, length), 128));
    CHECK_FALSE(fetches_anything(compiled(1 << 26, folded, 31)));
  }
  CHECK(fetches(compiled(1000, sum(x, 0), 512, 6000), 128));
  CHECK_FALSE(fetches_anything(compiled(1000, sum(x, 0), 513, 6000)));
}

TEST_CASE("what ends where it finds something fetches nothing, and what comes before it shares with it nothing") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  for (const double third_level : {1000, 1 << 24}) {
    CHECK_FALSE(fetches_anything(on_rows(argmax(x, 1), x, 70, 1000, with_caches(third_level))));
    CHECK(fetches_anything(on_rows(softmax(x, 1), x, 70, 1000, with_caches(third_level))));
  }
}

TEST_CASE("loops over blocks of 64 rows fetch the next block; in memory, beside results that go there, the one after it too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), norm = sqrt(sum(square(x), 1)), unit = x / of_row(norm);
  CHECK(fetches(on_rows(unit, x, 200, 64, with_caches(1 << 24)), 64));
  CHECK_FALSE(fetches(on_rows(unit, x, 200, 64, with_caches(1 << 24)), 128));
  CHECK(fetches(on_rows(unit, x, 200, 64, with_caches(1000)), 64));
  CHECK(fetches(on_rows(unit, x, 200, 64, with_caches(1000)), 128));
  const Expr weighted = sum(x * of_row(softplus(norm)), 0);       // small
  CHECK(fetches(on_rows(weighted, x, 200, 64, with_caches(1000)), 64));
  CHECK_FALSE(fetches(on_rows(weighted, x, 200, 64, with_caches(1000)), 128));
}

TEST_CASE("what comes next of rows and of blocks goes to the first level if that has room beside 28 KiB; the block after the next does not") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), shares = softmax(x, 1);
  CHECK(fetches_near(on_rows(shares, x, 70, 1000, with_caches(1000, (28 << 10) + 12000))));
  CHECK_FALSE(fetches_far(on_rows(shares, x, 70, 1000, with_caches(1000, (28 << 10) + 12000))));
  CHECK(fetches_far(on_rows(shares, x, 70, 1000, with_caches(1000, (28 << 10) + 11999))));
  CHECK_FALSE(fetches_near(on_rows(shares, x, 70, 1000, with_caches(1000, (28 << 10) + 11999))));
  CHECK_FALSE(fetches_near(on_rows(shares, x, 70, 1000, with_caches(1 << 24, 32 << 10))));
  CHECK(fetches_near(on_rows(shares, x, 70, 1000, with_caches(1 << 24, 33 << 10))));
  const Expr norm = sqrt(sum(square(x), 1)), unit = x / of_row(norm);
  CHECK(fetches_near(on_rows(unit, x, 200, 64, with_caches(1 << 24, 44 << 10))));
  CHECK_FALSE(fetches_near(on_rows(unit, x, 200, 64, with_caches(1 << 24, (44 << 10) - 1))));
  CHECK(fetches_far(on_rows(unit, x, 200, 64, with_caches(1000, 1 << 20))));
}

TEST_CASE("units of columns that memory holds fetch the next unit of each, if they are few") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), away = x - mean(x, 1, true), unit = away / sqrt(mean(square(away), 1, true));
  const auto fetches_unit = [&](Index columns, double third_level) {
    const Function f = compile_for(with_caches(third_level, 32 << 10), {unit}, {x}, {.threads = 1, .lanes = 16, .verify = true});
    const std::vector<Array> arrays{uneven(f32, {4000, columns}).copy(Order::f)};
    const Array result(f32, {4000, columns}, Order::f);
    f.run(arrays, {result});
    CHECK(f.report().find("by 64") != std::string::npos);
    return fetches_anything(f);
  };
  CHECK(fetches_unit(32, 1000));
  CHECK(fetches_unit(128, 1000));
  CHECK_FALSE(fetches_unit(129, 1000));
  CHECK_FALSE(fetches_unit(32, 1 << 24));
}

TEST_CASE("what runs backwards fetches the next row too, and beside stores past the caches what lies before it") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"n"});
  const Function shares = compile_for(with_caches(1 << 24), {softmax(x, 1)}, {x}, {.threads = 1, .verify = true});
  same_bits(shares, {uneven(f32, {70, 1000}).flip(1)});
  CHECK(fetches(shares, 1));
  const Function half = compile_for(with_caches(1 << 24, 32 << 10), {y * 0.5}, {y}, {.threads = 1, .cache_bytes = 1, .verify = true});
  same_bits(half, {uneven(f32, {5000}).flip(0)});
  CHECK(half.llvm().find("i64 -4096\n") != std::string::npos);
}

TEST_CASE("beside stores past the caches few arrays are fetched into the first level, more into the second, nearer; so are folds") {
  Graph g;
  std::vector<Expr> inputs;
  std::vector<Array> arrays;
  for (int count = 1; count <= 6; ++count) {
    inputs.push_back(g.input(concat("x", count), f32, {"n"}));
    arrays.push_back(uneven(f32, {5000}));
    Expr total = inputs[0];
    for (const Expr& x : inputs) total = total * 0.5 + x;
    for (const int most : {2, 4}) {
      const Machine machine = with_caches(1 << 24, (28 << 10) + most * 2048);
      const Function f = compile_for(machine, {total}, inputs, {.threads = 1, .cache_bytes = 1, .verify = true});
      same_bits(f, arrays);
      CHECK(fetches_near(f) == (count <= most));
      CHECK(fetches_far(f) == (count > most));
      const Index ahead = count > most ? 1024 : std::min(4096, most * 2048 / count / 64 * 64);
      CHECK(f.llvm().find(concat("i64 ", ahead, "\n")) != std::string::npos);
    }
    Machine machine = with_caches(1 << 24);
    machine.fetch_bytes = 1;
    const Function fold = compile_for(machine, {sum(total)}, inputs, {.threads = 1, .verify = true});
    same_bits(fold, arrays);
    CHECK(fetches_far(fold));
    CHECK_FALSE(fetches_near(fold));
  }
}

TEST_CASE("scans whose units are runs of rows fetch four rows ahead; those of whole rows, and what folds down columns, do not") {
  const auto code = [&](const DType dtype, bool scans, bool reversed, Index columns, int threads) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "d"});
    const Expr y = reversed ? flip(cumulative_sum(flip(x, {0}), 0), {0}) : cumulative_sum(x, 0);
    const Function f = compile({scans ? y : sum(x, 0)}, {x}, {.threads = threads, .verify = true});
    same_bits(f, {uneven(dtype, {200, columns})});
    return f.llvm();
  };
  const auto fetches = [](const std::string& text) { return text.find("llvm.prefetch") != std::string::npos; };
  for (const DType dtype : {f32, f64}) {
    CHECK(code(dtype, true, false, 1000, 2).find("mul i64 4, %") != std::string::npos);
    CHECK(code(dtype, true, true, 1000, 2).find("mul i64 -4, %") != std::string::npos);
    CHECK(fetches(code(dtype, true, false, 1000, 2)));
    CHECK_FALSE(fetches(code(dtype, true, false, 1000, 1)));
    CHECK_FALSE(fetches(code(dtype, false, false, 1000, 2)));
    CHECK_FALSE(fetches(code(dtype, true, false, 60, 2)));
  }
}

TEST_CASE("of windows of an array only what is furthest ahead fetches") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), image = g.input("image", f32, {"h", "w"});
  const auto fetched = [](const Function& f, const Array& array) {
    f({array});
    const std::string code = f.llvm();
    int count = 0;
    for (std::size_t at = code.find("call void @llvm.prefetch"); at != std::string::npos; at = code.find("call void @llvm.prefetch", at + 1)) ++count;
    return count;
  };
  Expr taps, cross;
  for (Index k = 0; k < 8; ++k) {
    const Expr tap = x.slice({Slice(k, k == 7 ? std::optional<Index>() : std::optional<Index>(k - 7))}) * static_cast<float>(k + 1);
    taps = k == 0 ? tap : taps + tap;
  }
  for (Index k = 0; k < 3; ++k) {
    const auto part = [](Index from) { return Slice(from, from == 2 ? std::optional<Index>() : std::optional<Index>(from - 2)); };
    for (const Expr& each : {image.slice({part(k), part(1)}), image.slice({part(1), part(k)})}) cross = cross.is_empty() ? each : cross + each;
  }
  const Options past_caches{.threads = 1, .lanes = 16, .cache_bytes = 1, .verify = true};
  const int of_one = fetched(compile({x * 2.0f}, {x}, past_caches), uneven(f32, {5000})), of_taps = fetched(compile({taps}, {x}, past_caches), uneven(f32, {5000}));
  CHECK(of_one > 0);
  CHECK(of_taps == of_one);
  const Array pixels = uneven(f32, {40, 500});
  const int of_image = fetched(compile({image * 2.0f}, {image}, past_caches), pixels), of_cross = fetched(compile({cross}, {image}, past_caches), pixels);
  CHECK(of_image > 0);
  CHECK(of_cross <= of_image);
}
