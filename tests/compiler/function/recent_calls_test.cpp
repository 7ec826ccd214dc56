// Calls with arguments like those of one before are given addresses alone: with every kind of argument that differs from it otherwise, they are what
// a first call is.
#include "bits.h"

#include <atomic>
#include <error_text.h>
#include <thread>

#include <weft/rearrange.h>
#include <weft/target_shape.h>

#include "function/recent_calls.h"

using namespace weft;

namespace {

// Like uneven(), other numbers.
Array others(const Dims& shape, Index from) {
  return counted_by(f32, shape, [from](Index k) { return static_cast<double>((k + from) * 31 % 101 - 50) / 8; });
}

}  // namespace

TEST_CASE("later calls of the same layouts read and write their own arrays") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), w = g.input("w", f32, {"d"});
  for (const int threads : {1, 2}) {
    const Function f = compile({softmax(x * w, 1), mean(x), sum(x, 0)}, {x, w}, {.threads = threads, .verify = true});
    for (Index k = 0; k < 4; ++k)
      for (const Dims& shape : {Dims{5, 7}, {64, 16}, {1, 3}}) same_bits(f, {others(shape, k), others({shape[1]}, 3 * k)});
  }
}

TEST_CASE("inputs and results under other shapes, and inputs under two") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 6}), y = g.input("y", f32, {"n", 6});
  for (const int threads : {1, 2}) {
    const Function f = compile({reshape(x * 2, {-1}), sum(reshape(x, {-1, 3}), 1) + 1, x + y, transpose(reshape(y - 1, {-1, 2}))}, {x, y}, {.threads = threads, .verify = true});
    for (Index k = 0; k < 4; ++k)
      for (const Index n : {5, 64, 1}) {
        const std::vector<Array> arrays{others({n, 6}, k), others({n, 6}, 7 * k + 1)};
        same_bits(f, arrays);
        const std::vector<Array> expected = f(arrays), given{Array(f32, {6 * n}), Array(f32, {2 * n}), Array(f32, {n, 6}), Array(f32, {2, 3 * n})};
        f.run(arrays, given);
        for (std::size_t output = 0; output < given.size(); ++output) CHECK(difference(given[output], expected[output]) == "");
      }
  }
}

TEST_CASE("more layouts than are kept, in turn") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function f = compile({x * 2 + 1, max(x, 0)}, {x}, {.threads = 1, .verify = true});
  for (int round = 0; round < 3; ++round)
    for (Index n = 1; n < 8; ++n) {
      same_bits(f, {others({n, 6}, round)});
      same_bits(f, {others({6, n}, round).transpose()});
    }
}

TEST_CASE("results of calls are arrays of their own, and a call keeps its arguments alive") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({x + 1}, {x}, {.threads = 1});
  std::vector<Array> results;
  for (Index k = 0; k < 5; ++k) results.push_back(f({others({16}, k)})[0]);
  for (Index k = 0; k < 5; ++k) CHECK(difference(results[static_cast<std::size_t>(k)], interpret({x + 1}, {x}, {others({16}, k)})[0]) == "");
  const Array out(f32, {16});
  for (Index k = 0; k < 3; ++k) {
    const Call call = f.bind({others({16}, k)}, {out});
    for (int again = 0; again < 3; ++again) {
      out.fill(Scalar(0.0f));
      call();
      CHECK(difference(out, results[static_cast<std::size_t>(k)]) == "");
    }
  }
}

TEST_CASE("results upon inputs or each other, after calls where they were apart") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({x + roll(x, 1, 0), x * 3}, {x}, {.threads = 1, .verify = true});
  const Array memory(f32, {3000}), apart_a(f32, {1000}), apart_b(f32, {1000});
  const Array expected = f({others({1000}, 0)})[0], triple = f({others({1000}, 0)})[1];
  for (const Index at : {1000, 0, 1, 999, 500, 1000, 2000}) {
    CAPTURE(at);
    const Array in = memory.slice(0, 0, 1000), out = memory.slice(0, at, 1000);
    copy_elements(others({1000}, 0), in);
    f.run({in}, {out, apart_a});
    CHECK(difference(out.copy(), expected) == "");
    CHECK(difference(apart_a, triple) == "");
    copy_elements(others({1000}, 0), in);
    f.run({in}, {apart_b, out});
    CHECK(difference(apart_b, expected) == "");
    CHECK(difference(out.copy(), triple) == "");
  }
  f.run({others({1000}, 0)}, {apart_a, apart_a});
  CHECK(difference(apart_a, triple) == "");                 // the last one is seen
}

TEST_CASE("results that are inputs, and are not, in turn") {
  Graph g;
  const Expr p = g.input("p", f32, {"n"}), d = g.input("d", f32, {"n"});
  const Function f = compile({p - d * 0.25}, {p, d}, {.threads = 1, .verify = true});
  const Array expected = f({others({500}, 1), others({500}, 2)})[0];
  for (int k = 0; k < 3; ++k) {
    const Array upon = others({500}, 1), step = others({500}, 2), apart(f32, {500});
    f.run({upon, step}, {apart});
    CHECK(difference(apart, expected) == "");
    f.run({upon, step}, {upon});
    CHECK(difference(upon, expected) == "");
    copy_elements(others({500}, 1), upon);
    f.run({upon, step}, {step});
    CHECK(difference(step, expected) == "");
    copy_elements(others({500}, 2), upon);
    f.run({upon, upon}, {upon});
    CHECK(difference(upon, f({others({500}, 2), others({500}, 2)})[0]) == "");
  }
}

TEST_CASE("what is wrong with arguments is said after calls of the same layouts, too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const Function f = compile({x + y}, {x, y}, {.threads = 1});
  const Array a = others({16}, 0), out(f32, {16});
  f.run({a, a}, {out});
  f.run({a, a}, {out});
  const auto text = [&](const std::vector<Array>& inputs, const std::vector<Array>& outputs) { return error_text([&] { f.run(inputs, outputs); }); };
  CHECK(text({a, a}, {out.read_only()}).find("read-only") != std::string::npos);
  CHECK(text({a, a}, {}).find("expected 1 output arrays, got 0") != std::string::npos);
  CHECK(text({a, a}, {out, out}).find("expected 1 output arrays, got 2") != std::string::npos);
  CHECK(text({a}, {out}).find("2") != std::string::npos);
  CHECK(text({a, others({15}, 0)}, {out}).find("n is 16") != std::string::npos);
  CHECK(text({a, a}, {Array(f64, {16})}).find("has dtype f32") != std::string::npos);
  CHECK(text({a, uneven(f64, {16})}, {out}).find("f64") != std::string::npos);
  CHECK(text({a, a}, {Array(f32, {1}).broadcast_to({16})}) != "");
  f.run({a, a}, {out});
}

TEST_CASE("extents that are elements of an input are read in every call") {
  for (const Shape& shape : {Shape{}, {1}, {"n"}}) {
    Graph g;
    const Expr x = g.input("x", f32, shape), s = g.input("s", i64, {1});
    const Function f = compile({broadcast(x, s) + 1}, {x, s}, {.threads = 1});
    for (const Index count : {3, 4, 3, 6}) {
      const Array one(f32, Dims(shape.size(), 1)), result = f({one, Array::from<Index>({count})})[0];
      CHECK(result.shape() == Dims{count});
      CHECK(result.to_vector<float>() == std::vector<float>(static_cast<std::size_t>(count), 1.0f));
    }
  }
}

TEST_CASE("calls of several threads") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({sum(x * x), x - mean(x)}, {x}, {.threads = 1});
  std::vector<std::vector<Array>> expected;
  for (Index n = 0; n < 6; ++n) expected.push_back(f({others({n + 10}, n)}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 300; ++k) {
        const Index n = (k + t) % 6;
        const std::vector<Array> results = f({others({n + 10}, n)});
        for (std::size_t r = 0; r < 2; ++r) wrong += difference(results[r], expected[static_cast<std::size_t>(n)][r]) != "";
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
