// What the loops of a compiled function do, in order, from the text of its program.
//
// The text is run with the extents it states: on entry to a loop that folds "init acc1" (1: the rank of what is folded to), then
// "acc x[0,0]" for each element added to it, "set rank2 out[0,0]" for each element stored. Statements of one iteration that
// do not depend on each other have no order in the source of the rule: accumulations are listed before stores.
#pragma once
#include <string>
#include <vector>

namespace conformance {

// BadCase for a line that is none of loop, load, compute, accumulate and store.
std::vector<std::string> loop_trace(const std::string& program);

}  // namespace conformance
