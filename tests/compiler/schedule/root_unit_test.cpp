// How long units of a root that runs as vectors are: what a unit keeps, and whole rows of what memory holds.
#include "schedule/root_unit.h"

#include "bits.h"
#include "layouts.h"
#include "rows.h"

using namespace weft;

namespace {

// The units that the report tells of.
bool runs_by(const Function& f, Index elements) { return f.report().find(concat(" by ", elements, ",")) != std::string::npos; }

}  // namespace

TEST_CASE("what folds rows that memory holds goes along whole rows, in the caches along parts of them, with the bits of the interpreter") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const std::vector<Expr> all{sum(x * y, 0), var(x, 0), argmax(x, 0), any(x > 1.5, 0), logsumexp(x, 0), (x - min(x, 0)) / (max(y, 0) + 3)};
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const int threads : {1, 2}) {
      CAPTURE(k);
      CAPTURE(threads);
      const auto compiled = [&](double third_level, Index rows, Index columns) {
        const Function f = compile_for(with_caches(third_level), {all[k]}, {x, y}, {.threads = threads, .verify = true});
        same_bits(f, {uneven(f32, {rows, columns}), near_one(f32, {rows, columns})});
        return f;
      };
      CHECK(runs_by(compiled(1000, 300, 5000), threads == 1 ? 5120 : 2560));
      CHECK_FALSE(runs_by(compiled(1 << 26, 300, 5000), threads == 1 ? 5120 : 2560));
      compiled(1000, 17, 5001);
    }
}

TEST_CASE("slots of folds count, where they fold many rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const auto compiled = [&](const Expr& e, Index rows) {
    Machine machine = with_caches(1000);
    machine.second_level_bytes = 1 << 18;
    const Function f = compile_for(machine, {e}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uneven(f32, {rows, 20000})});
    return f;
  };
  CHECK(runs_by(compiled(sum(x, 0), 80), 4096));           // 2^18 bytes, sixteen slots of four bytes
  CHECK(runs_by(compiled(max(x, 0), 80), 20096));          // no slots: whole rows
  CHECK(runs_by(compiled(sum(x, 0), 12), 1024));           // few rows
}
