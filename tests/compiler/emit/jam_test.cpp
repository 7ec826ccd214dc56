// Column folds work on several rows together; heights and widths about the sizes where that begins and ends, against the interpreter.

#include "bits.h"
#include "code/features.h"

using namespace weft;

namespace {

Array wavy(DType dtype, Dims shape) {
  Array array(dtype, std::move(shape));
  for (Index k = 0; k < array.size(); ++k) {
    const double value = static_cast<double>(k * 7919 % 1009) / 500 - 1;
    if (dtype == f32) array.data<float>()[k] = static_cast<float>(value);
    else if (dtype == f64) array.data<double>()[k] = value;
    else array.data<std::int32_t>()[k] = static_cast<std::int32_t>(value * 1000);
  }
  return array;
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The code from a block of this name on, up to the branch that ends it.
std::string block_of(const Function& f, const std::string& name) {
  const std::string code = f.llvm(), head = "\n" + name + ":";
  const std::size_t from = code.find(head);
  REQUIRE(from != std::string::npos);
  return code.substr(from, code.find("\n  br ", from) - from);
}

}  // namespace

TEST_CASE("column folds of any height and width have the bits of the interpreter") {
  for (Index n : {0, 1, 15, 63, 64, 65, 127, 128, 143, 192, 1023, 1024, 1025, 1100, 2300})
    for (Index m : {1, 16, 37, 130}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"n"});
      const Expr weighted = x * expand_dims(w, 1);
      check_bits({sum(x, 0), sum(weighted, 0), prod(1.0f + x * 0.01f, 0), sum(square(x) / expand_dims(exp(w), 1), 0)}, {x, w}, {wavy(f32, {n, m}), wavy(f32, {n})});
      if (n > 0) check_bits({max(x, 0), min(weighted, 0), any(x > 0.9f, 0)}, {x, w}, {wavy(f32, {n, m}), wavy(f32, {n})});
    }
}

TEST_CASE("column folds of doubles and integers, of transposed, reversed and offset operands") {
  for (Index n : {64, 200, 1090}) {
    Graph g;
    const Expr x = g.input("x", f64, {"n", "m"}), k = g.input("k", i32, {"n", "m"});
    const Index m = 50;
    check_bits({sum(x, 0), sum(x * cast(k, f64), 0), max(x - expand_dims(cast(iota(g, x.shape()[0]), f64), 1), 0)}, {x, k}, {wavy(f64, {n, m}), wavy(i32, {n, m})});
    check_bits({sum(k, 0), max(k, 0)}, {k}, {wavy(i32, {n, m})});
    check_bits({sum(x, 0), max(x, 0)}, {x}, {Array(wavy(f64, {m, n}).transpose())});
    check_bits({sum(x, 0), min(x, 0)}, {x}, {Array(wavy(f64, {n, m}).flip(0))});
  }
}

TEST_CASE("folds over a few elements, along rows and columns, have the bits of the interpreter") {
  for (Index few = 1; few <= 18; ++few)
    for (Index n : {1, 16, 50, 1100}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", few}), y = g.input("y", f32, {few, "n"}), w = g.input("w", f32, {few});
      const std::vector<Array> arrays{wavy(f32, {n, few}), wavy(f32, {few, n}), wavy(f32, {few})};
      check_bits({sum(x, 1), prod(1.0f + x, 1), max(x * w, 1)}, {x, w}, {arrays[0], arrays[2]});
      check_bits({sum(y, 0), prod(1.0f + y, 0), min(y * expand_dims(w, 1), 0), any(y > 0.9f, 0)}, {y, w}, {arrays[1], arrays[2]});
      check_bits({sum(x * permute_dims(y, {1, 0}), 1), mean(square(x), 1)}, {x, y}, {arrays[0], arrays[1]});
    }
}

TEST_CASE("folds over a few doubles and integers, of views with gaps and in nests of three axes") {
  for (Index few : {2, 3, 4, 7, 16}) {
    Graph g;
    const Expr x = g.input("x", f64, {"n", few}), k = g.input("k", i32, {"n", few}), t = g.input("t", f32, {"a", few, "b"});
    check_bits({sum(x, 1), max(x, 1), sum(x * cast(k, f64), 1)}, {x, k}, {wavy(f64, {77, few}), wavy(i32, {77, few})});
    check_bits({sum(x, 1), prod(x, 1)}, {x}, {Array(wavy(f64, {200, few + 3}).slice(1, 2, few))});
    check_bits({sum(x, 1), min(x, 1)}, {x}, {Array(wavy(f64, {200, few}).flip(1))});
    check_bits({sum(k, 1), max(k, 1)}, {k}, {wavy(i32, {77, few})});
    check_bits({sum(t, 1), max(t, 1), sum(t, {0, 1})}, {t}, {wavy(f32, {5, few, 70})});
  }
}

// Of a block of 64 rows, four are of one slot.
TEST_CASE("sums over the rows of blocks, several rows of one slot together") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"n"}), w = g.input("w", f32, {"d"});
  const Expr z = sum(x * w, 1), loss = mean(softplus(z) - y * z);
  const std::vector<Expr> outputs{loss, grad(loss, {w})[0]};
  for (const Index n : {5000, 4999, 100, 64, 63}) {
    const Function f = check_bits(outputs, {x, y, w}, {wavy(f32, {n, 64}), wavy(f32, {n}), wavy(f32, {64})});
    if (n != 5000) continue;
    CHECK(f.report().find("blocks   what rows have once") != std::string::npos);
    CHECK(f.report().find("2 vectors side by side, 4 elements of i together") != std::string::npos);
  }
}

TEST_CASE("copies of a body load once what all of them read, whatever they fetch in between") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), w = g.input("w", f32, {"d"}), v = g.input("v", f32, {"n"});
  const std::vector<Array> arrays{wavy(f32, {512, 64}), wavy(f32, {64}), wavy(f32, {512})};
  const std::string load = "load <16 x float>";
  const Function dots = compile({sum(square(sum(x * w, 1)))}, {x, w}, {.threads = 1, .lanes = 16, .verify = true});
  check_call(dots, {arrays[0], arrays[1]});
  const int rows = 4;
  const std::string body = block_of(dots, "lanes");
  CHECK(times(body, "@llvm.fma") == rows);
  CHECK(times(body, load) == 2 * rows + 1);                   // with their sums
  const Function columns = compile({sum(square(sum(x, 1)) * v, 0), sum(x * w * expand_dims(v, 1), 0)}, {x, w, v}, {.threads = 1, .lanes = 16, .verify = true});
  check_call(columns, arrays);
}

TEST_CASE("what neighbours fold is stored as one vector, where all of them are there") {
  for (const DType dtype : {f32, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "d"}), w = g.input("w", dtype, {"d"});
    const Function dots = compile({sum(square(sum(x * w, 1)))}, {x, w}, {.threads = 1, .lanes = 16, .verify = true});
    check_call(dots, {wavy(dtype, {512, 64}), wavy(dtype, {64})});
    CHECK(times(dots.llvm(), dtype == f32 ? "store <4 x float>" : "store <4 x double>") == 1);
    check_call(dots, {wavy(dtype, {511, 64}), wavy(dtype, {64})});
    CHECK(times(dots.llvm(), dtype == f32 ? "store <4 x float>" : "store <4 x double>") == 0);
  }
  for (const DType dtype : {DType::f16, DType::bf16, DType::i32, DType::u8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "d"});
    check_call(compile({max(sum(x, 1)), sum(max(x, 1))}, {x}, {.threads = 1, .lanes = 16, .verify = true}), {counted_by(dtype, {512, 64}, [](Index k) { return static_cast<double>(k % 5); })});
  }
}

TEST_CASE("what copies leave of a loop is single vectors, and so is the copy of what a unit leaves; units, blocks and slots are begun for what they hold") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), v = g.input("v", f32, {"n"});
  const Function f = compile({sum(x * expand_dims(v, 1), 0)}, {x, v}, {.threads = 1, .lanes = 16, .verify = true});
  for (const Index n : {100000, 100003}) {
    check_call(f, {wavy(f32, {n, 128}), wavy(f32, {n})});
    CHECK(times(block_of(f, "slot"), "icmp") == 0);
    CHECK(block_of(f, "jam").find("icmp") == std::string::npos);
    const std::string code = f.llvm(), rest = code.substr(code.find("\nserial:"));
    CHECK(times(rest.substr(0, rest.find("\ndeclare")), "@llvm.fma") == 1);
    CHECK(times(rest.substr(0, rest.find("\ndeclare")), "store <16 x float>") == 2);
    CHECK(f.report().find("4 vectors side by side, 4 elements of j together") != std::string::npos);
  }
}

TEST_CASE("neighbours share the operands that all of them read, if these are several vectors") {
  for (const DType dtype : {f32, f64})
    for (const Index channels : {16, 64, 32, 24}) {
      CAPTURE(dtype);
      CAPTURE(channels);
      Graph g;
      const Expr x = g.input("x", dtype, {"b", "h", "w", channels}), filter = g.input("filter", dtype, {3, 3, channels});
      Expr sum;
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 3; ++j) {
          const auto part = [](Index k) { return Slice{k, k == 2 ? std::optional<Index>() : std::optional<Index>(k - 2)}; };
          const Expr term = x.slice({Slice::all, part(i), part(j)}) * filter.slice({i, j});
          sum = i + j == 0 ? term : sum + term;
        }
      const Function f = compile({sum}, {x, filter}, {.threads = 2, .verify = true});
      for (const auto& [h, w] : {std::pair<Index, Index>{20, 40}, {3, 3}, {4, 9}, {5, 13}, {9, 22}})
        same_bits(f, {uniform(dtype, {2, h, w, channels}, 1), uniform(dtype, {3, 3, channels}, 2)});
      same_bits(f, {uniform(dtype, {2, 20, 40, channels}, 1), uniform(dtype, {3, 3, channels}, 2)});
      if (has_feature(host_features(), "+avx512f") && dtype == f32) CHECK((f.report().find(" elements of k together") != std::string::npos) == (channels > 16));     // 16 are one loop with the pixels
    }
  Graph g;
  const Expr x = g.input("x", f32, {"a", "n", 64});
  std::vector<Expr> rows, inputs = {x};
  Expr result = x;
  for (const char* name : {"p", "q", "r", "s", "t"}) {
    inputs.push_back(g.input(name, f32, {"a", 64}));
    result = result * expand_dims(inputs.back(), 1) + 1.0f;
  }
  const Function f = compile({result}, inputs, {.threads = 1, .verify = true});
  for (const Index n : {30, 3, 1, 0}) {
    std::vector<Array> arrays = {uniform(f32, {40, n, 64}, 1)};
    for (std::uint64_t k = 2; k < 7; ++k) arrays.push_back(uniform(f32, {40, 64}, k));
    same_bits(f, arrays);
    if (n == 30 && has_feature(host_features(), "+avx512f")) CHECK(f.report().find(" elements of j together") != std::string::npos);
    const Array expected = f(arrays)[0];
    f.run(arrays, {arrays[0]});                  // the result lies upon an operand
    CHECK(difference(arrays[0], expected) == "");
  }
}
