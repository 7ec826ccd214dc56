// Cases in child processes, so that a crash ends one case only.
//
// A child runs the cases one after the other and sends each outcome through a pipe. If it dies or takes longer than ten
// minutes over one case, that case has failed and another child goes on with the next. The parent makes no threads.
#pragma once
#include <functional>

#include "runner.h"

namespace conformance {

void run_isolated(const Json& cases, const std::function<void(std::size_t, const Outcome&)>& report,
                  const std::function<Outcome(const Json&)>& run = run_case);

}  // namespace conformance
