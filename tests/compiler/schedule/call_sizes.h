// How many nests a call runs, and what lies between them.
#pragma once
#include <vector>

#include <weft/function.h>

struct CallSizes {
  int nests;
  weft::Index temporary_bytes;
};

inline CallSizes sizes_of_call(const weft::Function& f, const std::vector<weft::Array>& arrays) {
  const weft::Call call = f.bind(arrays, f(arrays));
  return {call.loop_nests(), call.temporary_bytes()};
}
