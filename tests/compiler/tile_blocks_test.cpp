// Large transposes go in blocks of tiles, with the same elements as small ones.
#include "bits.h"

using namespace weft;

namespace {
bool in_blocks(const Function& f) { return f.report().find("in blocks") != std::string::npos; }
}  // namespace

TEST_CASE("large transposes have the bits of the interpreter, whatever is left over") {
  for (const DType dtype : {f32, f64, DType::i16}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"m", "n"}), w = g.input("w", dtype, {"m"}), v = g.input("v", dtype, {"n"});
    const std::vector<Expr> inputs{x, y, w, v};
    for (const int threads : {1, 2}) {
      const Function moved = compile({transpose(x) + transpose(x)}, inputs, {.threads = threads, .cache_bytes = 1, .verify = true}),
                     added = compile({transpose(x) + y}, inputs, {.threads = threads, .cache_bytes = 1, .verify = true}),
                     scaled = compile({transpose(x) * expand_dims(w, 1) + v}, inputs, {.threads = threads, .verify = true}),
                     two = compile({transpose(x) * 2, transpose(x) - y}, inputs, {.threads = threads, .verify = true});
      for (const Function* f : {&moved, &added}) {
        same_bits(*f, {uneven(dtype, {512, 640}), near_one(dtype, {640, 512}), near_one(dtype, {640}), uneven(dtype, {512})});
        if (dtype != DType::i16) CHECK(in_blocks(*f));
      }
      for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{512, 512}, {600, 800}, {523, 1021}, {1000, 513}, {64, 2000}, {2000, 64}, {513, 17}, {1, 600}})
        for (const Function* f : {&moved, &added, &scaled, &two})
          same_bits(*f, {uneven(dtype, {n, m}), near_one(dtype, {m, n}), near_one(dtype, {m}), uneven(dtype, {n})});
    }
  }
}

TEST_CASE("blocks are for results past the caches, and those that are written across") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const Function along = compile({x * 2 + 1}, {x}, {.threads = 1}), across = compile({x * 2 + y}, {x, y}, {.threads = 1});
  const Array a = uneven(f32, {512, 640}), b = near_one(f32, {512, 640}), a_across = a.copy(Order::f), b_across = b.copy(Order::f);
  const Array one = along({a})[0], two = across({a, b})[0];
  Array result(f32, {512, 640});
  along.run({a_across}, {result});
  CHECK(along.report().find("transposed in registers") != std::string::npos);
  CHECK(!in_blocks(along));
  CHECK(difference(result, one) == "");
  across.run({a_across, b_across}, {result});
  CHECK(in_blocks(across));
  CHECK(difference(result, two) == "");
}

TEST_CASE("large results in column-major order, and windows of large arrays") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compile({x * 2 + 1}, {x}, {.threads = 2, .verify = true});
  const Array whole = uneven(f32, {700, 900});
  for (const auto& [first, last] : std::vector<std::pair<Index, Index>>{{0, 700}, {3, 604}, {100, 700}}) {
    const Array part(whole.slice(0, first, last - first)), expected = f({part})[0];
    Array result(f32, {last - first, 900}, Order::f);
    f.run({part}, {result});
    CHECK(difference(result, expected) == "");
  }
}
