// Gradients and Hessians at singular points, as NUMERICS says they are: products with zeros, ties, branches not taken, powers
// at 0. Run through the interpreter by tests/graph/grad/grad_tables_test.cpp and compiled by tests/compiler/grad_tables_test.cpp.
#pragma once
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/grad.h>
#include <weft/rearrange.h>
#include <weft/recurrence.h>

struct GradientRow {
  using Values = std::vector<double>;
  using Make = std::function<weft::Expr(const std::vector<weft::Expr>&)>;
  std::string name;
  std::vector<Values> at;                                    // the inputs, of rank 1
  Make loss;
  std::vector<Values> first;                                 // by input
  std::vector<std::vector<Values>> second = {};              // by input, by input: row-major; none: not compared
  bool forward = true;                                       // an infinite tangent times 0 is NaN: forward mode knows no weight
};

namespace gradient_tables {

using weft::Expr;
using Values = GradientRow::Values;
using Xs = std::vector<Expr>;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const double nan_value = std::numeric_limits<double>::quiet_NaN();

// The Hessian of a product, from the products of all others but two.
inline std::vector<std::vector<Values>> hessian_of(const Values& row_major) { return {{row_major}}; }

inline void add_products(std::vector<GradientRow>& rows) {
  const auto product = [](const Xs& x) { return prod(x[0]); };
  const auto row = [&](const char* name, const Values& at, const Values& first, const Values& second) {
    rows.push_back({std::string("prod, ") + name, {at}, product, {first}, hessian_of(second)});
  };
  row("no zero", {2, 3, 4}, {12, 8, 6}, {0, 4, 3, 4, 0, 2, 3, 2, 0});
  row("one zero", {2, 0, 4}, {0, 8, 0}, {0, 4, 0, 4, 0, 2, 0, 2, 0});
  row("two zeros", {0, 0, 4}, {0, 0, 0}, {0, 4, 0, 4, 0, 0, 0, 0, 0});
  row("three zeros", {0, 0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  row("two zeros of four", {3, 0, 5, 0}, {0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 15, 0, 0});
  row("a zero and -0", {-0.0, 0, -2}, {-0.0, 0, 0}, {0, -2, 0, -2, 0, 0, 0, 0, 0});
  row("underflow", {1e-200, 1e-200, 1}, {1e-200, 1e-200, 0}, {0, 1, 1e-200, 1, 0, 1e-200, 1e-200, 1e-200, 0});
  row("overflow", {1e120, 1e120, 1e120}, {1e240, 1e240, 1e240}, {0, 1e120, 1e120, 1e120, 0, 1e120, 1e120, 1e120, 0});
  row("one factor", {0}, {1}, {0});
  // Along rows, and through Theano's rule: the derivative is of what is folded.
  rows.push_back({"prod of products", {{0, 2, 3}, {1, 0, 2}}, [](const Xs& x) { return prod(x[0] * x[1]); }, {{0, 0, 0}, {0, 0, 0}},
                  {{{0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 12, 0, 0, 0, 0, 0, 0, 0}}, {{0, 0, 0, 12, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}}}});
  rows.push_back({"cumulative_prod with two zeros", {{2, 0, 0}}, [](const Xs& x) { return sum(cumulative_prod(x[0])); }, {{1, 2, 0}},
                  hessian_of({0, 1, 0, 1, 0, 2, 0, 2, 0})});
}

inline void add_ties(std::vector<GradientRow>& rows) {
  const Values none2{0, 0, 0, 0};
  const std::vector<std::vector<Values>> flat{{none2, none2}, {none2, none2}};
  rows.push_back({"maximum", {{2, 1}, {2, 3}}, [](const Xs& x) { return sum(maximum(x[0], x[1])); }, {{0.5, 0}, {0.5, 1}}, flat});
  rows.push_back({"minimum", {{2, 1}, {2, 3}}, [](const Xs& x) { return sum(minimum(x[0], x[1])); }, {{0.5, 1}, {0.5, 0}}, flat});
  rows.push_back({"fmax beside NaN", {{2, nan_value}, {2, 3}}, [](const Xs& x) { return sum(fmax(x[0], x[1])); }, {{0.5, 0}, {0.5, 1}}, flat});
  rows.push_back({"maximum of x and x, squared", {{2, -3}}, [](const Xs& x) { return sum(square(maximum(x[0], x[0]))); }, {{4, -6}}, hessian_of({2, 0, 0, 2})});
  rows.push_back({"max, two of three", {{4, 1, 4}}, [](const Xs& x) { return max(x[0]); }, {{0.5, 0, 0.5}}, hessian_of(Values(9, 0.0))});
  rows.push_back({"max of equals", {{4, 4, 4, 4}}, [](const Xs& x) { return max(x[0]); }, {{0.25, 0.25, 0.25, 0.25}}, hessian_of(Values(16, 0.0))});
  rows.push_back({"min of zeros of both signs", {{0, -0.0, 1}}, [](const Xs& x) { return min(x[0]); }, {{0.5, 0.5, 0}}, hessian_of(Values(9, 0.0))});
  rows.push_back({"max, squared", {{4, 1, 4}}, [](const Xs& x) { return square(max(x[0])); }, {{4, 0, 4}}, hessian_of({0.5, 0, 0.5, 0, 0, 0, 0.5, 0, 0.5})});
  rows.push_back({"max with an initial value", {{2, 5}}, [](const Xs& x) { return max(x[0], 0, {.keepdims = false, .dtype = std::nullopt, .initial = 9}); }, {{0, 0}}});
  rows.push_back({"clip between, at and beyond its bounds", {{-2, -1, 0, 1, 2}}, [](const Xs& x) { return sum(clip(x[0], -1, 1)); }, {{0, 1, 1, 1, 0}}, hessian_of(Values(25, 0.0))});
  rows.push_back({"clip, its bounds", {{-1, 0, 3}, {-1, 1, -2}, {2, 2, 2}}, [](const Xs& x) { return sum(clip(x[0], x[1], x[2])); }, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  rows.push_back({"one-sided clip", {{-1, 0, 1}}, [](const Xs& x) { return sum(clip(x[0], 0, std::nullopt)) + sum(clip(x[0], std::nullopt, 0)); }, {{1, 2, 1}}});
  rows.push_back({"relu and abs at 0", {{0, -0.0}}, [](const Xs& x) { return sum(relu(x[0]) + abs(x[0])); }, {{0, 0}}, hessian_of(none2)});
  rows.push_back({"cumulative_max of equals", {{2, 2}}, [](const Xs& x) { return sum(cumulative_max(x[0])); }, {{1.5, 0.5}}});
}

inline void add_branches(std::vector<GradientRow>& rows) {
  const auto diagonal = [](const Values& d) {
    Values all(d.size() * d.size(), 0.0);
    for (std::size_t k = 0; k < d.size(); ++k) all[k * d.size() + k] = d[k];
    return std::vector<std::vector<Values>>{{all}};
  };
  rows.push_back({"log of what is positive", {{0, -1, 2}}, [](const Xs& x) { return sum(where(x[0] > 0, log(x[0]), 0)); }, {{0, 0, 0.5}}, diagonal({0, 0, -0.25})});
  rows.push_back({"sqrt of what is positive", {{0, -1, 4}}, [](const Xs& x) { return sum(where(x[0] > 0, sqrt(x[0]), 0)); }, {{0, 0, 0.25}}, diagonal({0, 0, -1 / 32.0})});
  rows.push_back({"a quotient with a divisor of 0 not taken", {{0, 2}}, [](const Xs& x) { return sum(where(x[0] != 0, sin(x[0] - 2) / (x[0] - x[0] * 0), 0)); }, {{0, 0.5}}});
  rows.push_back({"sqrt at 0", {{0, 4}}, [](const Xs& x) { return sum(sqrt(x[0])); }, {{infinity, 0.25}}});
  rows.push_back({"sqrt at 0, of weight 0", {{0, 4}}, [](const Xs& x) { return sum(sqrt(x[0]) * x[0]); }, {{0, 3}}, {}, false});
  rows.push_back({"sqrt of a square at 0", {{3, -4}}, [](const Xs& x) { return sum(sqrt(square(x[0]))); }, {{1, -1}}, diagonal({0, 0})});
  rows.push_back({"norm at 0", {{0, 0}}, [](const Xs& x) { return norm(x[0]); }, {{0, 0}}, diagonal({0, 0})});
  rows.push_back({"norm at 0, of weight 0", {{0, 0}}, [](const Xs& x) { return relu(norm(x[0]) - 1); }, {{0, 0}}, diagonal({0, 0})});
  rows.push_back({"norm, squared, at 0", {{0, 0}}, [](const Xs& x) { return square(norm(x[0])); }, {{0, 0}}});
  rows.push_back({"norm", {{3, -4}}, [](const Xs& x) { return norm(x[0]); }, {{0.6, -0.8}}, hessian_of({0.128, 0.096, 0.096, 0.072})});
  rows.push_back({"hypot at 0", {{0}, {0}}, [](const Xs& x) { return sum(hypot(x[0], x[1])); }, {{0}, {0}}, {{{0}, {0}}, {{0}, {0}}}});
  rows.push_back({"var of equals", {{2, 2}}, [](const Xs& x) { return var(x[0]); }, {{0, 0}}, hessian_of({0.5, -0.5, -0.5, 0.5})});
  rows.push_back({"std of equals", {{2, 2, 2}}, [](const Xs& x) { return weft::std(x[0]); }, {{0, 0, 0}}, hessian_of(Values(9, 0.0))});
  rows.push_back({"std of equals, added to something", {{2, 2}}, [](const Xs& x) { return weft::std(x[0]) + sum(x[0] * x[0]); }, {{4, 4}}, diagonal({2, 2})});
  rows.push_back({"layer_norm of equals", {{2, 2}}, [](const Xs& x) { return sum(layer_norm(x[0], x[0], x[0]) * x[0]); }, {{4, 4}}});
  rows.push_back({"logsumexp of -infinity", {{-infinity, -infinity}}, [](const Xs& x) { return logsumexp(x[0]); }, {{0, 0}}, diagonal({0, 0})});
  rows.push_back({"logsumexp beside -infinity", {{-infinity, 1}}, [](const Xs& x) { return logsumexp(x[0]); }, {{0, 1}}, hessian_of({0, 0, 0, 0})});
}

inline void add_powers(std::vector<GradientRow>& rows) {
  const auto raised = [](const Xs& x) { return sum(power(x[0], x[1])); };
  const auto row = [&](const char* name, double x, double n, double dx, double dn, double dxx, double dxn, double dnn) {
    rows.push_back({std::string("power at ") + name, {{x}, {n}}, raised, {{dx}, {dn}}, {{{dxx}, {dxn}}, {{dxn}, {dnn}}}});
  };
  row("(0, 0)", 0, 0, 0, 0, 0, 0, 0);
  rows.push_back({"power at (0, 1)", {{0}, {1}}, raised, {{1}, {0}}});
  row("(0, 2)", 0, 2, 0, 0, 2, 0, 0);
  row("(0, 3)", 0, 3, 0, 0, 0, 0, 0);
  row("(-2, 3)", -2, 3, 12, nan_value, -12, nan_value, nan_value);   // no power of a negative base with an exponent near by
  const double log2 = std::log(2.0);
  row("(2, 0)", 2, 0, 0, log2, 0, 0.5, log2 * log2);
  rows.push_back({"power at (subnormal, 0)", {{0x1p-1070}, {0}}, raised, {{0}, {std::log(0x1p-1070)}}});
  row("(2, 3)", 2, 3, 12, 8 * log2, 12, 4 + 12 * log2, 8 * log2 * log2);
  const auto constant = [&](double n, double x, double dx, double dxx) {
    rows.push_back({weft::concat("power of ", x, " to a constant ", n), {{x}}, [n](const Xs& xs) { return sum(power(xs[0], n)); }, {{dx}}, {{{dxx}}}});
  };
  constant(0, 0, 0, 0);
  constant(1, 0, 1, 0);
  constant(2, 0, 0, 2);
  constant(3, 0, 0, 0);
  constant(0.5, 0, infinity, -infinity);
  constant(2.5, 0, 0, 0);
  constant(3, -2, 12, -12);
  constant(-1, -2, -0.25, -0.25);
  rows.push_back({"2 to the power of x", {{3}}, [](const Xs& x) { return sum(power(2.0, x[0])); }, {{8 * log2}}, {{{8 * log2 * log2}}}});
  rows.push_back({"0 to the power of x", {{2, 0}}, [](const Xs& x) { return sum(power(0.0, x[0])); }, {{0, 0}}, {{{0, 0, 0, 0}}}});
}

inline std::vector<GradientRow> all() {
  std::vector<GradientRow> rows;
  add_products(rows);
  add_ties(rows);
  add_branches(rows);
  add_powers(rows);
  return rows;
}

// Everything a row says, as outputs with the values they should have.
struct Expected {
  std::string what;
  Expr output;
  Values values;
};
class RowGraph {
 public:
  explicit RowGraph(const GradientRow& row) {
    for (std::size_t k = 0; k < row.at.size(); ++k) {
      const auto count = static_cast<weft::Index>(row.at[k].size());
      inputs.push_back(graph.input(weft::concat("x", k), weft::f64, {count}));
      arrays.push_back(weft::Array::from<double>(row.at[k], {count}));
    }
    const Expr loss = row.loss(inputs);
    const Xs gradients = grad(loss, inputs);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      expected.push_back({weft::concat("gradient by x", k), gradients[k], row.first[k]});
      if (row.forward) expected.push_back({weft::concat("gradient by x", k, ", forward"), forward({loss}, k), row.first[k]});
    }
    for (std::size_t k = 0; k < row.second.size(); ++k)
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        const std::size_t columns = row.at[j].size();
        for (std::size_t e = 0; e < row.at[k].size(); ++e) {
          const Expr element = gradients[k].slice({static_cast<weft::Index>(e)});
          const auto from = row.second[k][j].begin() + static_cast<std::ptrdiff_t>(e * columns);
          const Values line(from, from + static_cast<std::ptrdiff_t>(columns));
          expected.push_back({weft::concat("Hessian by x", k, "[", e, "] and x", j), grad(element, {inputs[j]}, weft::Disconnected::zero)[0], line});
          expected.push_back({weft::concat("Hessian by x", k, "[", e, "] and x", j, ", forward"), forward(element, j), line});
        }
      }
  }
  RowGraph(const RowGraph&) = delete;

  // The derivatives that differ from the table's, one per line.
  std::string compare(const std::vector<weft::Array>& got) const {
    std::string text;
    for (std::size_t k = 0; k < expected.size(); ++k)
      for (std::size_t e = 0; e < expected[k].values.size(); ++e) {
        const double a = got[k].at<double>({static_cast<weft::Index>(e)}), b = expected[k].values[e];
        if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 4e-15 * std::abs(b)) continue;
        text += weft::concat("\n  ", expected[k].what, " at ", e, ": got ", a, ", expected ", b);
      }
    return text;
  }
  std::vector<Expr> outputs() const {
    std::vector<Expr> list;
    for (const Expected& each : expected) list.push_back(each.output);
    return list;
  }

  weft::Graph graph;
  Xs inputs;
  std::vector<weft::Array> arrays;
  std::vector<Expected> expected;

 private:
  // The derivatives of y by every element of an input, each along a tangent of its own.
  Expr forward(const Expr& y, std::size_t k) {
    const weft::Index count = arrays[k].size();
    Xs parts;
    for (weft::Index e = 0; e < count; ++e) {
      weft::Array tangent(weft::f64, {count});
      tangent.set({e}, weft::Scalar(1.0));
      parts.push_back(jvp({y}, {inputs[k]}, {graph.constant(tangent)}, weft::Disconnected::zero)[0]);
    }
    return stack(parts);
  }
};

}  // namespace gradient_tables
