#include "runner.h"

#include "registry.h"

namespace conformance {
namespace {

// Holds what `run` gives, or the Error it throws, against expect and then alt_expect.
Outcome run_and_judge(const Case& test, Handler handler) {
  std::optional<Answer> answer;
  std::optional<weft::Error> error;
  try {
    answer = handler(test);
  } catch (const weft::Error& refusal) {
    error = refusal;
  }
  const auto judged = [&](const Json& expect) { return answer ? judge(test, expect, *answer) : judge_refusal(test, expect, *error); };
  const auto verdict = judged(test.expect);
  if (!verdict) return {};
  if (test.alternative.is_object() && !judged(test.alternative)) return {Verdict::alternative, ""};
  return {Verdict::failed, *verdict};
}

}  // namespace

Outcome run_case(const Json& object) {
  try {
    const Case test = read_case(object);
    const Handler handler = find_handler(test);
    if (!handler) return {Verdict::failed, "unknown op '" + test.op + "' in dialect '" + test.dialect + "'"};
    return run_and_judge(test, handler);
  } catch (const Skip& skip) {
    return {Verdict::skipped, skip.what()};
  } catch (const BadCase& error) {
    return {Verdict::failed, std::string("not a case: ") + error.what()};
  } catch (const std::exception& error) {
    return {Verdict::failed, error.what()};
  }
}

}  // namespace conformance
