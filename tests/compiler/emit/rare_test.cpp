// Code that functions seldom run: for huge arguments of sines, for what has no normal logarithm.
#include "bits.h"
#include "occurrences.h"

using namespace weft;

namespace {

// One lane after the other is a number that few are, and the others are not.
void each_lane_alone(const Function& f, DType dtype, const std::vector<double>& seldom) {
  constexpr Index n = 72;                  // two vectors side by side twice, and some lanes more
  for (Index lane = 0; lane < n; ++lane) {
    CAPTURE(lane);
    same_bits(f, {counted_by(dtype, {n}, [&](Index k) { return k == lane ? seldom[static_cast<std::size_t>(lane) % seldom.size()] : 0.25 + static_cast<double>(k * 37 % 31) / 8; })});
  }
}

}  // namespace

TEST_CASE("what functions seldom need is code for two registers, for any lane that needs it") {
  const std::vector<double> huge = {1e30, -1e20, INFINITY, -INFINITY, NAN, 0x1p100, -3e9}, odd = {0.0, -0.0, -1.0, INFINITY, -INFINITY, NAN, 1e-40, 5e-324, -1e-40};
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n"});
    for (const int lanes : {0, 8, 4}) {
      CAPTURE(lanes);
      const Options options{.threads = 1, .lanes = lanes, .verify = true};
      for (const Expr& wave : {sin(x), cos(x), tan(x)}) {
        const Function f = compile({wave}, {x}, options);
        each_lane_alone(f, dtype, huge);
        if (lanes > 0) CHECK(f.llvm().find("registers.end") != std::string::npos);
      }
      for (const Expr& logarithm : {log(x), log2(x)}) each_lane_alone(compile({logarithm}, {x}, options), dtype, odd);
    }
  }
}

TEST_CASE("loops over registers share what they keep on the stack") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  Expr y = x;
  for (int k = 0; k < 6; ++k) y = sin(y) + cos(2.0f * y);
  const Function f = compile({y}, {x}, {.threads = 1, .lanes = 4, .verify = true});
  same_bits(f, {counted_by(f32, {100}, [](Index k) { return k % 7 == 3 ? 1e12 : static_cast<double>(k); })});
  CHECK(occurrences(f.llvm(), "registers.end") > 12);
  CHECK(occurrences(f.llvm(), "!weft.registers") <= 2 * occurrences(f.llvm(), "define "));
}
