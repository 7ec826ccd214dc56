#include <weft/check_gradient.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/error.h>

namespace weft {
namespace {

double epsilon_of(DType dtype) {
  if (dtype == f64) return std::numeric_limits<double>::epsilon();
  if (dtype == f32) return std::numeric_limits<float>::epsilon();
  return dtype == f16 ? 0x1p-10 : 0x1p-7;
}

double number_at(const Array& array, const Dims& index) { return array.get(index).as_double(); }

// The next index of a shape, the last axis fastest; false after the last one.
bool advance(Dims& index, const Dims& shape) {
  for (std::size_t axis = index.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

// How far apart two numbers are, relative to the second; infinite if one of them alone is NaN.
double distance(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return 0;
  const double apart = std::abs(a - b) / std::max(1.0, std::abs(b));
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

}  // namespace

GradientReport check_gradient(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Array>& arrays) { return check_gradient(loss, wrt, wrt, arrays); }

GradientReport check_gradient(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Expr>& inputs, const std::vector<Array>& arrays, double bound) {
  const std::vector<Expr> gradients = grad(loss, wrt);
  WEFT_REQUIRE(inputs.size() == arrays.size(), usage, "check_gradient: expected an array for each of ", inputs.size(), " inputs, got ", arrays.size());
  const std::vector<Array> derivatives = interpret(gradients, inputs, arrays);
  GradientReport report;
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const Expr& input) { return input.id() == wrt[k].id(); });
    WEFT_REQUIRE(found != inputs.end(), usage, "check_gradient: ", wrt[k].name(), " is not among the inputs that have arrays\n  hand in its array");
    const auto position = static_cast<std::size_t>(found - inputs.begin());
    std::vector<Array> moved = arrays;
    moved[position] = arrays[position].copy(Order::c);
    const DType dtype = wrt[k].dtype();
    const double allowed = bound > 0 ? bound : dtype == f64 ? 1e-6 : 1e-2;
    const Dims shape = moved[position].shape();
    if (element_count(shape) == 0) continue;
    Dims index(shape.size(), 0);
    do {
      const double at = number_at(arrays[position], index), step = std::cbrt(epsilon_of(dtype)) * std::max(1.0, std::abs(at));
      const auto loss_at = [&](double x) {
        moved[position].set(index, Scalar::of(dtype, x));
        return std::pair(number_at(moved[position], index), number_at(interpret({loss}, inputs, moved)[0], {}));
      };
      const auto [high, above] = loss_at(at + step);
      const auto [low, below] = loss_at(at - step);
      loss_at(at);
      const double difference = (above - below) / (high - low), derivative = number_at(derivatives[k], index), apart = distance(derivative, difference);
      ++report.elements;
      report.wrong += apart > allowed;
      if (report.elements > 1 && !(apart > report.worst)) continue;
      report.worst = apart;
      report.wrt = wrt[k];
      report.index = index;
      report.derivative = derivative;
      report.difference = difference;
    } while (advance(index, shape));
  }
  report.ok = report.wrong == 0;
  if (report.elements == 0) report.text = "no elements";
  else
    report.text = concat("d ", loss.name(), " / d ", report.wrt.name(), to_text(report.index), ": ", report.derivative, " by the gradient, ", report.difference,
                         " by differences (", report.wrong, " of ", report.elements, " elements differ)");
  return report;
}

}  // namespace weft
