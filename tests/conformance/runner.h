// Runs cases and says how they came out.
#pragma once
#include <string>

#include "case.h"

namespace conformance {

enum class Verdict : char { passed, alternative, failed, skipped };       // alternative: passed by alt_expect

struct Outcome {
  Verdict verdict = Verdict::passed;
  std::string text;                              // of a failure or skip
};

Outcome run_case(const Json& object);            // never throws

}  // namespace conformance
