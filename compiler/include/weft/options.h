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
  std::shared_ptr<Executor> executor;           // runs the stages instead of threads of this function's own
  bool verify = false;                          // checks every level after every pass
  std::string trace;                            // pass names, comma separated, or "all": prints what they change to stderr
};

}  // namespace weft
