// Which variant of a Function runs a call: short calls run any whose facts hold, long ones have loops that were chosen for sizes like theirs, and
// where those come out the same there is one machine code. The interpreter's bits from all of them.
#include <atomic>
#include <thread>

#include "bits.h"
#include "layouts.h"

using namespace weft;

namespace {

Array counted(const Dims& shape) {
  return counted_by(f32, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 64 - 1.5; });
}

Function logistic_loss() {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), y = g.input("y", f32, {"n"}), w = g.input("w", f32, {"d"});
  const Expr z = sum(x * w, 1), loss = mean(softplus(z) - y * z);
  return compile({loss, grad(loss, {w})[0]}, {x, y, w}, {.threads = 1, .verify = true});
}
void run_loss(const Function& f, Index n, Index d) { same_bits(f, {counted({n, d}), counted({n}), counted({d})}); }

Function affine() {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  return compile({x * 2 + y}, {x, y}, {.threads = 1, .verify = true});
}
void run_affine(const Function& f, Index n) { same_bits(f, {counted({n}), counted({n})}); }

bool shares_code(const Function& f) { return f.report().find("code of another variant") != std::string::npos; }

}  // namespace

TEST_CASE("a long call after a short one has the loops that it would have if it were the first") {
  const Function f = logistic_loss(), first = logistic_loss();
  run_loss(f, 24, 64);
  const std::string of_short = f.program();
  const double before = f.compile_seconds();
  run_loss(f, 4096, 64);
  run_loss(first, 4096, 64);
  CHECK(f.compile_seconds() > before);
  CHECK(f.program() == first.program());
  CHECK(f.program() != of_short);
  CHECK_FALSE(shares_code(f));
}

TEST_CASE("sizes like those of a call before compile nothing, nor do short calls") {
  const Function f = logistic_loss();
  run_loss(f, 4096, 64);
  const std::string loops = f.program();
  const double seconds = f.compile_seconds();
  for (const Index n : {4096, 5120, 3072, 64}) run_loss(f, n, 64);
  CHECK(f.compile_seconds() == seconds);
  CHECK(f.program() == loops);
}

TEST_CASE("of several variants the one for the nearest sizes runs a call") {
  const Function f = logistic_loss();
  run_loss(f, 24, 64);
  const std::string of_few = f.program();
  run_loss(f, 4096, 64);
  const std::string of_many = f.program();
  const double seconds = f.compile_seconds();
  for (int times = 0; times < 2; ++times) {
    run_loss(f, 20, 64);
    CHECK(f.program() == of_few);
    run_loss(f, 3584, 64);
    CHECK(f.program() == of_many);
  }
  CHECK(f.compile_seconds() == seconds);
}

TEST_CASE("where loops come out the same, variants share their machine code") {
  const Function f = affine();
  run_affine(f, 1 << 15);
  CHECK_FALSE(shares_code(f));
  const std::string code = f.assembly();
  run_affine(f, 1 << 17);
  CHECK(shares_code(f));
  CHECK(f.assembly() == code);
  run_affine(f, (1 << 19) + 3);                      // takes nothing for granted
  CHECK_FALSE(shares_code(f));
  run_affine(f, (1 << 18) + 1);
  CHECK(shares_code(f));
}

TEST_CASE("a Function compiles few variants, whatever sizes come") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"m"});
  const Function f = compile({exp(expand_dims(x, 1) - y)}, {x, y}, {.threads = 1, .verify = true});
  int compiled = 0;
  double seconds = f.compile_seconds();
  for (int size = 0; size < 16; ++size) {
    const Index n = Index{20} << size % 8, m = Index{80} << size / 8 * 3;
    same_bits(f, {counted({n}), counted({m})});
    compiled += f.compile_seconds() > seconds;
    seconds = f.compile_seconds();
  }
  CHECK(compiled == 8);
}

TEST_CASE("threads that call with other sizes at the same time get the bits of the interpreter") {
  const Function f = logistic_loss();
  const Graph& graph = f.final_graph();
  std::vector<std::vector<Array>> inputs, results(4);
  for (const Index n : {8, 4096, 900, 300}) inputs.push_back({counted({n, 64}), counted({n}), counted({64})});
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < inputs.size(); ++k) threads.emplace_back([&, k] { results[k] = f(inputs[k]); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, inputs[k], {}, compiled_math);
    for (std::size_t out = 0; out < expected.size(); ++out) CHECK(difference(results[k][out], expected[out]) == "");
  }
}

TEST_CASE("while a variant compiles, calls that have theirs go on") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  Expr chain = x;
  for (int k = 0; k < 400; ++k) chain = chain * 0.5 + sin(chain) * k;
  const Function f = compile({chain}, {x}, {.threads = 1});
  const Array few = counted({256}), many = counted({20001});
  const std::vector<Array> expected = f({few});
  std::atomic<bool> compiled{false};
  std::thread other([&] {
    f({many});
    compiled = true;
  });
  int calls = 0;
  for (; !compiled; ++calls) CHECK(difference(f({few})[0], expected[0]) == "");
  other.join();
  CHECK(calls > 500);                               // thousands; fewer than 200 where they waited for it
}
