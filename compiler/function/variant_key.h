// What of a call's arrays decides which variant of a Function runs.
#pragma once
#include <string>
#include <vector>

#include <weft/array.h>

#include "schedule/cost_model.h"

namespace weft {

// How many bytes of arguments a call may leave in the caches: as the user says, or what the machine keeps of a call on so many threads.
struct CacheLimit {
  Index given;                                      // 0: not
  const Machine& machine;
  int threads;
  Index bytes(double all, double written) const { return given > 0 ? given : machine.bytes_within_caches(all, written, threads); }
};

// Whether stores past the caches pay, and where they are possible: whether all results begin lines of 64 bytes, and so do their rows along every
// axis but their fastest.
PastCaches stores_past_caches(const std::vector<Array>& inputs, const std::vector<Array>& outputs, const CacheLimit& limit);

// What counts of one array.
std::string layout_key(const Dims& strides, const Dims& shape);

// Calls with one key may run the same code, whatever their sizes, if what it takes for granted of them holds (size_facts.h).
std::string variant_key(const std::vector<Array>& inputs, const std::vector<Array>& outputs, PastCaches stream);

}  // namespace weft
