// What of a call's arrays decides which variant of a Function runs.
#pragma once
#include <string>
#include <vector>

#include <weft/array.h>

namespace weft {

// Whether stores past the caches pay, and are possible: the results begin whole lines of 64 bytes, along every axis but their fastest.
// cache_bytes: above 0.
bool stores_past_caches(const std::vector<Array>& inputs, const std::vector<Array>& outputs, Index cache_bytes);

// Calls with one key may run the same code, whatever their sizes, if what it takes for granted of them holds (size_facts.h).
std::string variant_key(const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool stream);

}  // namespace weft
