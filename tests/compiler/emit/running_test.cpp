// Scans that run as vectors along their own axis: what integers, conditions and extremes have so far.
#include <limits>
#include <regex>

#include <weft/recurrence.h>

#include "bits.h"
#include "guarded.h"
#include "schedule/running.h"

using namespace weft;

namespace {

bool runs_along(const Function& f) { return std::regex_search(f.program(), std::regex("t[0-9]+ = s[0-9]+ = ")); }

Node scan_node(const Expr& scan) { return scan.graph().node(scan.id()); }

std::vector<Expr> running_folds(const Expr& x, int axis, bool reverse) {
  const ScanOptions options{.dtype = std::nullopt, .reverse = reverse, .include_initial = false};
  std::vector<Expr> all{cumulative_max(x, axis, options), cumulative_min(x, axis, options)};
  if (!is_floating(x.dtype())) all.insert(all.end(), {cumulative_sum(x, axis, options), cumulative_prod(x, axis, options)});
  return all;
}

}  // namespace

TEST_CASE("what a scan is the running value of, if any order of elements gives the same bits") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), h = g.input("h", f16, {"n"}), i = g.input("i", DType::i32, {"n"}), b = g.input("b", DType::bool_, {"n"});
  CHECK(running_accumulator(scan_node(cumulative_max(x))) == AccumulatorId::max);
  CHECK(running_accumulator(scan_node(cumulative_min(h))) == AccumulatorId::min);
  CHECK(running_accumulator(scan_node(cumulative_sum(i))) == AccumulatorId::sum);
  CHECK(running_accumulator(scan_node(cumulative_prod(b))) == AccumulatorId::prod);                   // of i64
  CHECK_FALSE(running_accumulator(scan_node(cumulative_sum(x))));
  CHECK_FALSE(running_accumulator(scan_node(cumulative_prod(h))));
  const auto scanned = [&](const Expr& of, auto start, auto step) { return running_accumulator(scan_node(scan(of, Accumulator::fold("own", start, step)))); };
  CHECK(scanned(i, 5, [](Expr s, Expr e) { return maximum(e * 3, s); }) == AccumulatorId::max);
  CHECK(scanned(b, false, [](Expr s, Expr e) { return logical_or(s, e); }) == AccumulatorId::any);
  CHECK_FALSE(scanned(i, 0, [](Expr s, Expr e) { return s - e; }));
  CHECK_FALSE(scanned(i, 0, [](Expr s, Expr e) { return maximum(s, e) + 1; }));
  CHECK_FALSE(scanned(i, 0, [](Expr s, Expr e) { return maximum(s, e + s); }));
  CHECK_FALSE(scanned(i, 0, [](Expr s, Expr) { return s + s; }));
  CHECK_FALSE(scanned(i, 0, [](Expr, Expr e) { return e; }));
  CHECK_FALSE(scanned(x, 0.0, [](Expr s, Expr e) { return where(e > s, e, s); }));
}

TEST_CASE("running folds of every dtype and register width, from either end") {
  for (const DType dtype : loop_dtypes)
    for (const int lanes : {0, 4, 8}) {
      if (is_boolean(dtype)) continue;
      CAPTURE(dtype);
      CAPTURE(lanes);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), v = g.input("v", dtype, {"k"});
      std::vector<Expr> outputs = running_folds(x, 1, false), backwards = running_folds(v, 0, true);
      outputs.insert(outputs.end(), backwards.begin(), backwards.end());
      const Function f = compile(outputs, {x, v}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const Index n : {0, 1, 2, 15, 16, 17, 31, 33, 64, 70, 1030}) {
        same_bits(f, {special(dtype, {3, n}), special(dtype, {n})});
        same_bits(f, {counting(dtype, {n, 3}).transpose(), counting(dtype, {2 * n}).slice(0, 0, n, 2)});
      }
      CHECK(runs_along(f));
    }
}

TEST_CASE("NaN stays from where it stands, zeros of either sign, in any lane and vector") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {f32, f64, f16})
    for (const int lanes : {0, 4, 8}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n"});
      const auto from = [&](double start) { return scan(x, Accumulator::fold("own", start, [](Expr s, Expr e) { return maximum(s, e); }), 0); };
      const Function f = compile({cumulative_max(x), cumulative_min(x), from(nan), from(3), from(-infinity)}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
      for (Index at = 0; at < 90; ++at) {
        same_bits(f, {counted_by(dtype, {90}, [&](Index k) { return k == at ? nan : static_cast<double>(k * 31 % 17); })});
        same_bits(f, {counted_by(dtype, {90}, [&](Index k) { return k == at ? 0.0 : -0.0; })});
        same_bits(f, {counted_by(dtype, {90}, [&](Index k) { return k == at ? -0.0 : 0.0; })});
        same_bits(f, {counted_by(dtype, {90}, [&](Index k) { return k == at ? -1.0 : -infinity; })});
      }
      CHECK(runs_along(f));
    }
}

TEST_CASE("where no instruction orders zeros, largest rows so far run across the vectors, and those of integers along them") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), i = g.input("i", DType::i32, {"n", "m"});
  const auto runs = [](const Expr& scan, const Expr& input) {
    const Function f = compile({scan}, {input}, {.threads = 1, .lanes = 8, .verify = true});
    same_bits(f, {counting(input.dtype(), {400, 300})});
    return runs_along(f);
  };
  CHECK_FALSE(runs(cumulative_max(x, 1), x));
  CHECK(runs(cumulative_max(i, 1), i));
}

TEST_CASE("accumulators of one's own, what comes before and after them, and what reads their values elsewhere") {
  Graph g;
  const Expr x = g.input("x", DType::i32, {"n", "m"}), b = g.input("b", DType::bool_, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const Expr seen = scan(b, Accumulator::fold("seen", false, [](Expr s, Expr e) { return logical_or(e, s); }), 1);
  const Expr all = scan(x, Accumulator::fold("all", -1, [](Expr s, Expr e) { return bitwise_and(s, e + 1); }), 1);
  const Expr place = cumulative_sum(cast(y > 0, DType::i64), 1), top = cumulative_max(y, 1);
  std::vector<Expr> outputs{seen, all, where(seen, place, -1), y / top, top.slice({{}, Slice(1, {})}) - top.slice({{}, Slice({}, -1)}), max(top - y, 1), exp(top) * y};
  for (const int threads : {1, 3}) {
    const Function f = compile(outputs, {x, b, y}, {.threads = threads, .verify = true});
    CHECK(runs_along(f));
    for (const Dims& shape : {Dims{1, 40}, Dims{5, 7}, Dims{33, 100}, Dims{2, 1}, Dims{70, 515}})
      same_bits(f, {counting(DType::i32, shape), counted_by(DType::bool_, shape, [](Index k) { return k % 23 == 22; }), uneven(f32, shape)});
  }
  const Function down = compile({cumulative_max(y, 0)}, {y}, {.threads = 1});          // the vectors run across it
  same_bits(down, {uneven(f32, {50, 100})});
  CHECK_FALSE(runs_along(down));
}
