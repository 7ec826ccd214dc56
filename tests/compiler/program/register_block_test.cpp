// Rows of sums or other folds over a loop inside, as products of matrices: blocks of rows and vectors of results with their sums in registers, the shared
// operand packed. The interpreter's bits, whatever the extents, layouts, dtypes and what becomes of the sums.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

#include "bits.h"
#include "layouts.h"

#include "schedule/cost_model.h"

using namespace weft;

namespace {

bool in_registers(const Function& f) { return f.report().find("at once in registers") != std::string::npos; }

Expr product(const Expr& x, const Expr& y) { return sum(expand_dims(x, 2) * y, {1}); }      // [i,k] [k,j]

}  // namespace

TEST_CASE("products of matrices have the bits of the interpreter") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {f32, f64}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"i", "k"}), y = g.input("y", dtype, {"k", "j"});
      const Function f = compile({product(x, y)}, {x, y}, {.threads = 2, .lanes = lanes, .verify = true});
      const auto call = [&](Index i, Index k, Index j) {
        CAPTURE(i);
        CAPTURE(k);
        CAPTURE(j);
        same_bits(f, {uneven(dtype, {i, k}), near_one(dtype, {k, j})});
      };
      call(64, 100, 80);
      if (lanes != 4 || dtype == f32) CHECK(in_registers(f));      // eight registers of two f64 for one row, of sixteen
      for (const Index i : {1, 3, 4, 5, 7, 32, 33, 39, 71}) call(i, 33, 70);
      for (const Index k : {1, 2, 15, 16, 17, 31, 48, 100, 1000, 1023, 1024}) call(9, k, 35);
      for (const Index j : {1, 7, 15, 16, 17, 32, 47, 63, 64, 65, 128, 200}) call(37, 20, j);
      call(0, 20, 20);
      call(20, 0, 20);
      call(20, 20, 0);
    }
}

TEST_CASE("sums longer than a leaf, and over nothing") {
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"i", "k"}), y = g.input("y", dtype, {"k", "j"});
    const Function f = compile({product(x, y) + 1}, {x, y}, {.threads = 2, .verify = true});
    same_bits(f, {uneven(dtype, {40, 1500}), near_one(dtype, {1500, 70})});
    CHECK(in_registers(f));
    for (const Index k : {0, 1, 1024, 1025, 2048, 3000, 3072, 4097, 5120}) {
      CAPTURE(k);
      same_bits(f, {uneven(dtype, {13, k}), near_one(dtype, {k, 90})});
    }
  }
}

TEST_CASE("what the sums are of, and what becomes of them") {
  for (const int lanes : {0, 4}) {
    CAPTURE(lanes);
    Graph g;
    const Expr x = g.input("x", f32, {"i", "k"}), y = g.input("y", f32, {"k", "j"}), b = g.input("b", f32, {"j"}), c = g.input("c", f32, {"i"});
    const Expr w = g.input("w", f32, {"i", "k"}), m = g.input("m", f32, {"i", "k", "j"}), rows = expand_dims(x, 2), z = product(x, y);
    const Options options{.threads = 2, .lanes = lanes, .verify = true};
    const std::vector<std::vector<Expr>> all{
        {relu(z + b)},
        {softmax(z + b, 1)},
        {sum(square(rows - y), {1})},
        {sum(abs(rows - y), {1}), z},
        {prod(1 + rows * y * 0.01, {1})},
        {sum(rows * y * expand_dims(expand_dims(c, 1), 2), {1})},
        {sum(expand_dims(x * w + 1, 2) * y, {1})},
        {product(x, y * 2 + 1)},
        {argmin(sum(square(rows - y), {1}), {1})},
        {sum(rows * y, {1}) * expand_dims(c, 1), sum(expand_dims(w, 2) * y, {1})},
        {product(x, y), mean(z, {0})},
        {sum(rows * y * b, {1})},
        {sum(rows * y + expand_dims(w, 2) * b, {1})},
        {sum(rows * y * cast(iota(g, "j", i64), f32), {1})},
        {sum(y / rows, {1}), sum(exp(rows) * y, {1})},
        {sum(rows * y * m, {1})},
    };
    for (std::size_t k = 0; k < all.size(); ++k) {
      CAPTURE(k);
      const auto& outputs = all[k];
      const Function f = compile(outputs, {x, y, b, c, w, m}, options);
      for (const Dims& d : {Dims{50, 40, 70}, Dims{9, 130, 16}, Dims{31, 17, 129}})
        same_bits(f, {uneven(f32, {d[0], d[1]}), near_one(f32, {d[1], d[2]}), uneven(f32, {d[2]}), uneven(f32, {d[0]}), near_one(f32, {d[0], d[1]}), near_one(f32, {d[0], d[1], d[2]})});
    }
  }
}

TEST_CASE("operands in any layout") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {f32, f64}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"i", "k"}), y = g.input("y", dtype, {"k", "j"}), t = g.input("t", dtype, {"j", "k"}), u = g.input("u", dtype, {"k", "i"});
      const Options options{.threads = 2, .lanes = lanes, .verify = true};
      const Function across = compile({product(x, permute_dims(t, {1, 0}))}, {x, t}, options), first = compile({product(permute_dims(u, {1, 0}), y)}, {u, y}, options);
      const Function both = compile({sum(square(expand_dims(x, 1) - expand_dims(t, 0)), {2})}, {x, t}, options), strided = compile({product(x, y) * 3}, {x, y}, options);
      for (const Dims& d : {Dims{64, 100, 80}, Dims{33, 17, 70}, Dims{20, 31, 65}, Dims{17, 1030, 33}, Dims{40, 16, 15}, Dims{5, 3, 2}, Dims{0, 5, 5}, Dims{30, 0, 30}}) {
        CAPTURE(to_text(Dims(d)));
        const Array a = uneven(dtype, {d[0], d[1]}), b = near_one(dtype, {d[1], d[2]});
        same_bits(across, {a, near_one(dtype, {d[2], d[1]})});
        same_bits(both, {a, near_one(dtype, {d[2], d[1]})});
        same_bits(first, {uneven(dtype, {d[1], d[0]}), b});
        same_bits(strided, {uneven(dtype, {d[0], 2 * d[1]}).slice(1, 0, d[1], 2), near_one(dtype, {d[1], 2 * d[2]}).slice(1, 0, d[2], 2)});
        same_bits(strided, {uneven(dtype, {d[0], d[1]}).copy(Order::f), near_one(dtype, {d[1], d[2]}).copy(Order::f)});
        if (d[0] == 64 && (lanes != 4 || dtype == f32)) CHECK((in_registers(across) && in_registers(first) && in_registers(both)));
      }
    }
}

// Those of several blocks and panels, of one leaf and of several.
TEST_CASE("operands that lie along the rows are packed too") {
  for (const int lanes : {0, 4})
    for (const DType dtype : {f32, f64}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr u = g.input("u", dtype, {"k", "i"}), y = g.input("y", dtype, {"k", "j"}), w = g.input("w", dtype, {"k", "i"}), b = g.input("b", dtype, {"j"});
      const Expr rows = permute_dims(u, {1, 0});
      const Options options{.threads = 2, .lanes = lanes, .verify = true};
      const Function plain = compile({product(rows, y)}, {u, y}, options), two = compile({relu(sum(expand_dims(rows * permute_dims(w, {1, 0}) + 1, 2) * y, {1}) + b)}, {u, w, y, b}, options);
      for (const Dims& d : {Dims{200, 90, 150}, Dims{131, 70, 20}, Dims{70, 1100, 130}, Dims{129, 2050, 40}, Dims{140, 1030, 600}, Dims{260, 17, 66}, Dims{4, 3000, 70}}) {
        CAPTURE(to_text(Dims(d)));
        const Array a = uneven(dtype, {d[1], d[0]}), c = near_one(dtype, {d[1], d[2]});
        same_bits(plain, {a, c});
        same_bits(plain, {uneven(dtype, {2 * d[1], d[0] + 3}).slice(1, 3, d[0]).slice(0, 0, d[1], 2).flip(0), c});       // from the last to the first
        same_bits(two, {a, near_one(dtype, {d[1], d[0]}), c, uneven(dtype, {d[2]})});
        if (d[0] == 200 && (lanes != 4 || dtype == f32)) CHECK((in_registers(plain) && in_registers(two)));
      }
    }
}

// x^T y of few columns: the sums are the root, and a unit of them is a leaf. Blocks of as many rows as there are.
TEST_CASE("few rows and columns of results are summed up leaf by leaf") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {f32, f64, i32, u16}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"k", "i"}), y = g.input("y", dtype, {"k", "j"}), rows = permute_dims(x, {1, 0});
      const Options options{.threads = 2, .lanes = lanes, .verify = true};
      const Function plain = compile({product(rows, y)}, {x, y}, options), two = compile({product(rows, y), max(expand_dims(rows, 2) + y, 1)}, {x, y}, options);
      const Function own = compile({product(rows, x - max(x, 0))}, {x}, options);
      for (const auto& [i, j] : {std::pair<Index, Index>{15, 15}, {9, 13}, {8, 9}, {4, 15}, {17, 9}, {12, 33}, {16, 16}})
        for (const Index k : {5000, 0, 1, 15, 17, 100, 1023, 1024, 1025, 2049}) {
          CAPTURE(i);
          CAPTURE(j);
          CAPTURE(k);
          const Array a = uneven(dtype, {k, i}), b = near_one(dtype, {k, j});
          same_bits(plain, {a, b});
          if (k > 0) same_bits(two, {a, b}), same_bits(own, {a});
          if (k == 5000 && i == 15 && j == 15 && lanes == 0 && size_of(dtype) >= 4) CHECK(in_registers(plain));
          if (k == 100) same_bits(plain, {uneven(dtype, {k, 2 * i + 1}).slice(1, 1, i, 2), near_one(dtype, {j, k}).permute({1, 0})});
        }
    }
}

TEST_CASE("which rows of sums are made in registers") {
  Graph g;
  const Expr x = g.input("x", f32, {"i", "k"}), y = g.input("y", f32, {"k", "j"}), t = g.input("t", f32, {"j", "k"}), rows = expand_dims(x, 2);
  const auto compiled = [&](const std::vector<Expr>& outputs, const Dims& shape) {
    const Function f = compile(outputs, {x, y, t}, {.threads = 1});
    f({uneven(f32, {shape[0], shape[1]}), uneven(f32, {shape[1], shape[2]}), uneven(f32, {shape[2], shape[1]})});
    return f;
  };
  const Expr across = sum(expand_dims(x, 1) * expand_dims(t, 0), {2});
  CHECK(in_registers(compiled({product(x, y)}, {100, 64, 100})));
  CHECK(in_registers(compiled({across}, {100, 64, 100})));
  CHECK(in_registers(compiled({max(across, 1)}, {300, 64, 100})));                        // no blocks of rows beside them
  CHECK(in_registers(compiled({across}, {20, 64, 100})));
  CHECK_FALSE(in_registers(compiled({across}, {12, 64, 100})));                           // packed for too few rows
  CHECK_FALSE(in_registers(compiled({product(x, y)}, {3, 64, 100})));
  CHECK(in_registers(compiled({sum(exp(rows) * y, {1})}, {100, 64, 100})));               // exponentials are an array of their own
  CHECK_FALSE(in_registers(compiled({sum(exp(rows) * y, {1})}, {100, 64, 3})));           // few read it: made again for each panel
  CHECK_FALSE(in_registers(compiled({sum(y / rows, {1})}, {100, 64, 100})));
  CHECK_FALSE(in_registers(compiled({sum(exp(rows * y), {1})}, {100, 64, 100})));         // too large a body
  CHECK(in_registers(compiled({max(rows * y, 1)}, {100, 64, 100})));
  CHECK_FALSE(in_registers(compiled({count_nonzero(expand_dims(x, 1) < t, 2)}, {100, 64, 100})));      // 64 conditions are one vector
  CHECK_FALSE(in_registers(compiled({all(rows < y, 1)}, {100, 64, 100})));
}

TEST_CASE("folds of every kind, whose order is free") {
  for (const int lanes : {0, 4, 8})
    for (const DType dtype : {f32, f64, i32, i64, u32, u8}) {
      CAPTURE(lanes);
      CAPTURE(dtype);
      Graph g;
      const Expr x = g.input("x", dtype, {"i", "k"}), y = g.input("y", dtype, {"k", "j"}), rows = expand_dims(x, 2);
      const Options options{.threads = 2, .lanes = lanes, .verify = true};
      const Function sums = compile({sum(rows * y, 1), prod(rows + y, 1)}, {x, y}, options), least = compile({min(rows + y, 1)}, {x, y}, options);
      const Function most = compile({max(maximum(rows, y), 1) + 1, sum(max(rows * y, 1), 0)}, {x, y}, options);
      for (const Dims& d : {Dims{64, 100, 80}, Dims{33, 17, 70}, Dims{20, 1024, 65}, Dims{40, 1025, 33}, Dims{37, 3000, 40}, Dims{3, 50, 100}, Dims{0, 5, 5}}) {
        CAPTURE(to_text(Dims(d)));
        for (const Function* f : {&sums, &least, &most}) same_bits(*f, {uneven(dtype, {d[0], d[1]}), uneven(dtype, {d[1], d[2]})});
        if (d[0] == 64 && lanes == 0) CHECK(in_registers(least) == (dtype != u8));
      }
      same_bits(sums, {uneven(dtype, {30, 0}), uneven(dtype, {0, 40})});
    }
}

TEST_CASE("a NaN wins over what is larger, wherever it lies, and zeros have their signs") {
  Graph g;
  const Expr x = g.input("x", f32, {"i", "k"}), y = g.input("y", f32, {"k", "j"}), rows = expand_dims(x, 2);
  const Function f = compile({max(rows + y, 1), min(rows + y, 1), max(rows * y, 1)}, {x, y}, {.threads = 1, .verify = true});
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const Index at : {0, 1, 16, 1023, 1024, 1499}) {
    Array a = uneven(f32, {40, 1500}), b = near_one(f32, {1500, 70});
    for (Index row = 0; row < 40; row += 3) a.data<float>()[row * 1500 + at] = row % 2 ? nan : infinity;
    for (Index column = 0; column < 70; column += 5) b.data<float>()[at * 70 + column] = column % 2 ? -infinity : nan;
    for (Index row = 1; row < 40; row += 3) std::fill_n(a.data<float>() + row * 1500, 1500, row % 2 ? -0.0F : 0.0F);
    same_bits(f, {a, b});
  }
  CHECK(in_registers(f));
}

TEST_CASE("two products have nests of their own") {
  Graph g;
  const Expr x = g.input("x", f32, {"i", "k"}), y = g.input("y", f32, {"k", "j"}), w = g.input("w", f32, {"j", "l"});
  const Function f = compile({product(softmax(product(x, y), 1), w)}, {x, y, w}, {.threads = 1});
  same_bits(f, {uneven(f32, {100, 40}), near_one(f32, {40, 50}), near_one(f32, {50, 60})});
  const std::string report = f.report();
  CHECK(report.find("of two products of matrices") != std::string::npos);
  CHECK(report.find("at once in registers", report.find("at once in registers") + 1) != std::string::npos);
}

TEST_CASE("batches are the root, not the rows of a product") {
  Graph g;
  const Expr x = g.input("x", f32, {8, 64, 40}), y = g.input("y", f32, {8, 50, 40});
  const Function f = compile({sum(expand_dims(x, 2) * expand_dims(y, 1), {3})}, {x, y}, {.threads = 2});
  same_bits(f, {uneven(f32, {8, 64, 40}), near_one(f32, {8, 50, 40})});
  CHECK(in_registers(f));
}

TEST_CASE("vectors along a root in units, few rows of results") {
  Graph g;
  const Expr x = g.input("x", f32, {"k", "i"}), y = g.input("y", f32, {"k", "j"});
  const Function f = compile({sum(expand_dims(x, 2) * expand_dims(y, 1), {0})}, {x, y}, {.threads = 2, .verify = true});
  same_bits(f, {uneven(f32, {60, 3000}), near_one(f32, {60, 10})});
  CHECK(in_registers(f));
  for (const Dims& d : {Dims{60, 1000, 9}, Dims{17, 1025, 1}, Dims{1500, 40, 10}, Dims{30, 2049, 16}}) same_bits(f, {uneven(f32, {d[0], d[1]}), near_one(f32, {d[0], d[2]})});
}

TEST_CASE("batches, transposed and narrow operands, products of products") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "i", "k"}), y = g.input("y", f32, {"n", "k", "j"});
  const Function batch = compile({sum(expand_dims(x, 3) * expand_dims(y, 1), {2})}, {x, y}, {.threads = 2, .verify = true});
  for (const Dims& d : {Dims{5, 20, 30, 40}, Dims{2, 33, 100, 70}, Dims{1, 64, 64, 64}}) same_bits(batch, {uneven(f32, {d[0], d[1], d[2]}), near_one(f32, {d[0], d[2], d[3]})});
  for (const DType dtype : {f16, bf16, u8, i32}) {
    CAPTURE(dtype);
    Graph own;
    const Expr a = own.input("a", dtype, {"i", "k"}), b = own.input("b", dtype, {"k", "j"});
    const Function f = compile({product(cast(a, f32), cast(b, f32))}, {a, b}, {.threads = 2, .verify = true});
    same_bits(f, {uneven(dtype, {40, 50}), uneven(dtype, {50, 60})});
  }
}

// Products of random extents, layouts, bodies and ends; WEFT_PRODUCTS says how many.
TEST_CASE("random products have the bits of the interpreter") {
  std::mt19937 random(20261125);
  const auto from = [&](Index low, Index high) { return low + static_cast<Index>(random() % static_cast<std::uint32_t>(high - low + 1)); };
  const auto extent = [&] { return from(0, 9) < 3 ? from(1, 20) : from(16, 140); };
  const char* count = std::getenv("WEFT_PRODUCTS");
  for (int number = 0, all = count ? std::atoi(count) : 80; number < all; ++number) {
    CAPTURE(number);
    Graph g;
    const DType dtype = from(0, 2) ? f32 : f64;
    const bool symbols = from(0, 1), x_turned = from(0, 1), y_turned = from(0, 1);
    const Index long_sums = from(0, 5) == 0 ? from(900, 2300) : extent();
    const Dims first{extent(), long_sums, extent()};
    const auto shape = [&](int a, int b) {
      const char* names[] = {"i", "k", "j"};
      const auto one = [&](int axis) { return symbols ? Extent(names[axis]) : Extent(first[static_cast<std::size_t>(axis)]); };
      return b < 0 ? Shape{one(a)} : Shape{one(a), one(b)};
    };
    const auto turn = [](const Expr& e, bool turned) { return turned ? permute_dims(e, {1, 0}) : e; };
    const Expr x = g.input("x", dtype, x_turned ? shape(1, 0) : shape(0, 1)), y = g.input("y", dtype, y_turned ? shape(2, 1) : shape(1, 2));
    const Expr of_i = g.input("of_i", dtype, shape(0, -1)), of_j = g.input("of_j", dtype, shape(2, -1)), of_k = g.input("of_k", dtype, shape(1, -1));
    Expr a = turn(x, x_turned), b = turn(y, y_turned);
    if (from(0, 3) == 0) a = relu(a * expand_dims(of_i, 1) + of_k);
    if (from(0, 3) == 0) b = b * of_j + 1;
    const Expr left = expand_dims(a, 2), right = expand_dims(b, 0);
    const std::vector<Expr> bodies{left * right, left * right, square(left - right), abs(left - right), left * right * of_j, where(left > right, left, right * 2), left / right};
    const Expr sums = from(0, 9) ? sum(bodies[static_cast<std::size_t>(from(0, 6))], 1) : prod(1 + left * right / 65536, 1);
    const std::vector<std::vector<Expr>> ends{{sums}, {relu(sums + of_j)}, {softmax(sums / 65536, 1)}, {sums, sum(sums, 0)}, {max(sums, 1), sums * 2}, {permute_dims(sums, {1, 0})}, {cumulative_sum(sums, 1)}};
    const Function f = compile(ends[static_cast<std::size_t>(from(0, 6))], {x, y, of_i, of_j, of_k}, {.threads = static_cast<int>(from(1, 2)), .lanes = from(0, 3) ? 0 : 8, .verify = true});
    const auto array = [&](Index rows, Index columns, bool turned) {
      const Dims dims = turned ? Dims{columns, rows} : Dims{rows, columns};
      if (from(0, 4) == 0) return uneven(dtype, {dims[0], 2 * dims[1]}).slice(1, 0, dims[1], 2);
      return uneven(dtype, dims).copy(from(0, 3) ? Order::c : Order::f);
    };
    for (int call = 0; call < (symbols ? 3 : 1); ++call) {
      const Dims d = call == 0 ? first : Dims{extent(), from(0, 5) ? extent() : from(0, 1100), extent()};
      same_bits(f, {array(d[0], d[1], x_turned), array(d[1], d[2], y_turned), uneven(dtype, {d[0]}), near_one(dtype, {d[2]}), near_one(dtype, {d[1]})});
    }
  }
}
