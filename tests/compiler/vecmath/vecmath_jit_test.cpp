// Every row of ops.def on every dtype it takes, compiled, against weft::evaluate: in vectors, in tails and as scalars.
//
// Rows are found in op_table(), so a new one is tested without a change here. Float functions may differ from libm by
// allowed_ulps; everything else is compared bit for bit.
#include <weft/function.h>

#include "compiled.h"

using namespace weft;

namespace {

// f16 and bf16 are rounded from f32, where an error of some units may cross one midpoint.
double allowed_ulps(DType dtype) { return size_of(dtype) == 2 ? 1 : 4; }

bool is_approximate(Op op, DType dtype) {
  if (!is_floating(dtype)) return false;
  const bool exact = op == Op::sqrt || op == Op::reciprocal || op == Op::divide || op == Op::copysign || op == Op::nextafter;
  return op == Op::power || (info(op).rule == DTypeRule::floating && !exact);
}

// Where terms may cancel the error is a few roundings of the largest: its size, 0 for other ops.
double largest_term(Op op, const std::vector<Scalar>& list) {
  const double a = list[0].as_double(), b = list.back().as_double();
  if (op == Op::lgamma && a < 0) return 1 + std::abs(std::lgamma(1 - a)) + std::abs(std::log(std::abs(a - std::nearbyint(a))));
  if (op == Op::digamma && a < 0) return 1 + std::log(1 - a) + 1 / std::abs(a - std::nearbyint(a));
  if (op == Op::logaddexp) return std::max(std::abs(a), std::abs(b));
  return 0;
}
bool agrees(const Scalar& got, const Scalar& expected, double ulps, double term) {
  if (::agrees(got, expected, ulps)) return true;
  if (term == 0 || !std::isfinite(term)) return false;
  const double last = got.dtype() == f16 ? 0x1p-10 : got.dtype() == bf16 ? 0x1p-7 : 0;   // one rounding to the dtype
  return std::abs(got.as_double() - expected.as_double()) <= 4 * (got.dtype() == f64 ? 0x1p-52 : 0x1p-23) * term + last * std::abs(expected.as_double());
}

// What breaks functions: zeros, ones, ends of ranges, neighbours of branch points, large arguments of sin.
std::vector<Scalar> special_values(DType dtype) {
  std::vector<Scalar> values;
  if (is_floating(dtype)) {
    const FloatRange range = float_range(dtype);
    for (double v : {0.0, range.tiny, range.least, range.most, double{INFINITY}, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 10.0, 20.5, 88.8, 103.97,
                     700.0, 745.2, 1e-3, 1e-9, 1e5, 1e10, 1e22, 0x1p23 + 1, 0x1p52 + 1, 0x1p63, 1.5707963267948966, 3.141592653589793, 0x1p-30, 0x1.fffffep-1, 0x1.000002p0})
      for (double sign : {1.0, -1.0}) values.push_back(Scalar::of(dtype, sign * v));
    values.push_back(Scalar::of(dtype, double{NAN}));
  } else if (is_boolean(dtype)) {
    for (int v : {0, 1}) values.push_back(Scalar::of(dtype, v));
  } else {
    const int width = static_cast<int>(8 * size_of(dtype));
    const std::uint64_t top = std::uint64_t{1} << (width - 1);
    for (std::int64_t v : {0, 1, 2, 3, 7, width - 1, width, -1, -2, -3, -width}) values.push_back(Scalar::of(dtype, v));
    for (std::uint64_t v : {top - 1, top, top + 1}) values.push_back(Scalar::of(dtype, static_cast<std::int64_t>(v)));
  }
  return values;
}

Scalar random_value(RandomSource& random, DType dtype) {
  if (random.chance(50)) return random_scalar(random, dtype, Data::reals);
  if (!is_floating(dtype)) return Scalar::of(dtype, static_cast<std::int64_t>(random.bits()));
  return Scalar::of(dtype, (random.uniform() - 0.5) * std::exp2(static_cast<double>(random.between(-40, 40))));
}

// Operand lists: all combinations of special values if they are few, else some of them; then random values. A whole number of 64.
std::vector<std::vector<Scalar>> operand_lists(const std::vector<DType>& dtypes) {
  SeededSource random(42);
  std::vector<std::vector<Scalar>> pools, lists{{}};
  for (DType dtype : dtypes) pools.push_back(special_values(dtype));
  if (dtypes.size() < 3) {
    for (const auto& pool : pools) {
      std::vector<std::vector<Scalar>> longer;
      for (const auto& list : lists)
        for (const Scalar& value : pool) longer.push_back(list), longer.back().push_back(value);
      lists = std::move(longer);
    }
  } else {
    lists.clear();
  }
  const std::size_t count = (lists.size() + (dtypes.size() < 3 ? 200 : 1500)) / 64 * 64 + 64;
  while (lists.size() < count) {
    std::vector<Scalar> list;
    for (std::size_t k = 0; k < dtypes.size(); ++k) {
      const bool from_pool = dtypes.size() == 3 && random.chance(70);
      list.push_back(from_pool ? random.pick(pools[k]) : random_value(random, dtypes[k]));
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

// y[i] = op(a[i], ..) along an axis, and t = op(s, ..) on scalars.
struct Kernel {
  Op op;
  Function function;
  std::vector<DType> dtypes;
  DType result;
};
Kernel kernel_of(Op op, const std::vector<DType>& dtypes, DType result) {
  Graph g(std::string(info(op).name));
  std::vector<Expr> inputs;
  std::vector<Operand> rows, scalars;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    inputs.push_back(g.input(concat("a", k), dtypes[k], {"n"}));
    rows.push_back({inputs.back().id(), identity_map(1)});
  }
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    inputs.push_back(g.input(concat("s", k), dtypes[k], {}));
    scalars.push_back({inputs.back().id(), {}});
  }
  const Expr y(g, g.apply(op, result, {"n"}, rows)), t(g, g.apply(op, result, {}, scalars));
  return {op, compile({y, t}, inputs, checked()), dtypes, result};
}

std::byte* address_of(const Array& array, std::size_t k) { return static_cast<std::byte*>(array.View::data()) + k * size_of(array.dtype()); }

std::string describe(const std::vector<Scalar>& list) {
  std::string text;
  for (const Scalar& value : list) text += (text.empty() ? "(" : ", ") + to_text(value);
  return text + ")";
}

// Runs the kernel over all lists, `length` of them at a time; the first disagreement of the vector and of the scalar result.
std::string run(const Kernel& kernel, const std::vector<std::vector<Scalar>>& lists, const std::vector<Scalar>& expected, std::size_t length, double ulps) {
  const auto arity = kernel.dtypes.size();
  const auto n = static_cast<Index>(length);
  std::vector<Array> inputs;
  for (DType dtype : kernel.dtypes) inputs.emplace_back(dtype, Dims{n});
  for (DType dtype : kernel.dtypes) inputs.emplace_back(dtype, Dims{});
  const Array y(kernel.result, {n}), t(kernel.result, {});
  const Call call = kernel.function.bind(inputs, {y, t});
  for (std::size_t first = 0; first + length <= lists.size(); first += length) {
    for (std::size_t p = 0; p < arity; ++p) {
      for (std::size_t k = 0; k < length; ++k) lists[first + k][p].store(address_of(inputs[p], k));
      lists[first][p].store(address_of(inputs[arity + p], 0));
    }
    call();
    for (std::size_t k = 0; k < length; ++k)
      if (const Scalar got = Scalar::load(kernel.result, address_of(y, k)); !agrees(got, expected[first + k], ulps, largest_term(kernel.op, lists[first + k])))
        return concat(describe(lists[first + k]), ": got ", to_text(got), ", expected ", to_text(expected[first + k]), " at ", k, " of ", length);
    if (const Scalar got = Scalar::load(kernel.result, address_of(t, 0)); !agrees(got, expected[first], ulps, largest_term(kernel.op, lists[first])))
      return concat(describe(lists[first]), ": got ", to_text(got), ", expected ", to_text(expected[first]), " as a scalar");
  }
  return "";
}

void check_row(Op op, const std::vector<DType>& dtypes, DType result) {
  std::string name = concat(info(op).name, " ", dtypes.back(), " -> ", result);
  CAPTURE(name);
  const auto lists = operand_lists(dtypes);
  std::vector<Scalar> expected;
  for (const auto& list : lists) expected.push_back(evaluate(op, list, result));
  const double ulps = is_approximate(op, dtypes.back()) ? allowed_ulps(result) : 0;
  const Kernel kernel = kernel_of(op, dtypes, result);
  for (std::size_t length : {64, 5, 1}) CHECK(run(kernel, lists, expected, length, ulps) == "");
}

// Calls visit(op, operand dtypes, result dtype) for every legal combination of rows that `wanted` admits.
template <class Wanted> void check_rows(const Wanted& wanted) {
  for (const OpInfo& row : op_table()) {
    if (!wanted(row)) continue;
    for (DType dtype : loop_dtypes) {
      std::vector<DType> dtypes(static_cast<std::size_t>(row.arity), dtype);
      if (row.rule == DTypeRule::select) dtypes[0] = bool_;
      if (row.rule == DTypeRule::conversion) {
        for (DType to : loop_dtypes) check_row(row.op, dtypes, to);
      } else if (const auto result = result_dtype(row.op, dtypes, dtype)) {
        check_row(row.op, dtypes, *result);
      }
    }
  }
}

}  // namespace

TEST_CASE("compiled float functions are within 4 ULP of libm, in f16 and bf16 within 1, in vectors, tails and scalars") {
  check_rows([](const OpInfo& row) { return row.rule == DTypeRule::floating; });
}
TEST_CASE("compiled unary ops have the bits of their meaning in vectors, tails and scalars") {
  check_rows([](const OpInfo& row) { return row.rule != DTypeRule::floating && row.rule != DTypeRule::conversion && row.arity == 1; });
}
TEST_CASE("compiled binary ops have the bits of their meaning in vectors, tails and scalars") {
  check_rows([](const OpInfo& row) { return row.rule != DTypeRule::floating && row.arity == 2; });
}
TEST_CASE("compiled ternary ops have the bits of their meaning in vectors, tails and scalars") {
  check_rows([](const OpInfo& row) { return row.arity == 3; });
}
TEST_CASE("compiled casts have the bits of their meaning in vectors, tails and scalars") {
  check_rows([](const OpInfo& row) { return row.rule == DTypeRule::conversion; });
}
