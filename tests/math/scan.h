// The largest errors of the functions of functions.h, as compiled.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "functions.h"

namespace weft::math_test {

struct Worst {
  double error = 0, x = 0, y = 0;
  uint64_t count = 0;
  void add(double e, double at_x, double at_y = 0) {
    ++count;
    if (e > error) error = e, x = at_x, y = at_y;
  }
  void merge(const Worst& other) {
    const uint64_t sum = count + other.count;
    if (other.error > error) *this = other;
    count = sum;
  }
};

// What is wrong apart from errors in ULP: a result of the host lane that differs, references that disagree.
class Faults {
 public:
  void add(const std::string& text);                 // of many the first few are kept
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

// Every stride-th float (an even stride would see short significands only) and all special ones, against the function of double.
// Of these every 61st also against libm, and against the function on host lanes.
Worst scan_floats(const UnaryCase& c, uint64_t stride, Faults& faults);
Worst scan_float_pairs(const BinaryCase& c, uint64_t pairs, Faults& faults);

// So many points against long double. Those within 0.05 ULP of the largest error so far, and `samples` others, against MPFR, which
// also measures the screen.
struct Sampling {
  uint64_t points, samples;
};
Worst scan_doubles(const UnaryCase& c, Sampling sampling, Faults& faults);
Worst scan_double_pairs(const BinaryCase& c, Sampling sampling, Faults& faults);

}  // namespace weft::math_test
