// Compiled functions on blocks of arguments: the loops that users run, in vectors.
#pragma once
#include <string>
#include <vector>

#include <weft/weft.h>

namespace weft::math_test {

inline constexpr Index block = 1 << 13;      // all arrays of a block stay in the second-level cache

// result = f(x, ..) in T. In float also wide, the function of the widened arguments in double.
template <class T> class Kernel {
 public:
  Kernel(const char* name, int arity, bool fast_math);
  T *x, *y;                                  // y: the second argument, if any
  const T* result;
  const double* wide;
  void operator()() const { call_(); }

 private:
  std::vector<Array> arrays_;
  Call call_;
};

}  // namespace weft::math_test
