// The largest error of every vector function, as compiled; fails where one exceeds what functions.h claims. "fast log" is that of
// Options::fast_math.
//
//   ulp_table [--stride=61] [--points=100000] [--samples=2000] [--targets] [function ..]
//
// --stride=N: every N-th of the 2^32 floats; 1 is all of them. --points=N: so many doubles or pairs of them, and so many pairs of
// floats. --samples=N: so many doubles against MPFR besides the worst ones. 0 leaves out floats or doubles.
// --targets: fails also where functions.h claims less than the library aims at.
#include "scan.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace weft::math_test;

struct Settings {
  uint64_t stride = 61;
  Sampling sampling{100000, 2000};
  bool targets = false;
  std::vector<std::string> names;
  bool wants(const std::string& name) const { return names.empty() || std::find(names.begin(), names.end(), name) != names.end(); }
};

// The shortest text that reads back as the same T.
template <class T> std::string text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, static_cast<T>(value)).ptr};
}
template <class T> std::string place(const Worst& worst, bool pair) { return pair ? text<T>(worst.x) + ", " + text<T>(worst.y) : text<T>(worst.x); }

std::string label(const auto& c) { return (c.fast ? "fast " : "") + std::string(c.name); }
double rounded_up(double error) { return std::ceil(error * 1000) / 1000; }

// At most 1 ULP in float (2 for pow and lgamma), 1.5 in double; 4 with Options::fast_math.
bool meets_target(const auto& c) {
  const std::string name = c.name;
  return c.fast ? c.limit32 <= 4 && c.limit64 <= 4 : c.limit32 <= (name == "pow" || name == "lgamma" ? 2 : 1) && c.limit64 <= 1.5;
}

bool report(const auto& c, const Settings& settings, const Worst& f32, const Worst& f64, bool pair, const Faults& faults) {
  std::printf("| %s | %.3f | %s | %.3f | %s | %g, %g |\n", label(c).c_str(), rounded_up(f32.error), place<float>(f32, pair).c_str(), rounded_up(f64.error), place<double>(f64, pair).c_str(), c.limit32, c.limit64);
  std::fflush(stdout);
  for (const std::string& fault : faults.all()) std::fprintf(stderr, "%s\n", fault.c_str());
  const bool kept = f32.error <= c.limit32 && f64.error <= c.limit64, enough = !settings.targets || meets_target(c);
  if (!kept) std::fprintf(stderr, "%s: the error is larger than claimed\n", label(c).c_str());
  if (!enough) std::fprintf(stderr, "%s: the claim is larger than the target\n", label(c).c_str());
  return kept && enough && faults.all().empty();
}

bool measure(const UnaryCase& c, const Settings& settings) {
  Faults faults;
  Worst f32, f64;
  if (settings.stride) f32 = scan_floats(c, settings.stride, faults);
  if (settings.sampling.points) f64 = scan_doubles(c, settings.sampling, faults);
  return report(c, settings, f32, f64, false, faults);
}

bool measure(const BinaryCase& c, const Settings& settings) {
  Faults faults;
  Worst f32, f64;
  if (settings.stride) f32 = scan_float_pairs(c, settings.sampling.points, faults);
  if (settings.sampling.points) f64 = scan_double_pairs(c, settings.sampling, faults);
  return report(c, settings, f32, f64, true, faults);
}

bool number(const char* word, const char* flag, uint64_t& value) {
  const std::size_t length = std::strlen(flag);
  if (std::strncmp(word, flag, length) != 0) return false;
  value = std::strtoull(word + length, nullptr, 10);
  return true;
}

}  // namespace

int main(int count, char** words) {
  Settings settings;
  for (int k = 1; k < count; ++k) {
    const bool flag = number(words[k], "--stride=", settings.stride) || number(words[k], "--points=", settings.sampling.points) || number(words[k], "--samples=", settings.sampling.samples);
    if (std::strcmp(words[k], "--targets") == 0) settings.targets = true;
    else if (!flag) settings.names.push_back(words[k]);
  }
  bool right = true;
  std::printf("| function | f32 max ULP | at | f64 max ULP | at | claimed |\n|---|---|---|---|---|---|\n");
  for (const UnaryCase& c : unary_cases)
    if (settings.wants(label(c))) right &= measure(c, settings);
  for (const BinaryCase& c : binary_cases)
    if (settings.wants(label(c))) right &= measure(c, settings);
  return right ? 0 : 1;
}
