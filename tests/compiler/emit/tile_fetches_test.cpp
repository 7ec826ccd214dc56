// What tiles and squares fetch while they work: the next ones of their rows, what lies beside them, what they store.
#include "emit/emit.h"

#include <doctest/doctest.h>

#include "rows.h"

using namespace weft;

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

TEST_CASE("scans along long rows take sixteen rows at a time, and fetch what comes to the same rows next; along short ones what comes to later rows") {
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype);
    const auto bytes = static_cast<Index>(size_of(dtype));
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"});
    const auto compiled = [&](const Expr& result, Index columns, std::size_t inputs = 1) {
      const std::vector<Expr> all{x, y};
      const Function f = compile({result}, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(inputs)}, checked());
      same_bits(f, std::vector<Array>(inputs, near_one(dtype, {4000, columns})));
      return f;
    };
    const auto in_sixteens = [](const Function& f) { return f.schedule().find("parallel i:n by 16 ") != std::string::npos; };
    const Function along = compiled(cumulative_sum(x, 1), 2048 / bytes);
    CHECK(in_sixteens(along));
    CHECK(fetches_later(along.llvm(), 8 * 64 / bytes, static_cast<std::size_t>(bytes)));                      // 128 lines later
    CHECK(in_sixteens(compiled(cumulative_prod(x, 1), 512 / bytes)));
    CHECK(in_sixteens(compiled(cumulative_sum(x * y, 1), 256 / bytes, 2)));                                   // of both arrays
    const Function shorter = compiled(cumulative_sum(x, 1), 448 / bytes);
    CHECK_FALSE(in_sixteens(shorter));
    CHECK_FALSE(fetches_later(shorter.llvm(), 2 * 64 / bytes, static_cast<std::size_t>(bytes)));
    CHECK_FALSE(in_sixteens(compiled(cumulative_sum(x, 0), 2048 / bytes)));
  }
}

TEST_CASE("few elements at a time of rows that lie apart fetch four lines ahead, unless the second level holds all") {
  for (const DType dtype : {f32, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m", 7});
    const auto code = [&](Index m, Index second_level) {
      Machine machine;
      machine.second_level_bytes = static_cast<double>(second_level);
      const Function f = compile_for(machine, {cumulative_sum(x, 1)}, {x}, checked());
      same_bits(f, {near_one(dtype, {130, m, 7})});
      return f.llvm();
    };
    const Index bytes = 130 * 100 * 7 * static_cast<Index>(size_of(dtype));
    CHECK(code(100, bytes - 1).find(", i64 256") != std::string::npos);
    CHECK(code(100, bytes).find(", i64 256") == std::string::npos);
    CHECK(code(2, 100).find(", i64 256") == std::string::npos);            // rows side by side
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
  CHECK(fetches(code(250, Order::c)) == 2 * along - 6);     // ten rows are left of the last tile
  CHECK(code(256, Order::f).find(", i64 256\n") != std::string::npos);      // of blocks of four vectors, in which the columns lie along
  Machine keeps_up;
  keeps_up.tile_fetch_bytes = 4 * 200 * 256;
  for (const Index columns : {256, 260}) {
    const Function f = compile_for(keeps_up, {1.5 * x + y}, {x, y}, checked());
    const Array array = near_one(f32, {200, columns}).copy(Order::f);
    same_bits(f, {array, array});
    CHECK((f.llvm().find(", i64 256\n") != std::string::npos) == (columns > 256));              // larger arrays
  }
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
