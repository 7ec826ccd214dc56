// How a Function is compiled and run. Pure data.
//
//   weft::compile({loss}, {x, w}, {.threads = 2})
//
// fast_math relaxes, where that is faster, these laws and no other:
// - The float functions, power included, may be those of compiler/vecmath/fast.h: within 4 ULP instead of about 1 (of the
//   smallest subnormal, zero). Infinities, NaN and signed zeros are as without it: never a wrong finite number.
// - x / y rounds once. Where y is the same for a whole vector loop it may be x * (1 / y), within 2 ULP; for a y whose reciprocal is
//   zero, subnormal or infinite it stays a division.
// - So equal quotients may have unequal bits where they are computed in different loops, and the interpreter has others.
// All else stays: the products that are contracted (further ones gain nothing: the pass `contract` takes those that do), the
// order of sums, NaN in max and min, the errors, and that a Function gives the same bits on every run and any number of threads.
// Gains: README, Accuracy.
//
// cache_dir: without it every process generates machine code of its own, some 5 to 60 ms for a graph. With it that happens once for each
// graph, processor and version of weft and LLVM; reading it takes 1 to 3 ms. The directory is made if there is none; it may be shared by
// processes, and by functions with other options. What was not used for a month is removed, and the oldest above 1 GiB. Who can write to
// it decides what weft runs: keep it your own. A directory that cannot be written to: Error (usage) from compile.
#pragma once
#include <memory>
#include <string>

#include <weft/executor.h>

namespace weft {

struct Options {
  int threads = 0;                              // 0: one per processor that the calling thread may run on; results are the same bits for any number,
                                                // and fewer where the system gives no more
  int lanes = 0;                                // f32 lanes of the registers used, at most: 16 AVX-512, 8 AVX2, 4 SSE; 0: what the
                                                // processor has. Same bits with any; 4 has no fma instruction and is slow
  bool fast_math = false;                       // faster and less exact, see above
  std::shared_ptr<Executor> executor = nullptr; // runs the stages instead of the threads that functions share
  Index cache_bytes = 0;                        // calls on more bytes than this store results past the caches; 0: the third level, at most 24 MiB of it, more where
                                                // threads share it, or as calibrated; a third less to a third more, by the part of them that results are
  std::string cache_dir = {};                   // machine code is kept in this directory and read by later processes: see above
  bool verify = false;                          // checks every level after every pass
  std::string trace = {};                       // pass names, comma separated, or "all": prints what they change to stderr
};

}  // namespace weft
