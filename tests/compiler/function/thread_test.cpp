// The same bits on any number of threads, and one Function called from several threads at once.
#include <weft/function.h>

#include <atomic>
#include <thread>

#include "bits.h"
#include "softmax_text.h"

using namespace weft;

namespace {

constexpr const char* logistic = R"(graph logistic(%x: f32[n,m], %w: f32[m], %y: f32[n]) -> (%4, %8) {
  %0: f32[i:n] = sum(j:m) multiply(%x[i,j], %w[j])
  %1: f32[i:n] = softplus(%0[i])
  %2: f32[i:n] = multiply(%0[i], %y[i])
  %3: f32[i:n] = subtract(%1[i], %2[i])
  %4: f32[] = sum(i:n) copy(%3[i])
  %5: f32[i:n] = sigmoid(%0[i])
  %6: f32[i:n] = subtract(%5[i], %y[i])
  %8: f32[i:m] = sum(j:n) multiply(%6[j], %x[j,i])
})";

// All outputs of the graph on 1, 2 and 7 threads, and twice in a row on each.
void check_threads(const std::string& text, const std::vector<Array>& inputs) {
  const auto expected = compile_text(text, 1)(inputs);
  for (int threads : {2, 7}) {
    CAPTURE(threads);
    const Function f = compile_text(text, threads);
    for (int round = 0; round < 2; ++round) {
      const auto got = f(inputs);
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
    }
  }
}

template <class Work> void on_threads(int count, const Work& work) {
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int k = 0; k < count; ++k)
    threads.emplace_back([&, k] {
      for (--waiting; waiting > 0;) std::this_thread::yield();   // all begin together
      work(k);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("sums of a million elements have the same bits on 1, 2 and 7 threads") {
  const std::string text = "graph g(%x: f32[n]) -> (%0, %1, %2) {\n%0: f32[] = sum(i:n) copy(%x[i])\n%1: f32[] = prod(i:n) copy(%x[i])\n"
                           "%2: f32[] = max(i:n) square(%x[i])\n}";
  for (Index n : {1000003, 1048576, 100001}) check_threads(text, {uniform(f32, {n})});
}

TEST_CASE("a long sum has the bits of the interpreter") {
  const Function f = compile_text("graph g(%x: f32[n]) -> (%0) { %0: f32[] = sum(i:n) copy(%x[i]) }", 7);
  for (Index n : {1000003, 1024 * 3, 1024 * 7 + 1}) check_call(f, {uniform(f32, {n})});
}

TEST_CASE("column sums have the same bits on 1, 2 and 7 threads") {
  const std::string text = "graph g(%x: f32[n,m]) -> (%0, %1) {\n%0: f32[i:m] = sum(j:n) copy(%x[j,i])\n%1: f32[i:m] = min(j:n) copy(%x[j,i])\n}";
  for (const Dims& shape : {Dims{200003, 5}, Dims{20000, 64}, Dims{100, 10007}, Dims{3, 1000003}}) {
    CAPTURE(to_text(shape));
    check_threads(text, {uniform(f32, shape)});
  }
  const Function f = compile_text(text, 7);
  check_call(f, {uniform(f32, {5000, 17})});
}

TEST_CASE("softmax has the same bits on 1, 2 and 7 threads") {
  for (const Dims& shape : {Dims{5003, 100}, Dims{100003, 3}, Dims{7, 100000}}) check_threads(softmax_rows, {uniform(f32, shape)});
}

TEST_CASE("logistic loss and its gradient have the same bits on 1, 2 and 7 threads") {
  for (const Dims& shape : {Dims{20011, 30}, Dims{100, 5000}, Dims{200003, 2}})
    check_threads(logistic, {uniform(f32, shape, 1), uniform(f32, {shape[1]}, 2), uniform(f32, {shape[0]}, 3)});
}

TEST_CASE("a function may be called from several threads at once") {
  const Function f = compile_text(logistic, 2);
  const std::vector<Array> inputs{uniform(f32, {3000, 20}, 1), uniform(f32, {20}, 2), uniform(f32, {3000}, 3)};
  const auto expected = f(inputs);
  std::atomic<int> wrong{0};
  on_threads(4, [&](int) {
    for (int round = 0; round < 10; ++round) {
      const auto got = f(inputs);
      for (std::size_t k = 0; k < got.size(); ++k) wrong += difference(got[k], expected[k]) != "";
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("first calls may come from several threads, each with a layout of its own") {
  for (int round = 0; round < 3; ++round) {
    const Function f = compile_text(softmax_rows, 2);
    const Array x = uniform(f32, {300, 40});
    const std::vector<Array> views{x, x.copy(Order::f), x.flip(0).copy().flip(0), x.flip(1).copy().flip(1), x, x.copy(Order::f)};
    std::vector<Array> results(views.size());
    on_threads(static_cast<int>(views.size()), [&](int k) { results[static_cast<std::size_t>(k)] = f({views[static_cast<std::size_t>(k)]})[0]; });
    for (const Array& result : results) CHECK(difference(result, results[0]) == "");
    CHECK(difference(results[0], expected_of(f, {x})[0], 64) == "");
  }
}

TEST_CASE("texts may be asked for while other threads call") {
  const Function f = compile_text(softmax_rows);
  on_threads(3, [&](int k) {
    if (k == 0) CHECK(f.program() != "");
    else f({uniform(f32, {10 + k, 20})});
  });
}

TEST_CASE("functions may share an executor") {
  const auto executor = make_executor(3);
  const Options options{.threads = 0, .executor = executor, .verify = true, .trace = ""};
  const Function a = compile(parse(logistic), options), b = compile(parse(softmax_rows), options);
  const Array x = uniform(f32, {20000, 16}, 1), w = uniform(f32, {16}, 2), y = uniform(f32, {20000}, 3);
  const auto expected_a = a({x, w, y}), expected_b = b({x});
  std::atomic<int> wrong{0};
  on_threads(2, [&](int k) {
    for (int round = 0; round < 5; ++round) {
      if (k == 0) wrong += difference(a({x, w, y})[1], expected_a[1]) != "";
      else wrong += difference(b({x})[0], expected_b[0]) != "";
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("sums over rows of their sums use all threads, though rows are fewer than a leaf") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w", 3}), y = g.input("y", f32, {"n", "m"});
  const Function one = compile({mean(x, {0, 1})}, {x}, {.threads = 1, .verify = true}), two = compile({mean(x, {0, 1})}, {x}, {.threads = 2, .verify = true}),
                 all = compile({sum(transpose(y) * 2), max(y)}, {y}, {.threads = 3, .verify = true});
  for (const Dims& shape : {Dims{300, 400, 3}, Dims{5, 7, 3}, Dims{1, 2000, 3}}) {
    const Array pixels = uneven(f32, shape);
    same_bits(two, {pixels});
    CHECK(difference(one({pixels})[0], two({pixels})[0]) == "");
  }
  same_bits(two, {uneven(f32, {300, 400, 3})});
  CHECK(two.schedule().find("parallel j:h {") != std::string::npos);
  CHECK(two.report().find("better root") != std::string::npos);
  for (const Dims& shape : {Dims{500, 700}, Dims{3, 5}}) same_bits(all, {uneven(f32, shape)});
}
