// Long bodies with long functions become several loops over a strip, and rows between them share memory: the interpreter's bits.
#include "bits.h"
#include "layouts.h"

using namespace weft;

namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Vector loops of the last variant of a function of one axis.
std::size_t loops_of(const Function& f) { return count(f.program(), "lanes i in n"); }

// Long functions that the interpreter computes to the same bits, one after the other.
Expr chain(Expr x, int length) {
  for (int k = 0; k < length; ++k) x = remainder(x * 1.7 + 0.3, 0.9 + 0.1 * k);
  return x;
}

// Two chains of functions, the second of which waits for the first: some 150 vector instructions.
Expr price(const Expr& s, const Expr& k, const Expr& t, const Expr& v) {
  const Expr deviation = v * sqrt(t), first = chain(s / k + t, 4);
  return s * first - k * chain(t, 2) * chain(first - deviation, 4);
}

Array quotes(DType dtype, const Dims& shape, Index seed) {
  return counted_by(dtype, shape, [&](Index k) { return 0.1 + static_cast<double>((k * 7919 + seed * 31) % 997) / 525; });
}
std::vector<Array> market(DType dtype, Index n) { return {quotes(dtype, {n}, 1), quotes(dtype, {n}, 2), quotes(dtype, {n}, 3), quotes(dtype, {n}, 4)}; }

Function priced(DType dtype, int threads = 1, int lanes = 0) {
  Graph g;
  std::vector<Expr> inputs;
  for (const char* name : {"s", "k", "t", "v"}) inputs.push_back(g.input(name, dtype, {"n"}));
  Options options = checked(threads);
  options.lanes = lanes;
  return compile({price(inputs[0], inputs[1], inputs[2], inputs[3])}, inputs, options);
}

}  // namespace

TEST_CASE("a long body whose functions wait for each other becomes loops; the bits are those of one") {
  for (const DType dtype : {f16, f32, f64})
    for (const int threads : {1, 3}) {
      CAPTURE(dtype);
      const Function f = priced(dtype, threads);
      for (const Index n : {0, 1, 15, 16, 127, 512, 1000, 70001}) check_call(f, market(dtype, n));
      CHECK(loops_of(f) > 1);
      CHECK(count(f.report(), "distributed") == 1);
    }
}

TEST_CASE("registers of any width give the same bits") {
  for (const int lanes : {4, 8, 16})
    for (const DType dtype : {f32, f64}) {
      CAPTURE(lanes);
      const Function f = priced(dtype, 1, lanes);
      for (const Index n : {3, 300}) check_call(f, market(dtype, n));
      CHECK(loops_of(f) > 1);
    }
}

TEST_CASE("bodies that are short, or whose functions do not wait for each other, stay one loop") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"}), z = g.input("z", f32, {"n"});
  const Function brief = compile({chain(x, 5)}, {x}, checked());
  const Function apart = compile({chain(x, 3) + chain(y, 3) + chain(z, 3)}, {x, y, z}, checked());
  check_call(brief, {quotes(f32, {1000}, 1)});
  check_call(apart, {quotes(f32, {1000}, 1), quotes(f32, {1000}, 2), quotes(f32, {1000}, 3)});
  CHECK(loops_of(brief) == 1);
  CHECK(loops_of(apart) == 1);
}

TEST_CASE("outputs along the way, sums over all elements, and values that several loops read") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"}), a = chain(x * y + 0.5, 5), b = chain(a + y, 5);
  const Function f = compile({a, b * x, sum(b + a), sum(a * b)}, {x, y}, checked(2));
  for (const Index n : {5, 1024, 5000}) check_call(f, {quotes(f32, {n}, 1), quotes(f32, {n}, 2)});
  CHECK(loops_of(f) > 1);
}

TEST_CASE("rows of short arrays, with operands along one axis each") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), row = g.input("row", f32, {"m"}), column = g.input("column", f32, {"n"});
  const Function f = compile({price(x, reshape(row, {1, "m"}), reshape(column, {"n", 1}), x + 0.5)}, {x, row, column}, checked(2));
  for (const Index n : {1, 40})
    for (const Index m : {1, 17, 200, 3000})
      for (const auto& [name, view] : layouts(f32, {n, m})) {
        CAPTURE(name);
        check_call(f, {filled_like(quotes(f32, {n, m}, 1), view), quotes(f32, {m}, 2), quotes(f32, {n}, 3)});
      }
}

TEST_CASE("a chain of functions keeps two rows, however long it is") {
  for (const int length : {16, 40}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n"});
    const Function f = compile({chain(x, length)}, {x}, checked());
    const Call call = f.bind({quotes(f32, {5000}, 1)}, {Array(f32, {5000})});
    CHECK(loops_of(f) > 2);
    CHECK(call.scratch_bytes() <= 2 * (1024 + 128) * 4);
    check_call(f, {quotes(f32, {5000}, 1)});
  }
}

TEST_CASE("a result may lie where an input lies: all loops of a strip read it before the last one writes") {
  const Function f = priced(f32);
  const std::vector<Array> given = market(f32, 3000);
  for (std::size_t shared = 0; shared < given.size(); ++shared) {
    std::vector<Array> inputs;
    for (const Array& input : given) inputs.push_back(input.copy());
    CHECK(f.bind(inputs, {inputs[shared]}).temporary_bytes() == 0);
    f.run(inputs, {inputs[shared]});
    CHECK(difference(inputs[shared], expected_of(f, given)[0]) == "");
  }
}

TEST_CASE("a result that an early loop writes may not lie where a later loop reads") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), early = chain(x, 5);
  const Function f = compile({early, chain(early + 1, 5) * x}, {x}, checked());
  const Array values = quotes(f32, {3000}, 1), in = values.copy(), late(f32, {3000});
  f.run({in}, {in, late});
  const std::vector<Array> expected = expected_of(f, {values});
  CHECK(loops_of(f) > 1);
  CHECK(difference(in, expected[0]) == "");
  CHECK(difference(late, expected[1]) == "");
}
