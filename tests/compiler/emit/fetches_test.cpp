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
  const Expr norm = sqrt(sum(square(x), 1)), unit = x / of_row(norm);
  CHECK(fetches_near(on_rows(unit, x, 200, 64, with_caches(1 << 24, 44 << 10))));
  CHECK_FALSE(fetches_near(on_rows(unit, x, 200, 64, with_caches(1 << 24, (44 << 10) - 1))));
  CHECK(fetches_far(on_rows(unit, x, 200, 64, with_caches(1000, 1 << 20))));
}

TEST_CASE("units of columns that memory holds fetch the next unit of each, if the first level holds it") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), away = x - mean(x, 1, true), unit = away / sqrt(mean(square(away), 1, true));
  const auto fetches_unit = [&](Index columns, double third_level) {
    const Function f = compile_for(with_caches(third_level, 32 << 10), {unit}, {x}, {.threads = 1, .lanes = 16, .verify = true});
    const std::vector<Array> arrays{uneven(f32, {4000, columns}).copy(Order::f)};
    const Array result(f32, {4000, columns}, Order::f);
    f.run(arrays, {result});
    CHECK(f.report().find("by 64") != std::string::npos);
    const std::string code = f.llvm();
    return code.find("llvm.prefetch") != std::string::npos;
  };
  CHECK(fetches_unit(32, 1000));
  CHECK(fetches_unit(128, 1000));
  CHECK_FALSE(fetches_unit(129, 1000));
  CHECK_FALSE(fetches_unit(32, 1 << 24));
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

// The last byte of a line of the sixteen elements of a row that so many elements of it lie before.
static bool fetches_later(const std::string& code, Index elements, std::size_t bytes) {
  return code.find(concat(", i64 ", elements * static_cast<Index>(bytes) + 63)) != std::string::npos;
}

TEST_CASE("tiles fetch the next one of their rows, or one at least 128 lines later, or in the next block; of rows longer than a part of the second level, along them") {
  const auto code = [](const std::vector<Expr>& results, const std::vector<Expr>& inputs, Index rows, Index columns, const std::vector<Order>& orders, const Machine& machine = {}) {
    const Function f = compile_for(machine, results, inputs, checked());
    std::vector<Array> arrays;
    for (std::size_t k = 0; k < inputs.size(); ++k) arrays.push_back(near_one(inputs[k].dtype(), {rows, columns}).copy(orders[k]));
    same_bits(f, arrays);
    return f.llvm();
  };
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"}), away = x - mean(x, 1, true), unit = away / sqrt(mean(square(away), 1, true));
    const std::size_t bytes = size_of(dtype);
    const auto sums = [&](Index columns, const Machine& machine = {}) { return code({1.5 * x + y}, {x, y}, 64, columns, {Order::f, Order::c}, machine); };
    CHECK(fetches_later(sums(1024), 16, bytes));
    CHECK(fetches_later(sums(128), 16, bytes));
    CHECK(fetches_later(sums(100), 32, bytes));
    CHECK(fetches_later(sums(40), 64, bytes));
    Machine small;
    small.second_level_bytes = static_cast<double>(4 * 16 * bytes * 500);
    CHECK(fetches_later(sums(500, small), 16, bytes));
    CHECK_FALSE(fetches_later(sums(501, small), 16, bytes));
    // Columns 16 KiB apart are of few sets of the second level: what lies in the third comes from there.
    const auto pages = static_cast<Index>((16 << 10) / bytes);
    Machine in_memory;
    in_memory.third_level_bytes = 1000;
    CHECK_FALSE(fetches_later(code({1.5 * x + y}, {x, y}, pages, 128, {Order::f, Order::c}), 16, bytes));
    CHECK(fetches_later(code({1.5 * x + y}, {x, y}, pages, 128, {Order::f, Order::c}, in_memory), 16, bytes));
    CHECK(fetches_later(code({1.5 * x + y}, {x, y}, pages + 1, 128, {Order::f, Order::c}), 16, bytes));
    CHECK(fetches_later(code({unit}, {x}, 200, 100, {Order::f}), dtype == f32 ? 64 : 32, bytes));          // in blocks of so many rows
    // A long body works on squares of them.
    CHECK(fetches_later(code({sigmoid(x) * tanh(y), tanh(x) * sigmoid(y)}, {x, y}, 64, 128, {Order::f, Order::f}), 16, bytes));
  }
}

TEST_CASE("beside tiles short rows fetch that of the next tile, and blocks of tiles the next vectors of a row") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const auto code = [&](Index columns, Order second) {
    const Function f = compile({1.5 * x + y}, {x, y}, checked());
    const Array made(f32, {200, columns});
    f.run({near_one(f32, {200, columns}).copy(Order::f), near_one(f32, {200, columns}).copy(second)}, {made});
    same_bits(f, {near_one(f32, {200, columns}).copy(Order::f), near_one(f32, {200, columns}).copy(second)});
    return f.llvm();
  };
  const auto fetches = [](const std::string& text) {
    int count = 0;
    for (std::size_t at = text.find("call void @llvm.prefetch"); at != std::string::npos; at = text.find("call void @llvm.prefetch", at + 1)) ++count;
    return count;
  };
  const int along = fetches(code(260, Order::c));            // the tiles, and their rest
  CHECK(along == 2 * fold_slots);
  CHECK(fetches(code(250, Order::c)) == 2 * along);
  CHECK(code(256, Order::f).find(", i64 256\n") != std::string::npos);      // of blocks of four vectors, in which the columns lie along
  // Rows side by side, of which nothing is transposed.
  const Expr w = g.input("w", f32, {"m"});
  const Function dots = compile({sum(x * w, 1)}, {x, w}, checked());
  same_bits(dots, {uneven(f32, {200, 250}), uneven(f32, {250})});
  CHECK(fetches(dots.llvm()) == 0);
}

TEST_CASE("rows of squares fetch what the row stores in the next ones, unless its lines crowd a set of the first level") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  for (const auto& [columns, fetched] : {std::pair<Index, bool>{1024, false}, {1028, false}, {1100, true}, {100, true}}) {
    const Function f = compile({sigmoid(x) * tanh(y), tanh(x) * sigmoid(y)}, {x, y}, checked());
    same_bits(f, {uneven(f32, {64, columns}).copy(Order::f), near_one(f32, {64, columns}).copy(Order::f)});
    CHECK((f.llvm().find(", i32 1, i32 3, i32 1)") != std::string::npos) == fetched);
  }
}
