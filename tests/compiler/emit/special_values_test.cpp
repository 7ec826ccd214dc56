// Every special-value rule of the Array API, read from its case table: interpreted in every float dtype, and compiled, in
// whole vectors, tails, strided loops and as scalars.
#include <weft/function.h>

#include <fstream>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include "compiled.h"

using namespace weft;

namespace {

enum class Compare { bits, bits_and_nan_sign, value, sign, approximate };

struct Expected {
  std::vector<double> values;              // +-1 for Compare::sign
  Compare compare = Compare::bits;
};
struct Case {
  std::string id, op;
  std::vector<std::vector<double>> operands;
  std::vector<Expected> expected;          // any one will do
};

double number_of(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  static const std::map<std::string, double> words{{"nan", std::copysign(NAN, 1.0)}, {"-nan", std::copysign(NAN, -1.0)}, {"inf", INFINITY}, {"-inf", -INFINITY},
                                                   {"-0.0", -0.0}, {"+", 1.0}, {"-", -1.0}};
  return words.at(value.get<std::string>());
}
std::vector<double> numbers_of(const nlohmann::json& values) {
  std::vector<double> numbers;
  for (const auto& value : values) numbers.push_back(number_of(value));
  return numbers;
}
Expected expected_of_json(const nlohmann::json& json) {
  static const std::map<std::string, Compare> compares{{"bitwise-signed-zero, any NaN", Compare::bits}, {"bitwise-signed-zero", Compare::bits}, {"any NaN", Compare::bits},
                                                       {"bitwise incl. NaN sign", Compare::bits_and_nan_sign}, {"zero sign free", Compare::value},
                                                       {"sign only", Compare::sign}, {"approx 1e-12", Compare::approximate}};
  return {numbers_of(json.at("data")), compares.at(json.at("compare").get<std::string>())};
}

// By op, in the order of the table.
std::map<std::string, std::vector<Case>> cases_by_op() {
  std::ifstream file(WEFT_TEST_DIR "/conformance/cases/array_api_special_cases.json");
  std::map<std::string, std::vector<Case>> result;
  for (const auto& json : nlohmann::json::parse(file)) {
    Case each{json.at("id").get<std::string>(), json.at("op").get<std::string>(), {}, {}};
    for (const auto& input : json.at("inputs")) each.operands.push_back(numbers_of(input.at("data")));
    for (const char* key : {"expect", "alt_expect"})
      if (json.contains(key)) each.expected.push_back(expected_of_json(json.at(key)));
    result[each.op].push_back(each);
  }
  return result;
}

// Bits of a NaN too, which Scalar would not keep.
void store(DType dtype, double value, void* to) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) *static_cast<T*>(to) = static_cast<T>(value);
    else Scalar::of(dtype, value).store(to);
  });
}
double load(DType dtype, const void* from) { return Scalar::load(dtype, from).as_double(); }
double rounded(DType dtype, double value) { return is_floating(dtype) ? Scalar::of(dtype, value).real() : value; }

bool fits(const Expected& expected, std::size_t k, double got, DType dtype) {
  const double wanted = expected.values[k], nearest = rounded(dtype, wanted);
  switch (expected.compare) {
    case Compare::sign: return std::signbit(got) == (wanted < 0) && got == got;
    case Compare::value: return got == nearest;
    case Compare::approximate: return std::abs(got - wanted) <= (dtype == f64 ? 1e-12 : 1e-6 * std::abs(wanted) + std::abs(nearest - wanted));
    case Compare::bits_and_nan_sign:
      if (wanted != wanted) return got != got && std::signbit(got) == std::signbit(wanted);
      [[fallthrough]];
    case Compare::bits: return wanted != wanted ? got != got : got == nearest && std::signbit(got) == std::signbit(nearest);
  }
  return false;
}
bool fits(const Case& each, std::size_t k, double got, DType dtype) {
  for (const Expected& expected : each.expected)
    if (fits(expected, k, got, dtype)) return true;
  return false;
}

// The elements whose operands are numbers of the dtype: 1e308 is none of f32.
std::vector<std::size_t> elements_of(const Case& each, DType dtype) {
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < each.operands[0].size(); ++k) {
    bool exact = true;
    for (const auto& operand : each.operands) exact = exact && (operand[k] != operand[k] || rounded(dtype, operand[k]) == operand[k]);
    if (exact) result.push_back(k);
  }
  return result;
}

Op op_of(const std::string& name) { return *find_op(name == "pow" ? "power" : name); }

// y = op(x0, ..) along an axis and t = op(s0, ..) on scalars.
struct RuleKernel {
  Graph graph;
  std::vector<Expr> inputs;
  Expr y, t;
  RuleKernel(Op op, DType dtype) {
    std::vector<Value> rows, scalars;
    for (int k = 0; k < info(op).arity; ++k) rows.emplace_back(inputs.emplace_back(graph.input(concat("x", k), dtype, {"n"})));
    for (int k = 0; k < info(op).arity; ++k) scalars.emplace_back(inputs.emplace_back(graph.input(concat("s", k), dtype, {})));
    y = elementwise(op, rows);
    t = elementwise(op, scalars);
  }
};
using Run = std::function<std::vector<Array>(const std::vector<Array>&)>;

// The case's elements over and over in an axis of this length, and one of them as a scalar; strided: every third place.
std::string check_case(const Run& run, const Case& each, DType dtype, Index length, bool strided) {
  const auto elements = elements_of(each, dtype);
  if (elements.empty()) return "";
  const std::size_t arity = each.operands.size();
  for (std::size_t first = 0; first < elements.size(); ++first) {
    std::vector<Array> inputs;
    for (const auto& operand : each.operands) {
      Array row = strided ? Array(dtype, {3 * length}).slice(0, 1, length, 3) : Array(dtype, {length});
      for (Index k = 0; k < length; ++k) store(dtype, operand[elements[static_cast<std::size_t>(k) % elements.size()]], element_address(row, {k}));
      inputs.push_back(row);
    }
    for (std::size_t p = 0; p < arity; ++p) {
      inputs.emplace_back(dtype, Dims{});
      store(dtype, each.operands[p][elements[first]], inputs.back().View::data());
    }
    const auto results = run(inputs);
    const auto complaint = [&](const char* where, std::size_t k, double got) {
      std::string operands;
      for (const auto& operand : each.operands) operands += concat(operands.empty() ? "" : ", ", to_text(Scalar(operand[k])));
      return concat(each.id, " ", dtype, ": ", each.op, "(", operands, ") gives ", to_text(Scalar(got)), " in ", where, ", expected ",
                    to_text(Scalar(each.expected[0].values[k])), ", length ", length, strided ? ", strided" : "");
    };
    for (Index k = 0; k < length; ++k) {
      const std::size_t element = elements[static_cast<std::size_t>(k) % elements.size()];
      const double got = load(results[0].dtype(), element_address(results[0], {k}));
      if (!fits(each, element, got, results[0].dtype())) return complaint(concat("element ", k).c_str(), element, got);
    }
    const double got = load(results[1].dtype(), results[1].View::data());
    if (!fits(each, elements[first], got, results[1].dtype())) return complaint("the scalar", elements[first], got);
    if (length > 1) break;                 // all elements are in the axis: the scalar changes only in the shortest
  }
  return "";
}

// One of the case's elements in an array of ordinary numbers: right itself, and the others are what they are without it.
std::string check_alone(const Function& function, const Case& each, DType dtype, Index length, Index position, double ordinary) {
  std::vector<Array> inputs;
  for (std::size_t p = 0; p < each.operands.size(); ++p) inputs.emplace_back(dtype, Dims{length});
  for (std::size_t p = 0; p < each.operands.size(); ++p) inputs.emplace_back(dtype, Dims{});
  for (const Array& input : inputs) input.fill(Scalar::of(dtype, ordinary));
  const Array without = function(inputs)[0];
  for (const std::size_t element : elements_of(each, dtype)) {
    for (std::size_t p = 0; p < each.operands.size(); ++p) store(dtype, each.operands[p][element], element_address(inputs[p], {position}));
    const Array with = function(inputs)[0];
    for (Index k = 0; k < length; ++k) {
      const double got = load(with.dtype(), element_address(with, {k})), before = load(with.dtype(), element_address(without, {k}));
      const bool same = std::memcmp(&got, &before, sizeof got) == 0 || (got != got && before != before);
      if (k == position ? !fits(each, element, got, with.dtype()) : !same)
        return concat(each.id, " ", dtype, " at ", position, " of ", length, " gives ", to_text(Scalar(got)), " at ", k);
    }
  }
  return "";
}

}  // namespace

TEST_CASE("the interpreter keeps every special-value rule of the Array API in every float dtype") {
  std::size_t count = 0;
  for (const auto& [name, cases] : cases_by_op())
    for (DType dtype : {f16, bf16, f32, f64}) {
      const RuleKernel kernel(op_of(name), dtype);
      const Run run = [&](const std::vector<Array>& inputs) { return interpret({kernel.y, kernel.t}, kernel.inputs, inputs); };
      for (const Case& each : cases) {
        ++count;
        for (Index length : {1, 13}) CHECK(check_case(run, each, dtype, length, false) == "");
      }
    }
  CHECK(count == 4 * 207);
}

namespace {

// Returns how many rules there are.
std::size_t check_compiled(DType dtype, const Options& options) {
  std::size_t count = 0;
  for (const auto& [name, cases] : cases_by_op()) {
    const RuleKernel kernel(op_of(name), dtype);
    const Function function = compile({kernel.y, kernel.t}, kernel.inputs, options);
    const Run run = [&](const std::vector<Array>& inputs) { return function(inputs); };
    for (const Case& each : cases) {
      ++count;
      for (Index length : {1, 13, 77}) CHECK(check_case(run, each, dtype, length, false) == "");   // 77 = 64 + 13: a tail holds each element
      CHECK(check_case(run, each, dtype, 77, true) == "");
    }
  }
  return count;
}

}  // namespace

TEST_CASE("compiled code keeps every special-value rule of the Array API in vectors, tails, strided loops and scalars") {
  for (DType dtype : {f16, bf16, f32, f64}) CHECK(check_compiled(dtype, checked()) == 207);
}

TEST_CASE("with fast_math compiled code keeps every special-value rule of the Array API") {
  Options options = checked();
  options.fast_math = true;
  for (DType dtype : {f32, f64}) CHECK(check_compiled(dtype, options) == 207);
}

TEST_CASE("a special value among ordinary ones is right at every place of a vector and of a tail, and changes none of them") {
  for (const auto& [name, cases] : cases_by_op())
    for (DType dtype : {f32, f64}) {
      const RuleKernel kernel(op_of(name), dtype);
      const Function function = compile({kernel.y, kernel.t}, kernel.inputs, checked());
      for (const Case& each : cases)
        for (const double ordinary : {0.75, 1.5}) {
          for (Index position : {0, 7, 15, 16}) CHECK(check_alone(function, each, dtype, 17, position, ordinary) == "");
          for (Index position : {5, 16, 31, 63, 64, 66}) CHECK(check_alone(function, each, dtype, 67, position, ordinary) == "");
        }
    }
}
