#include "trace.h"

#include <cstdlib>
#include <iostream>

#include <weft/error.h>

namespace weft {

Trace::Trace(const Options& options) {
  const char* variable = std::getenv("WEFT_TRACE");
  list_ = options.trace.empty() && variable ? variable : options.trace;
}

bool Trace::names(std::string_view pass) const {
  bool found = false;
  each_word([&](std::string_view word) { found |= word == pass || word == "all"; });
  return found;
}

void Trace::show(std::string_view pass, const std::string& before, const std::string& after) {
  if (before != after) std::cerr << "--- " << pass << "\n" << after;
}

void Trace::refuse(std::string_view word) {
  fail(ErrorKind::usage, concat("trace: there is no pass ", word, "\n  `weft passes` lists them; all traces each"));
}

}  // namespace weft
