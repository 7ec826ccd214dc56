// Accumulators as Theano cases state them: {accumulator: name, init, step}, where step is a nested list over c (the state) and
// m (an element), or a formula "log(exp(c)+exp(m))".
#pragma once
#include <string>

#include <weft/recurrence.h>

#include "evaluate.h"

namespace conformance {

struct AccumulatorText {
  std::string name;
  double init = 0;
  Json step;
};

// The accumulators that the cases use by name without saying what they are: horner, sub, mulplus, sumsq, logsumexp.
AccumulatorText named_accumulator(const std::string& name);
AccumulatorText read_accumulator(const Json& attrs);

weft::Value step_of(const AccumulatorText& text, const Expr& state, const Expr& element);
weft::Accumulator build_accumulator(const AccumulatorText& text);
// The same, with elements (m, e): step(c + e, m). The gradient of e is that of the state before each step.
weft::Accumulator build_observed_accumulator(const AccumulatorText& text);

}  // namespace conformance
