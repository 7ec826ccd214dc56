// What was decided for a variant, and why: the middle of Function::report().
#pragma once
#include <string>

#include "function_state.h"

namespace weft {

std::string report_text(const Function::State& state, const Variant& variant);

}  // namespace weft
