// What a case came out as, and whether that is what it expects.
//
// A handler (registry.h) turns a case into an Answer or throws: weft::Error where weft refuses it, Skip, Failure, BadCase.
// The judge compares with `expect`: every key in it must be known, so an expectation is never passed over in silence.
//
//   shape, dtype, data       the first value; large data as {rule: probes, count, sum, probes: [[index, value], ..]}
//   outputs                  a list of {shape, dtype, data}, one for each value
//   input_grads              a list of {wrt, shape, data}, by the names of the values
//   error                    the case must be refused: weft::Error of kind shape, dtype or usage, with an offending value
//   tol, compare             how to compare; see close() in compare.h
//   anything else            a fact of that name: layout, trace, type, nest, assignable, ..
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <weft/error.h>

#include "case.h"

namespace conformance {

struct Answer {
  std::vector<Array> values;
  std::vector<std::string> names;             // of the values: the inputs whose gradients they are
  Json facts = Json::object();                // overrides shape and dtype of the first value
};

// Nothing if the expectation is met, otherwise what was expected and what came.
std::optional<std::string> judge(const Case& test, const Json& expect, const Answer& answer);
std::optional<std::string> judge_refusal(const Case& test, const Json& expect, const weft::Error& error);

}  // namespace conformance
