// How a Function is compiled and run. Pure data.
//
//   weft::compile({loss}, {x, w}, {.threads = 2})
#pragma once
#include <memory>
#include <string>

#include <weft/executor.h>

namespace weft {

struct Options {
  int threads = 0;                              // 0: one per processor; results are the same bits for any number
  int lanes = 0;                                // f32 lanes of the registers used, at most: 16 AVX-512, 8 AVX2, 4 SSE; 0: what the
                                                // processor has. Same bits with any; 4 has no fma instruction and is slow
  std::shared_ptr<Executor> executor = nullptr; // runs the stages instead of threads of this function's own
  bool verify = false;                          // checks every level after every pass
  std::string trace = {};                       // pass names, comma separated, or "all": prints what they change to stderr
};

}  // namespace weft
