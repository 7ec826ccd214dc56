// The functions of the bench, and who computes them: weft, libmvec, SLEEF, libm. All but weft are found by name in shared libraries
// when the bench runs; what is not there has no time.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Range {
  double low, high;
};

struct MathFunction {
  const char* name;                                  // in ops.def
  Range x;                                           // arguments are uniform in it
  int arity = 1;
  Range y = {};
  const char* library_name = name;                   // elsewhere
  long double (*exact)(long double) = nullptr;       // where libm has none
};

struct Contestant {
  std::string name;                                  // a column of the table
  std::string symbol;
  std::function<void()> run;                         // null when the library has no such function
  double nanoseconds = 0, ulp = 0;                   // per element; the largest error over the sample
};

// Weft, weft with Options::fast_math, then the others, on the same arrays of 16 KiB; timed, and compared with the exact values.
inline constexpr std::size_t first_other = 2;
template <class T> std::vector<Contestant> measure(const MathFunction& function, double budget);

}  // namespace bench
