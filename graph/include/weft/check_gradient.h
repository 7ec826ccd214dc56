// Is the gradient right? Derivatives against central differences, element by element.
//
//   GradientReport report = check_gradient(loss, {w, b}, {wa, ba});
//   if (!report.ok) std::cerr << report.text;          // "d %loss / d %w[3]: 1.25 by the gradient, 0.75 by differences"
//
// Everything runs in the reference interpreter: two evaluations of the loss for each element, so hand in small arrays.
// A difference with step h = cbrt(epsilon) max(1, |x|) has a relative error of about epsilon^(2/3): 4e-11 in f64, 2e-5 in
// f32. An element counts as wrong if |derivative - difference| > bound * max(1, |difference|), or if one of them is NaN and
// the other is not; the default bound is 1e-6 in f64, 1e-2 otherwise. At a kink the two differ rightly: move the data.
// Shapes and dtypes: loss of rank 0; wrt and inputs are inputs of its graph, floating, with arrays that fit.
// Errors: those of grad and interpret. Thread-safety: adds the gradient's nodes to the graph, as grad does.
#pragma once
#include <string>
#include <vector>

#include <weft/grad.h>
#include <weft/interpret.h>

namespace weft {

struct GradientReport {
  bool ok = true;
  Index elements = 0, wrong = 0;
  double worst = 0;                                          // the largest |derivative - difference| / max(1, |difference|)
  Expr wrt;                                                  // where that is
  Dims index;
  double derivative = 0, difference = 0;                     // there
  std::string text;                                          // one line about it
};

GradientReport check_gradient(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Array>& arrays);
// With inputs that are not differentiated. bound 0: the default.
GradientReport check_gradient(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Expr>& inputs, const std::vector<Array>& arrays,
                              double bound = 0);

}  // namespace weft
