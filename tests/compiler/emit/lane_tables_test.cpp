// Lookups in small tables.
#include "bits.h"
#include "occurrences.h"

using namespace weft;

TEST_CASE("two rows of a table of doubles are looked up by one load where no instruction permutes registers") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  struct Case {
    Expr result;
    int pairs;      // of rows that are asked for together
  };
  for (const Case& c : {Case{erf(x), 7}, Case{erfc(x), 8}, Case{pow(abs(x), x), 1}}) {
    CAPTURE(c.pairs);
    for (const int lanes : {0, 8, 4}) {
      CAPTURE(lanes);
      const Function f = compile({c.result}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const Index n : {256, 31, 3}) {
        const Array numbers = counted_by(f64, {n}, [](Index k) { return static_cast<double>(k * 37 % 251 - 125) / 20; });
        same_bits(f, {numbers});
        if (n != 256) continue;
        const int loads = occurrences(f.llvm(), "load <2 x double>");
        if (lanes > 0) CHECK(loads == 16 * c.pairs);
        if (f.llvm().find("+avx512f") != std::string::npos) CHECK(loads == 0);
      }
    }
  }
}
