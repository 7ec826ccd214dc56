// Facts about where values are computed; whole texts of common graphs are in tests/golden.
#include "schedule/schedule.h"

#include <weft/function.h>
#include <weft/passes.h>

#include <error_text.h>

#include "bits.h"
#include "growth.h"
#include "passes/pipeline.h"
#include "program/program.h"

using namespace weft;

namespace {

// The schedule for inputs and outputs in the given order of memory.
Schedule schedule_of(const Graph& graph, const Bindings& sizes, Order order = Order::c) {
  Hints hints;
  hints.bindings = sizes;
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (NodeId id : *ids) hints.arrays[id] = {contiguous_strides(evaluate(graph.node(id).shape(), sizes), order)};
  return make_schedule(graph, hints);
}
Graph passed(const std::string& text) { return run_graph_passes(parse(text), checked()); }
std::string schedule_text(const std::string& text, const Bindings& sizes, Order order = Order::c) {
  const Graph graph = passed(text);
  const Schedule schedule = schedule_of(graph, sizes, order);
  verify(graph, schedule);
  return to_text(graph, schedule);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Logistic regression with its gradient in w and b.
Function logistic() {
  Graph g("logistic");
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), b = g.input("b", f32, {}), y = g.input("y", f32, {"n"});
  const Expr z = sum(x * w, {1}) + b, loss = sum(softplus(z) - z * y);
  const auto gradients = grad(loss, {w, b});
  return compile({loss, gradients[0], gradients[1]}, {x, w, b, y}, checked());
}
Call bind_logistic(const Function& f, Index n, Index m) {
  return f.bind({Array::empty(f32, {n, m}), Array::empty(f32, {m}), Array::scalar(0.0f), Array::empty(f32, {n})},
                {Array::empty(f32, {}), Array::empty(f32, {m}), Array::empty(f32, {})});
}
Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

}  // namespace

TEST_CASE("logistic loss and its gradient are one sweep over x, in at most two loop nests") {
  const Function f = logistic();
  CHECK(bind_logistic(f, 100000, 64).loop_nests() <= 2);
  CHECK(count(f.schedule(), "parallel") == 1);
  CHECK(count(f.schedule(), "arrays") == 0);                       // nothing of extent n is stored between nests
  CHECK(count(f.program(), "parallel") == 1);
}

TEST_CASE("logistic loss and its gradient need partial results and rows of scratch, nothing else") {
  const Function f = logistic();
  const Index m = 64;
  for (Index n : {1000, 100000, 1000000}) {
    CAPTURE(n);
    const Call call = bind_logistic(f, n, m);
    // One row per unit of 1024 rows and one for the tree over them; rows are whole vectors, so a scalar takes 16 values.
    CHECK(call.temporary_bytes() <= (ceil_div(n, 1024) + 1) * (m + 2 * 16) * 4);
    CHECK(call.scratch_bytes() <= 64 * 1024);
    CHECK(call.scratch_bytes() == bind_logistic(f, 2 * n, m).scratch_bytes());
  }
}

TEST_CASE("elementwise chains, row sums and softmax have no temporary arrays") {
  const char* chain =
      "graph a(%x: f32[n,m]) -> (%2) {\n%0: f32[i:n,j:m] = exp(%x[i,j])\n%1: f32[i:n,j:m] = sin(%0[i,j])\n%2: f32[i:n,j:m] = add(%0[i,j], %1[i,j])\n}";
  const char* row_sums = "graph b(%x: f32[n,m]) -> (%1) {\n%0: f32[i:n] = sum(j:m) exp(%x[i,j])\n%1: f32[i:n] = log(%0[i])\n}";
  const char* softmax =
      "graph c(%x: f32[n,m]) -> (%4) {\n%0: f32[i:n] = max(j:m) copy(%x[i,j])\n%1: f32[i:n,j:m] = subtract(%x[i,j], %0[i])\n"
      "%2: f32[i:n,j:m] = exp(%1[i,j])\n%3: f32[i:n] = sum(j:m) copy(%2[i,j])\n%4: f32[i:n,j:m] = divide(%2[i,j], %3[i])\n}";
  for (const char* text : {chain, row_sums, softmax}) {
    const Function f = compile_text(text);
    const Array x = uniform(f32, {1000, 100});
    const auto outputs = f({x});
    const Call call = f.bind({x}, outputs);
    CHECK(call.loop_nests() == 1);
    CHECK(call.temporary_bytes() == 0);
    CHECK(call.scratch_bytes() <= 64 * 1024);
  }
}

TEST_CASE("outputs over the same axes share one nest") {
  const std::string text = schedule_text("graph g(%x: f64[n]) -> (%0, %1, %2) {\n%0: f64[i:n] = exp(%x[i])\n%1: f64[i:n] = negative(%x[i])\n"
                                         "%2: f64[] = sum(i:n) copy(%0[i])\n}", {{"n", 100000}});
  CHECK(count(text, "parallel") == 1);
}

TEST_CASE("a value read at another index than it is made at is stored between two nests") {
  const std::string text = schedule_text("graph g(%x: f64[n]) -> (%1) {\n%0: f64[i:n] = exp(%x[i])\n"
                                         "%1: f64[i:n] = add(%0[n-1-i], %0[i])\n}", {{"n", 1000}});
  CHECK(count(text, "parallel") == 2);
  CHECK(text.find("  arrays %0\n") != std::string::npos);
}

TEST_CASE("a value that is folded completely is read by a later nest") {
  const std::string text = schedule_text("graph g(%x: f64[n]) -> (%1) {\n%0: f64[] = sum(i:n) exp(%x[i])\n"
                                         "%1: f64[i:n] = divide(%x[i], %0)\n}", {{"n", 1000}});
  CHECK(count(text, "parallel") == 2);
  CHECK(text.find("  arrays %0\n") != std::string::npos);
}

TEST_CASE("an expression of inputs with several readers goes where it is read, not into a nest before") {
  const std::string text = schedule_text("graph g(%x: f32[n,m], %w: f32[m], %y: f32[n]) -> (%5, %7) {\n%0: f32[i:n] = negative(%y[i])\n"
                                         "%1: f32[i:n,j:m] = multiply(%x[i,j], %w[j])\n%2: f32[i:n] = sum(j:m) copy(%1[i,j])\n"
                                         "%3: f32[i:n] = multiply(%0[i], %2[i])\n%4: f32[i:n] = softplus(%3[i])\n%5: f32[] = sum(i:n) copy(%4[i])\n"
                                         "%6: f32[i:n] = multiply(%0[i], %4[i])\n%7: f32[i:m] = sum(j:n) multiply(%6[j], %x[j,i])\n}",
                                         {{"n", 100000}, {"m", 64}});
  CHECK(count(text, "parallel") == 1);
  CHECK(count(text, "arrays") == 0);
}

TEST_CASE("scalars of inputs are made once, before everything, whatever reads them") {
  const std::string text = schedule_text("graph g(%x: f32[n,m], %a: f32[]) -> (%6) {\n%0: f32[i:n] = sum(j:m) copy(%x[i,j])\n%1: f32[] = sum(i:n) copy(%0[i])\n"
                                         "%2: f32[] = exp(%a)\n%3: f32[] = divide(%1, %2)\n%4: f32[i:n,j:m] = multiply(%x[i,j], %2)\n"
                                         "%5: f32[i:n] = sum(j:m) copy(%4[i,j])\n%6: f32[i:n] = multiply(%5[i], %3)\n}", {{"n", 1000}, {"m", 1000}});
  CHECK(text.find("schedule g {\n  once { %") == 0);
  CHECK(count(text, "parallel") == 2);                             // both sums share one, the last product comes after
}

TEST_CASE("a vector that rows are combined with does not make its axis the root of their nest") {
  const char* graph = "graph g(%x: f32[n,m], %s: f32[m]) -> (%3) {\n%0: f32[i:m] = exp(%s[i])\n%1: f32[i:n,j:m] = multiply(%x[i,j], %0[j])\n"
                      "%2: f32[i:n,j:m] = square(%1[i,j])\n%3: f32[i:n] = sum(j:m) copy(%2[i,j])\n}";
  const std::string tall = schedule_text(graph, {{"n", 100000}, {"m", 24}});
  CHECK(tall.find("parallel i:n by 64 {\n    serial i:n {\n      lanes j:m { %1 %2 }") != std::string::npos);
  CHECK(count(tall, "parallel") == 2);
  CHECK(tall.find("  arrays %0\n") != std::string::npos);
}

TEST_CASE("means of columns and what is left without them: one nest if its tiles stay in cache, two if not") {
  const char* graph = "graph g(%x: f32[n,m]) -> (%1) {\n%0: f32[i:m] = sum(j:n) copy(%x[j,i])\n%1: f32[i:n,j:m] = subtract(%x[i,j], %0[j])\n}";
  CHECK(count(schedule_text(graph, {{"n", 200}, {"m", 10000}}), "parallel") == 1);
  CHECK(count(schedule_text(graph, {{"n", 100000}, {"m", 10000}}), "parallel") == 2);
  CHECK(count(schedule_text(graph, {{"n", 100000}, {"m", 64}}), "parallel") == 2);
  CHECK(count(schedule_text(graph, {{"n", 20}, {"m", 30}}), "parallel") == 1);
}

// Of a matrix of 5 x 3 each line of memory has all fifteen: a root of one of them would touch every line again.
TEST_CASE("few elements that lie in the same lines are no root of what folds and what reads it") {
  const char* graph = "graph g(%x: f32[n,5,3]) -> (%1) {\n%0: f32[i:5,j:3] = sum(k:n) copy(%x[k,i,j])\n%1: f32[i:n,j:5,k:3] = subtract(%x[i,j,k], %0[j,k])\n}";
  CHECK(count(schedule_text(graph, {{"n", 50000}}), "parallel") == 2);
  CHECK(count(schedule_text(graph, {{"n", 100}}), "parallel") == 2);       // .50 us for 1.60 of one (Zen 4)
  const char* planes = "graph g(%x: f32[5,n]) -> (%1) {\n%0: f32[i:5] = sum(k:n) copy(%x[i,k])\n%1: f32[i:5,j:n] = subtract(%x[i,j], %0[i])\n}";
  CHECK(count(schedule_text(planes, {{"n", 150000}}), "parallel") == 1);
}

TEST_CASE("sums of all rows are a nest along columns if these are few, or long and in the caches; largest ones stay") {
  const auto nests = [](const char* fold, const char* term, Index n, Index m) {
    const std::string graph = concat("graph g(%x: f32[n,m], %w: f32[m]) -> (%2, %3) {\n%0: f32[i:n,j:m] = exp(%x[i,j])\n%1: f32[i:n] = sum(j:m) multiply(%0[i,j], %w[j])\n"
                                     "%2: f32[i:m] = ", fold, "(j:n) multiply(", term, ", %1[j])\n%3: f32[i:n] = copy(%1[i])\n}");
    return count(schedule_text(graph, {{"n", n}, {"m", m}}), "parallel");
  };
  for (const auto& [n, m, expected] : std::vector<std::tuple<Index, Index, std::size_t>>{{16, 64, 2}, {1000, 256, 1}, {500, 1000, 2}, {100000, 1000, 1}}) {
    CAPTURE(n);
    CHECK(nests("sum", "%x[j,i]", n, m) == expected);
    CHECK(nests("max", "%x[j,i]", n, m) == 1);
  }
}

TEST_CASE("channels of pictures are no root where each has short runs of all of memory, but in a cache, or where their runs are long") {
  const char* graph = "graph g(%x: f32[n,c,p]) -> (%1, %3) {\n%0: f32[i:n,j:c] = sum(k:p) copy(%x[i,j,k])\n%1: f32[i:n,j:c,k:p] = subtract(%x[i,j,k], %0[i,j])\n"
                      "%2: f32[i:c,j:n] = sum(k:p) square(%1[j,i,k])\n%3: f32[i:c] = sum(j:n) copy(%2[i,j])\n}";
  const auto roots = [&](Index n, Index c, Index p) {
    const std::string text = schedule_text(graph, {{"n", n}, {"c", c}, {"p", p}});
    return std::pair(count(text, "parallel i:n"), count(text, "parallel j:c"));
  };
  CHECK(roots(1310, 32, 100) == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK(roots(100, 32, 100) == std::pair<std::size_t, std::size_t>(0, 1));
  CHECK(roots(1310, 32, 2000) == std::pair<std::size_t, std::size_t>(0, 1));
  CHECK(roots(50, 1000, 100) == std::pair<std::size_t, std::size_t>(0, 1));      // few pictures
}

TEST_CASE("what all pictures share has arrays where its root would take them through memory in short runs") {
  const char* graph = "graph g(%x: f32[n,c,p], %w: f32[c]) -> (%1) {\n%0: f32[i:c] = exp(%w[i])\n%1: f32[i:n,j:c,k:p] = multiply(%x[i,j,k], %0[j])\n}";
  const auto roots = [&](Index n, Index c, Index p) {
    const std::string text = schedule_text(graph, {{"n", n}, {"c", c}, {"p", p}});
    return std::pair(count(text, "parallel"), count(text, "parallel i:n"));
  };
  CHECK(roots(1310, 32, 900) == std::pair<std::size_t, std::size_t>(2, 1));
  CHECK(roots(20, 32, 900) == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK(roots(1310, 32, 3000) == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK(roots(50, 1000, 900) == std::pair<std::size_t, std::size_t>(1, 0));      // few pictures
}

TEST_CASE("vectors across short rows run along near ones in memory, along the longest axis in the caches") {
  const char* graph = "graph g(%x: f32[n,s,4], %w: f32[4,s]) -> (%0) {\n%0: f32[i:n,j:s,k:4] = multiply(%x[i,j,k], %w[k,j])\n}";
  const auto vectors = [&](Index n, Index s) {
    const std::string text = schedule_text(graph, {{"n", n}, {"s", s}});
    return std::pair(count(text, "lanes i:n"), count(text, "lanes j:s"));
  };
  CHECK(vectors(50000, 70) == std::pair<std::size_t, std::size_t>(0, 1));
  CHECK(vectors(500, 70) == std::pair<std::size_t, std::size_t>(1, 0));
}

TEST_CASE("axes that run through all arrays become one before others repeat along them") {
  const auto of = [](const char* rows) { return concat("graph g(%x: f32[n,", rows, ",3], %m: f32[", rows, ",3]) -> (%0) {\n%0: f32[i:n,j:", rows, ",k:3] = subtract(%x[i,j,k], %m[j,k])\n}"); };
  CHECK(count(schedule_text(of("5"), {{"n", 5000}}), ":15") == 1);          // too long to repeat in registers
  CHECK(count(schedule_text(of("2"), {{"n", 5000}}), ":6*n") >= 1);
}

TEST_CASE("rows of a few elements that are folded are no vectors, if what few nodes have runs along others") {
  Graph g;
  const Expr x = g.input("x", f32, {"a", "b", 7});
  const auto loops_along_seven = [&](const std::vector<int>& axes) {
    const Function f = compile({var(x, axes)}, {x}, {.threads = 1});
    f({Array(f32, {300, 500, 7})});
    std::size_t loops = 0;
    for (const char* as_vectors : {"lanes i:7", "lanes j:7", "lanes k:7", "lanes l:7"}) loops += count(f.schedule(), as_vectors);
    return loops;
  };
  CHECK(loops_along_seven({0, 2}) == 0);
  CHECK(loops_along_seven({1, 2}) == 1);           // over a sixteenth of all
}

TEST_CASE("strides decide which axis runs as vectors, not the order of axes") {
  const char* product = "graph g(%x: f64[n,m], %y: f64[n,m], %r: f64[m]) -> (%1) {\n%0: f64[i:n,j:m] = multiply(%x[i,j], %r[j])\n"
                        "%1: f64[i:n,j:m] = add(%0[i,j], %y[i,j])\n}";
  const Bindings sizes{{"n", 500}, {"m", 400}};
  CHECK(schedule_text(product, sizes, Order::c).find("lanes j:m") != std::string::npos);
  CHECK(schedule_text(product, sizes, Order::f).find("lanes i:n") != std::string::npos);
}

TEST_CASE("sums over the outer axis of a tall matrix are split into units with partial results") {
  const Function f = compile_text("graph g(%x: f32[n,m]) -> (%0) { %0: f32[i:m] = sum(j:n) copy(%x[j,i]) }");
  const Call tall = f.bind({Array::empty(f32, {100000, 32})}, {Array::empty(f32, {32})});
  CHECK(count(f.program(), "merges %0 by sum over j") == 1);
  CHECK(tall.temporary_bytes() <= (ceil_div(100000, 1024) + 1) * 32 * 4);
}

TEST_CASE("a chain longer than one loop may hold is cut into loops that hand on a row") {
  std::string text = "graph g(%x: f32[n]) -> (%39) {\n";
  for (int k = 0; k < 40; ++k) text += concat("%", k, ": f32[i:n] = tanh(", k == 0 ? "%x" : concat("%", k - 1), "[i])\n");
  const Function f = compile_text(text + "}");
  const Call call = f.bind({Array::empty(f32, {100000})}, {Array::empty(f32, {100000})});
  CHECK(count(f.program(), "lanes i in n") > 1);
  CHECK(call.loop_nests() == 1);
  CHECK(call.temporary_bytes() == 0);
  CHECK(call.scratch_bytes() <= 64 * 1024);
  CHECK(call.scratch_bytes() == f.bind({Array::empty(f32, {5})}, {Array::empty(f32, {5})}).scratch_bytes());
}

TEST_CASE("verify finds a node that no loop runs, and one that runs before its operand") {
  const Graph graph = passed("graph g(%x: f64[n]) -> (%1) {\n%0: f64[i:n] = exp(%x[i])\n%1: f64[i:n] = sin(%0[i])\n}");
  Schedule schedule = schedule_of(graph, {{"n", 1000}});
  CHECK(error_text([&] { verify(graph, schedule); }) == "no error");
  auto* body = &schedule.nests[0].root.body;
  while (auto* inner = std::get_if<Level>(&body->front())) body = &inner->body;
  REQUIRE(body->size() == 2);
  std::swap(body->front(), body->back());
  CHECK(error_text([&] { verify(graph, schedule); }).find("S3: %") != std::string::npos);
  body->pop_back();
  CHECK(error_text([&] { verify(graph, schedule); }).find("S1: nest 0 runs 1 nodes of 2") != std::string::npos);
}

TEST_CASE("verify finds a program that uses a value before it is made, and one that makes it twice") {
  const Graph graph = passed("graph g(%x: f64[n]) -> (%0) { %0: f64[i:n] = exp(%x[i]) }");
  const Schedule schedule = schedule_of(graph, {{"n", 1000}});
  const Program program = lower(graph, schedule, schedule.nests[0], "g_0");
  CHECK(error_text([&] { verify(program); }) == "no error");
  Program reversed = program, doubled = program;
  auto body_of = [](Program& p) {
    auto* body = &p.root.body;
    while (auto* inner = std::get_if<Loop>(&body->front())) body = &inner->body;
    return body;
  };
  std::reverse(body_of(reversed)->begin(), body_of(reversed)->end());
  CHECK(error_text([&] { verify(reversed); }).find("is used before it is made in g_0") != std::string::npos);
  body_of(doubled)->push_back(body_of(doubled)->front());
  CHECK(error_text([&] { verify(doubled); }).find("is made twice in g_0") != std::string::npos);
}

TEST_CASE("nests make a few simple scalars themselves; long functions, results and many ops in all nests have one before them") {
  Graph g;
  const Expr p = g.input("p", f32, {"n"}), q = g.input("q", f32, {"n", "m"}), rate = g.input("rate", f32, {}), one = g.input("one", f32, {1});
  const auto has_stage_before = [&](const std::vector<Expr>& outputs) {
    const Function f = compile(outputs, {p, q, rate, one}, {.threads = 2, .verify = true});
    for (const auto& [n, m] : {std::pair<Index, Index>{5, 3}, {3000, 20}, {0, 4}}) same_bits(f, {uneven(f32, {n}), uneven(f32, {n, m}), uneven(f32, {}), uneven(f32, {1})});
    const std::string text = f.schedule();
    return text.find("  once {") == text.find('\n') + 1;             // others follow folds
  };
  CHECK_FALSE(has_stage_before({p - rate * p}));
  CHECK_FALSE(has_stage_before({p * (1 - rate) / sqrt(abs(rate)) + one * 2}));
  CHECK_FALSE(has_stage_before({mean(q, 1), q * -rate}));
  CHECK_FALSE(has_stage_before({layer_norm(q, one + 1, one)}));
  CHECK(has_stage_before({p * exp(rate)}));
  CHECK(has_stage_before({p * -rate, -rate}));
  CHECK_FALSE(has_stage_before({sum(p * -rate), sum(q, 0) * -rate, p * mean(q)}));
  const Expr step = rate / (1 + rate) + 3 * rate;
  CHECK_FALSE(has_stage_before({p * step}));
  CHECK(has_stage_before({sum(p * step), sum(q, 0) * step, p * mean(q) * step}));
}

TEST_CASE("scalars that an update reads from memory are made before") {
  const Function f = compile_text("graph g(%p: f32[n], %r: f32[]) -> (%2) {\n%0: f32[] = tanh(%r[])\n%1: f32[n] = update(%0) at [0]\n%2: f32[i:n] = add(%p[i], %1[i])\n}");
  for (const Index n : {1, 5, 3000}) same_bits(f, {uneven(f32, {n}), uneven(f32, {})});
  CHECK(f.schedule().find("once {") != std::string::npos);
}

// %7 is grouped with what it folds; without elements it is cheaper made again where it is read, and its scalar goes with it.
TEST_CASE("a reader that another nest makes again takes its scalars along") {
  const Function f = compile_text(
      "graph g(%x: u16[0,0], %y: f64[0,2,10]) -> (%7) {\n"
      "%0: u64[i:0,j:0] = scan(i) sum(%x[i,j])\n%1: u64[i:0,j:0] = cast(%x[i,j])\n%2: u64[i:0,j:0] = multiply(%1[i,j], %0[-i,j])\n"
      "%3: u64[] f = fmin(5:u64, 2:u64)\n%4: u64[i:1,j:0,k:0] f = bitwise_or(%2[j,k], %3)\n"
      "%5: u64[i:0] f = sum(j:1,k:0,l:0) bitwise_or(%4[j,i,l], %0[i,k])\n%6: u64[i:5,j:0] = fma(%3, %3, %5[j])\n%7: u64[i:5,j:1] = sum(k:0) copy(%6[i,k])\n}");
  same_bits(f, {uneven(u16, {0, 0}), uneven(f64, {0, 2, 10})});
  const std::string text = f.schedule(), arrays = text.substr(text.find("  arrays"));
  CHECK(arrays.find("%0 ") == std::string::npos);
  CHECK(text.find("parallel i:5 by 16 {\n    %0\n") != std::string::npos);
}

// What each link of a chain folds, the next one needs: a nest for each.
TEST_CASE("thousands of nests are scheduled in about linear time, also where all of them read one value") {
  using Link = Expr (*)(const Expr& y, const Expr& exponential, const Expr& total);
  const auto chain = [](Link link, int links) {
    Graph g;
    const Expr x = g.input("x", f32, {"n"}), exponential = exp(x), total = sum(x);
    Expr y = x;
    for (int k = 0; k < links; ++k) y = link(y, exponential, total);
    g.outputs = {y.id()};
    return g;
  };
  const Link links[] = {
      [](const Expr& y, const Expr&, const Expr&) { return y * 0.5 - mean(y) + sqrt(sum(abs(y)) + 2); },
      [](const Expr& y, const Expr& exponential, const Expr&) { return y * exponential - mean(y); },
      [](const Expr& y, const Expr&, const Expr& total) { return y * total - max(y); },
  };
  for (Link link : links) {
    const Graph small = chain(link, 300), large = chain(link, 3000);
    const auto schedule = [](const Graph& graph, std::size_t least) { CHECK(schedule_of(graph, {{"n", 64}}).nests.size() >= least); };
    check_grows_linearly([&] { schedule(small, 300); }, [&] { schedule(large, 3000); });
  }
}

TEST_CASE("folds over a few elements go right outside the vectors, where others of the nest are over more; what they keep is a row") {
  Graph g;
  const Expr x = g.input("x", f32, {3, "n"}), y = g.input("y", f32, {3, "m"});
  const Expr squares = sum(square(expand_dims(x, 2) - expand_dims(y, 1)), 0);
  const Function f = compile({argmin(squares, 1)}, {x, y}, checked());
  for (const auto& [n, m] : {std::pair<Index, Index>{500, 400}, {1, 1}, {64, 3}, {70, 65}}) {
    const std::vector<Array> inputs = {uniform(f32, {3, n}, 1), uniform(f32, {3, m}, 2)};
    check_call(f, inputs);
    if (n != 500) continue;
    CHECK(f.bind(inputs, f(inputs)).scratch_bytes() < 1 << 18);
    const std::string program = f.program();
    CHECK(program.find("serial j in m") < program.find("serial k in 3"));
  }
}

TEST_CASE("sums of numbers beside sums of rows, and their long functions, run as vectors in loops of their own") {
  Graph g;
  const Expr x = g.input("x", f32, {"b", "k", "d"}), w = g.input("w", f32, {"b", "k"});
  const Expr weights = exp(w), all = expand_dims(sum(weights, 1), 1), means = sum(x * expand_dims(weights, 2), 1) / all;
  const Function f = compile({means, sum(square(x - expand_dims(means, 1)) * expand_dims(weights, 2), 1) / all}, {x, w}, checked());
  for (const auto& [b, k, d] : std::vector<std::array<Index, 3>>{{4, 200, 100}, {1, 1, 1}, {3, 17, 33}, {2, 1500, 7}, {5, 3, 64}})
    same_bits(f, {uniform(f32, {b, k, d}, 1), uniform(f32, {b, k}, 2)});
  const Function h = compile({means}, {x, w}, checked());
  same_bits(h, {uniform(f32, {4, 200, 100}, 1), uniform(f32, {4, 200}, 2)});
  CHECK(h.program().find("lanes k in k, folds") != std::string::npos);
  const Expr rows = g.input("rows", f32, {"k", "d"}), each = g.input("each", f32, {"k"});
  const Function root = compile({sum(rows * expand_dims(each, 1), 0) / sum(each, 0)}, {rows, each}, checked());
  for (const auto& [k, d] : {std::pair<Index, Index>{3000, 64}, {1, 1}, {1025, 40}, {17, 300}}) same_bits(root, {uniform(f32, {k, d}, 1), uniform(f32, {k}, 2)});
}
