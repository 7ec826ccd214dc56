// Large transposes go in blocks of tiles, with the same elements as small ones.
#include "bits.h"
#include "function/compile_for.h"

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

TEST_CASE("transposes past the caches have the same bits in short and in long blocks; long ones leave fetching to the processor") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"m", "n"});
  for (const double block : {short_tile_block, long_tile_block})
    for (const int threads : {1, 2}) {
      CAPTURE(block);
      Machine machine;
      machine.tile_block = block;
      const Options options{.threads = threads, .cache_bytes = 1, .verify = true};
      const Function moved = compile_for(machine, {transpose(x) * 2}, {x, y}, options), added = compile_for(machine, {transpose(x) + y}, {x, y}, options);
      const auto check = [&](Index n, Index m) {
        for (const Function* f : {&moved, &added}) same_bits(*f, {uneven(f32, {n, m}), near_one(f32, {m, n})});
      };
      check(1024, 1024);
      CHECK(in_blocks(moved));
      for (const Function* f : {&moved, &added}) CHECK(f->report().find("results are stored past the caches") != std::string::npos);
      CHECK((moved.llvm().find("call void @llvm.prefetch") != std::string::npos) == (block == short_tile_block));
      CHECK(added.llvm().find("call void @llvm.prefetch") != std::string::npos);      // what lies beside
      for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{600, 800}, {523, 1100}, {1100, 523}, {40, 2000}, {2000, 40}}) check(n, m);
    }
}

TEST_CASE("blocks are for results past the caches, and those that are written across") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const Function mixed = compile({x * 2 + y}, {x, y}, {.threads = 1}), across = compile({x * 2 + y}, {x, y}, {.threads = 1});
  const Array a = uneven(f32, {512, 640}), b = near_one(f32, {512, 640}), a_across = a.copy(Order::f), b_across = b.copy(Order::f);
  const Array expected = across({a, b})[0];
  Array result(f32, {512, 640});
  mixed.run({a_across, b}, {result});
  CHECK(mixed.report().find("transposed in registers") != std::string::npos);
  CHECK(!in_blocks(mixed));
  CHECK(difference(result, expected) == "");
  across.run({a_across, b_across}, {result});
  CHECK(in_blocks(across));
  CHECK(difference(result, expected) == "");
}

TEST_CASE("results whose rows crowd a set of the first level are gathered in scratch, of any extents and dtype") {
  const auto by_rows = [](const Function& f) { return f.report().find("in blocks that are written row by row") != std::string::npos; };
  for (const DType dtype : {f32, f64, DType::i16, DType::u8}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"});
    const Index crowded = 4096 / item_bytes(dtype);
    for (const int threads : {1, 2})
      for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{128, crowded}, {131, crowded}, {77, crowded}, {200, crowded - 1}, {64, crowded + 5}, {95, 2 * crowded}, {16, crowded}}) {
        CAPTURE(n);
        CAPTURE(m);
        const Function f = compile({x * 2 + y}, {x, y}, {.threads = threads, .verify = true});
        const Array a = uneven(dtype, {n, m}), b = near_one(dtype, {n, m});
        Array result(dtype, {n, m});
        f.run({a.copy(Order::f), b.copy(Order::f)}, {result});
        if (m == crowded && n >= 64) CHECK(by_rows(f));
        CHECK(difference(result, interpret({x * 2 + y}, {x, y}, {a, b})[0]) == "");
      }
  }
}

TEST_CASE("large bodies whose results lie across go in blocks: one result and two, straight, by way of scratch and past the caches") {
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"});
    const Expr one = sigmoid(x) * tanh(y) + exp(-x * x), two = log(1 + exp(y)) * x;
    for (const Index cache : {Index{0}, Index{1}})
      for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{160, 1024}, {131, 1000}, {80, 1023}, {200, 512}})
        for (const std::vector<Expr>& outputs : {std::vector<Expr>{one}, std::vector<Expr>{one, two}}) {
          CAPTURE(n);
          CAPTURE(cache);
          CAPTURE(outputs.size());
          const Options options = cache == 0 ? Options{.threads = 2, .verify = true} : Options{.threads = 2, .cache_bytes = cache, .verify = true};
          const Function f = compile(outputs, {x, y}, options), straight = compile(outputs, {x, y}, options);
          const Array a = uneven(dtype, {n, m}), b = near_one(dtype, {n, m});
          std::vector<Array> results, expected;
          for (std::size_t k = 0; k < outputs.size(); ++k) results.emplace_back(dtype, Dims{n, m}), expected.emplace_back(dtype, Dims{n, m});
          f.run({a.copy(Order::f), b.copy(Order::f)}, results);
          straight.run({a, b}, expected);
          if (outputs.size() == 1 && cache == 0) CHECK(in_blocks(f));
          for (std::size_t k = 0; k < outputs.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
        }
  }
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
