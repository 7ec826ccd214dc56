// Float sums and products over rows, such as those over a middle axis: strips of columns, in eight passes over the sixteen slots, in four of few columns. The
// interpreter's bits, whatever the rows and columns.
#include "bits.h"
#include "layouts.h"
#include "rows.h"

#include "schedule/cost_model.h"

using namespace weft;

namespace {

bool walks_columns(const Function& f) { return f.report().find(", slots in registers") != std::string::npos; }

}  // namespace

TEST_CASE("sums over a middle axis have the bits of the interpreter") {
  for (const int lanes : {0, 4, 8})
    for (const Index first : {100, 64, 50}) {
      CAPTURE(lanes);
      CAPTURE(first);
      Graph g;
      const Expr x = g.input("x", f32, {"a", "b", "c"}), y = g.input("y", f32, {"a", "b", "c"});
      const Options options{.threads = 2, .lanes = lanes, .verify = true};
      const Function sums = compile({sum(x, 1)}, {x, y}, options), products = compile({sum(x * y, 1) * 2}, {x, y}, options), both = compile({sum(x, 1), prod(y, 1)}, {x, y}, options);
      const auto call = [&](const Dims& shape) {
        for (const Function* f : {&sums, &products, &both}) same_bits(*f, {uneven(f32, shape), near_one(f32, shape)});
      };
      call({5, first, 100});
      if (lanes != 4) CHECK(walks_columns(sums));
      if (lanes != 4) CHECK(walks_columns(products));
      for (const Index b : {1, 2, 4, 15, 16, 17, 31, 32, 33, 99, 100, 112, 1000, 1024, 1025, 2100})
        for (const Index c : {1, 7, 16, 33, 64}) call({2, b, c});
      call({0, 20, 20});
      call({3, 0, 20});
      call({3, 20, 0});
    }
}

TEST_CASE("they run down the columns, in eight passes") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", "c"});
  const auto compiled = [&](const Expr& e, const Dims& shape) {
    const Function f = compile({e}, {x}, {.threads = 1});
    f({uneven(f32, shape)});
    return f;
  };
  CHECK(walks_columns(compiled(sum(x, 1), {5, 100, 100})));
  CHECK(walks_columns(compiled(prod(abs(x), 1), {5, 48, 64})));
  CHECK_FALSE(walks_columns(compiled(sum(x, 1), {5, 100, 1024})));      // too far apart
  CHECK_FALSE(walks_columns(compiled(sum(x, 1), {5, 2000, 4})));        // more than a leaf
  CHECK_FALSE(walks_columns(compiled(max(x, 1), {5, 100, 100})));       // no slots
  CHECK_FALSE(walks_columns(compiled(sum(exp(x), 1), {5, 100, 100})));  // of more than its code is worth
}

TEST_CASE("sums over few rows of a matrix, with what they store for later loops") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b"}), centred = x - mean(x, 0, true), spread = sqrt(mean(square(centred), 0, true) + 1e-5);
  for (const int lanes : {0, 8}) {
    const Options options{.threads = 2, .lanes = lanes, .verify = true};
    const Function sums = compile({sum(x, 0), prod(x, 0)}, {x}, options), normal = compile({centred / spread}, {x}, options), both = compile({exp(x), sum(exp(x), 0)}, {x}, options);
    for (const Index rows : {1, 16, 17, 20, 31, 32, 48, 64, 65, 1030})
      for (const Index columns : {1, 40, 1000, 1024, 2500})
        for (const Function* f : {&sums, &normal, &both}) same_bits(*f, {near_one(f32, {rows, columns})});
    same_bits(sums, {near_one(f32, {20, 3001})});
    same_bits(normal, {near_one(f32, {20, 3001})});
  }
  const auto walks = [&](const Expr& e, const Dims& shape) {
    const Function f = compile({e}, {x}, {.threads = 1});
    f({near_one(f32, shape)});
    return walks_columns(f);
  };
  CHECK(walks(sum(x, 0), {20, 800}));              // of more the rows are a number
  CHECK(walks(centred / spread, {30, 500}));
  CHECK_FALSE(walks(sum(x, 0), {20, 4096}));       // written out
  CHECK(walks(sum(x, 0), {64, 3000}));
  CHECK(walks(sum(x, 0), {64, 4096}));
  CHECK_FALSE(walks(sum(x, 0), {80, 4096}));       // more lines than a set has
  CHECK(walks(sum(x, 0), {40, 300000}));
}

TEST_CASE("products, squares and means down columns, in any layout") {
  for (const DType dtype : {f32, f64, f16}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"a", "b", "c"});
    const Dims shape{3, 40, 36};
    const Array values = near_one(dtype, shape);
    for (const Expr& e : {prod(x, 1), mean(x * x, 1), sum(x, 1) - 1, sum(x * 3, 0)}) {
      const Function f = compile({e}, {x}, {.threads = 1, .verify = true});
      same_bits(f, {values});
      for (const auto& [name, view] : layouts(dtype, shape)) {
        CAPTURE(name);
        same_bits(f, {filled_like(values, view)});
      }
    }
  }
}

TEST_CASE("NaN, infinities and zeros down columns") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", "c"});
  const Function f = compile({sum(x, 1)}, {x}, {.threads = 1, .verify = true});
  for (const double special : {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0})
    same_bits(f, {counted_by(f32, {3, 50, 100}, [&](Index k) { return special == 0 ? -0.0 : k % 977 == 5 ? special : static_cast<double>(k % 11); })});
  CHECK(walks_columns(f));
}

TEST_CASE("rows a large power of two apart go by slots") {
  CHECK(columns_pay(100, 400, false));
  CHECK(columns_pay(1000, 12000, false));
  CHECK(columns_pay(64, 1 << 17, false));
  CHECK_FALSE(columns_pay(100, 4096, false));
  CHECK_FALSE(columns_pay(65, 1 << 17, false));
  CHECK(columns_pay(100, 4096 + 64, false));
  CHECK(columns_pay(100, 128, false));
  CHECK_FALSE(columns_pay(256, 128, false));       // short rows, many of them
}

TEST_CASE("rows from memory go by slots if they are short or many; others are walked down and fetched ahead") {
  CHECK(columns_pay(256, 2048 + 64, true));
  CHECK_FALSE(columns_pay(257, 2048 + 64, true));
  CHECK_FALSE(columns_pay(100, 2000, true));
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", "c"});
  const auto compiled = [&](double third_level, const Dims& shape) {
    Machine machine = with_caches(third_level);
    machine.fetch_bytes = third_level;
    const Function f = compile_for(machine, {sum(x, 1), mean(square(x), 1)}, {x}, {.threads = 2, .verify = true});
    same_bits(f, {uneven(f32, shape)});
    return f;
  };
  const auto fetches = [](const Function& f) { return f.llvm().find(concat("i64 ", columns_ahead, "\n")) != std::string::npos; };
  CHECK(walks_columns(compiled(1000, {5, 100, 600})));
  CHECK(fetches(compiled(1000, {5, 100, 600})));
  CHECK(walks_columns(compiled(1 << 24, {5, 100, 600})));
  CHECK_FALSE(fetches(compiled(1 << 24, {5, 100, 600})));
  CHECK_FALSE(walks_columns(compiled(1000, {5, 100, 500})));
  CHECK(walks_columns(compiled(1 << 24, {5, 100, 500})));
  CHECK_FALSE(walks_columns(compiled(1000, {3, 300, 600})));
}

TEST_CASE("strips of columns have room in the first level, and whole steps") {
  for (const std::size_t bytes : {4, 8, 12, 16, 40, 4000}) {
    CAPTURE(bytes);
    CHECK(columns_of_strip(bytes) % (most_vectors * lane_count) == 0);
    if (bytes < 100) CHECK(columns_of_strip(bytes) * static_cast<Index>(bytes) <= first_level_share / 4 + 4096);
  }
}

// Two strips and a part of one; and of two sums at once, whose strips are shorter.
TEST_CASE("long rows are walked strip by strip") {
  for (const DType dtype : {f32, f64, bf16}) {
    CAPTURE(dtype);
    for (const int lanes : {0, 8}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"a", "b", "c"});
      const Function sums = compile({sum(x, 1)}, {x}, {.threads = 2, .lanes = lanes, .verify = true}), both = compile({sum(x, 1), prod(x, 1), mean(square(x), 1)}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const Function* f : {&sums, &both})
        for (const Dims& shape : {Dims{3, 40, 2100}, Dims{2, 17, 1025}, Dims{2, 100, 513}, Dims{1, 300, 3000}}) same_bits(*f, {near_one(dtype, shape)});
      CHECK(walks_columns(sums));
    }
  }
}
