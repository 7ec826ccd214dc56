// A function of f64 inputs, evaluated and differentiated by the interpreter, and compared with central differences.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/grad.h>
#include <weft/passes.h>
#include <weft/text.h>

#include "values.h"

using Values = std::vector<double>;

inline void check_close(const Values& got, const Values& expected, double bound = 1e-9) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    CAPTURE(k);
    CAPTURE(got[k]);
    CAPTURE(expected[k]);
    CHECK(std::abs(got[k] - expected[k]) <= bound * std::max(1.0, std::abs(expected[k])));
  }
}

struct Problem {
  weft::Graph g;
  std::vector<weft::Expr> x;
  std::vector<weft::Array> arrays;
  explicit Problem(const std::vector<weft::Array>& values) {
    for (const weft::Array& value : values) {
      x.push_back(g.input(weft::concat("x", x.size()), weft::f64, weft::Shape(value.shape().begin(), value.shape().end())));
      arrays.push_back(value);
    }
  }
  Values operator()(const weft::Expr& output) const { return values_of(output, x, arrays); }
  std::vector<Values> gradients(const weft::Expr& loss) {
    std::vector<Values> results;
    for (const weft::Expr& gradient : grad(loss, x, weft::Disconnected::zero)) results.push_back((*this)(gradient));
    return results;
  }

  // d loss / d x[k][element] by central differences: error about 1e-10 of the values involved.
  double difference(const weft::Expr& loss, std::size_t k, weft::Index element) {
    auto* data = static_cast<double*>(arrays[k].data());
    const double at = data[element], h = 6e-6 * std::max(1.0, std::abs(at));
    data[element] = at + h;
    const double high = (*this)(loss)[0];
    data[element] = at - h;
    const double low = (*this)(loss)[0];
    data[element] = at;
    return (high - low) / (2 * h);
  }
  void check_against_differences(const weft::Expr& loss) {
    const auto got = gradients(loss);
    for (std::size_t k = 0; k < x.size(); ++k)
      for (std::size_t e = 0; e < got[k].size(); ++e) {
        CAPTURE(k);
        CAPTURE(e);
        const double expected = difference(loss, k, static_cast<weft::Index>(e));
        if (!std::isfinite(expected)) continue;   // outside the domain of the function
        CAPTURE(got[k][e]);
        CAPTURE(expected);
        CHECK(std::abs(got[k][e] - expected) <= 1e-6 * std::max(1.0, std::abs(expected)));
      }
  }
  // Also the gradient of a weighted sum of the gradients.
  void check_twice(const weft::Expr& loss) {
    check_against_differences(loss);
    weft::Expr total;
    double weight = 0.5;
    for (const weft::Expr& gradient : grad(loss, x, weft::Disconnected::zero)) {
      const weft::Expr weights = g.constant(affine({weft::element_count(dims(gradient))}, 5, 3, 11, -4, weight));
      const weft::Expr part = sum(flat(gradient) * weights);
      total = total ? total + part : part;
      weight += 0.25;
    }
    check_against_differences(total);
  }

 private:
  static weft::Dims dims(const weft::Expr& e) {
    weft::Dims result;
    for (const weft::Extent& extent : e.shape()) result.push_back(extent.constant());
    return result;
  }
  // A rank-1 value of all elements: rows of the last axes one after the other, by sums with one-hot weights.
  weft::Expr flat(const weft::Expr& e) {
    const weft::Dims shape = dims(e);
    const weft::Index count = weft::element_count(shape);
    if (e.rank() == 1) return e;
    if (e.rank() == 0) return broadcast_to(e, {1});
    weft::Dims wide{count};
    wide.insert(wide.end(), shape.begin(), shape.end());
    weft::Array one_hot(weft::f64, wide);
    for (weft::Index k = 0; k < count; ++k) static_cast<double*>(one_hot.data())[k * count + k] = 1;
    std::vector<int> axes;
    for (int k = 1; k <= e.rank(); ++k) axes.push_back(k);
    return sum(g.constant(one_hot) * e, axes);
  }
};

inline weft::Array vec(const Values& values) { return doubles(values, {static_cast<weft::Index>(values.size())}); }

// The text of outputs after the passes that a compiled function runs.
inline std::string text_of(const weft::Graph& g, const std::vector<weft::Expr>& inputs, const std::vector<weft::Expr>& outputs) {
  return to_text(drop_dead(merge_duplicates(absorb_copies(simplify(extract(g, inputs, outputs))))));
}
