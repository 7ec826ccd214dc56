// Order c is the transpose of order f on transposed inputs (tests/README.md, requirements 141): random elemwise calls, to the bit.
#include <doctest/doctest.h>

#include <weft/elemwise.h>
#include <weft/weft.h>

#include <random_data.h>

using namespace weft;

namespace {

// A function of scalars as a list of steps, so that both orders run the same one.
struct Step {
  int what, left, right;
};
struct ElemwiseCall {
  std::vector<DType> dtypes;                     // one per input
  std::vector<Dims> shapes;                      // for order c: each begins the longest
  std::vector<Step> steps;
  std::vector<int> results;                      // value numbers
  std::vector<ModeSpec> modes;
};

Expr apply_step(const Step& step, const Expr& a, const Expr& b) {
  switch (step.what) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return maximum(a, b);
    case 4: return minimum(a, b);
    case 5: return a * b + a;
    case 6: return where(a < b, a, b + 1);
    case 7: return is_floating(a.dtype()) ? exp(-abs(a)) : abs(a);
    default: return is_floating(b.dtype()) ? sin(b) : negative(b);
  }
}

ElemwiseCall random_call(RandomSource& random) {
  ElemwiseCall call;
  const bool floating = random.chance(70);
  const std::vector<DType> kinds = floating ? std::vector<DType>{f32, f64} : std::vector<DType>{i16, i32, i64};
  Dims full;
  for (std::int64_t rank = random.between(1, 4); rank > 0; --rank) full.push_back(random.pick<Index>({1, 2, 3, 5, 17, 20}));
  for (std::int64_t inputs = random.between(1, 4); inputs > 0; --inputs) {
    call.dtypes.push_back(random.pick(kinds));
    call.shapes.emplace_back(full.begin(), full.begin() + (call.shapes.empty() ? static_cast<std::ptrdiff_t>(full.size()) : random.between(0, static_cast<std::int64_t>(full.size()))));
  }
  const auto values = [&] { return static_cast<std::int64_t>(call.shapes.size() + call.steps.size()); };
  for (std::int64_t steps = random.between(1, 6); steps > 0; --steps)
    call.steps.push_back({static_cast<int>(random.between(0, 8)), static_cast<int>(random.between(0, values() - 1)), static_cast<int>(random.between(0, values() - 1))});
  for (std::int64_t outputs = random.between(1, 4); outputs > 0; --outputs) {
    call.results.push_back(static_cast<int>(random.between(0, values() - 1)));
    call.modes.push_back(random.chance(40) ? ModeSpec(Mode::broadcast) : accumulate(random.pick<Reduction>({sum, prod, max, min})));
  }
  return call;
}

// The results in order c from inputs as given, or in order f from transposed inputs.
struct Results {
  std::vector<Array> interpreted, compiled;
};
Results run(const ElemwiseCall& call, Order order, const std::vector<Array>& arrays) {
  Graph g;
  std::vector<Expr> inputs;
  std::vector<Array> given;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    given.push_back(order == Order::c ? arrays[k] : arrays[k].transpose());
    inputs.push_back(g.input("x" + std::to_string(k), call.dtypes[k], Shape(given[k].shape().begin(), given[k].shape().end())));
  }
  const auto outputs = elemwise(inputs, order, call.modes, [&](const std::vector<Expr>& args) {
    std::vector<Expr> values = args, results;
    for (const Step& step : call.steps) values.push_back(apply_step(step, values[static_cast<std::size_t>(step.left)], values[static_cast<std::size_t>(step.right)]));
    for (int result : call.results) results.push_back(values[static_cast<std::size_t>(result)]);
    return results;
  });
  return {interpret(outputs, inputs, given), compile(outputs, inputs, {.threads = 1, .executor = nullptr, .verify = true, .trace = ""})(given)};
}

bool equal_bits(const View& a, const View& b) {
  bool equal = a.dtype() == b.dtype() && a.shape() == b.shape();
  if (equal)
    for_each_element(a.shape(), [&](const Dims& index) { equal = equal && std::memcmp(element_address(a, index), element_address(b, index), size_of(a.dtype())) == 0; });
  return equal;
}

}  // namespace

TEST_CASE("order c is the transpose of order f on transposed inputs: random functions, modes and accumulators") {
  std::size_t broadcasts = 0, folds = 0, several = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    SeededSource random(seed);
    const ElemwiseCall call = random_call(random);
    std::vector<Array> arrays;
    for (std::size_t k = 0; k < call.shapes.size(); ++k) arrays.push_back(random_array(random, call.dtypes[k], call.shapes[k], random.chance(70) ? Data::reals : Data::special));
    const Results c = run(call, Order::c, arrays), f = run(call, Order::f, arrays);
    for (std::size_t k = 0; k < call.results.size(); ++k) {
      CAPTURE(k);
      CHECK(equal_bits(c.interpreted[k], f.interpreted[k].transpose()));
      CHECK(equal_bits(c.compiled[k], f.compiled[k].transpose()));
      const bool shorter = c.compiled[k].rank() < arrays[0].rank();
      (call.modes[k].mode == Mode::broadcast ? broadcasts : folds) += call.modes[k].mode == Mode::broadcast || shorter;
    }
    several += call.results.size() > 1;
  }
  // The generator reaches what the law is about.
  CHECK(broadcasts > 20);
  CHECK(folds > 20);
  CHECK(several > 20);
}
