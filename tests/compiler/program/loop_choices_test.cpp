// What is decided about loops before code is made of them, for processors that this one need not be.
#include "program/loop_choices.h"

#include <algorithm>

#include <weft/passes.h>
#include <weft/text.h>

#include "bits.h"
#include "passes/pipeline.h"

using namespace weft;
using Together = LoopChoices::Together;

namespace {

const std::string avx512 = "+avx,+avx2,+avx512f,+avx512bw,+avx512vbmi", avx2 = "+avx,+avx2", sse = "+sse4.2";

// The programs of a graph whose arrays are all contiguous.
std::vector<Program> programs_of(const std::string& text, const Bindings& sizes) {
  const Graph graph = run_graph_passes(parse(text), checked());
  Hints hints;
  hints.bindings = sizes;
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (NodeId id : *ids) hints.arrays[id] = {contiguous_strides(evaluate(graph.node(id).shape(), sizes), Order::c)};
  const Schedule schedule = make_schedule(graph, hints);
  std::vector<Program> programs;
  for (const Nest& nest : schedule.nests) programs.push_back(lower(graph, schedule, nest, "p"));
  return programs;
}

void visit(const Loop& loop, const std::function<void(const Loop&)>& visitor) {
  visitor(loop);
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) visit(*inner, visitor);
}

// For each loop around vector loops, outermost first.
std::vector<Together> together(const std::string& text, const Bindings& sizes, const std::string& features = avx2) {
  std::vector<Together> found;
  for (const Program& program : programs_of(text, sizes)) {
    const StrideClasses contiguous;
    const LoopChoices choices(program, contiguous, features);
    visit(program.root, [&](const Loop& loop) {
      if (loop.mark == Mark::lanes) return;
      const auto outer = choices.outer_of(loop);
      if (!outer.loops.empty()) found.push_back(choices.together(loop, outer));
    });
  }
  return found;
}

// Of the only vector loop of a graph.
template <class Choice> auto of_vector_loop(const std::string& text, const Bindings& sizes, const std::string& features, Choice choice) {
  const std::vector<Program> programs = programs_of(text, sizes);
  REQUIRE(programs.size() == 1);
  const StrideClasses contiguous;
  const LoopChoices choices(programs[0], contiguous, features);
  const Loop* only = nullptr;
  visit(programs[0].root, [&](const Loop& loop) {
    if (loop.mark == Mark::lanes) only = &loop;
  });
  REQUIRE(only != nullptr);
  return choice(choices, *only);
}

// Rows of so many elements.
int interleaved(const std::string& dtype, const std::string& extent, const std::string& features) {
  const std::string text = "graph g(%x: " + dtype + "[n," + extent + "], %w: " + dtype + "[n]) -> (%0) {\n  %0: " + dtype + "[i:n,j:" + extent + "] = multiply(%x[i,j], %w[i])\n}\n";
  return of_vector_loop(text, {{"n", 5000}, {"m", 5000}}, features, [](const LoopChoices& choices, const Loop& loop) { return choices.interleave(loop); });
}

}  // namespace

TEST_CASE("operands across go in tiles, those of large bodies in squares") {
  const std::string small = "graph g(%x: f32[m,n], %y: f32[n,m]) -> (%0) {\n  %0: f32[i:n,j:m] = add(%x[j,i], %y[i,j])\n}\n";
  const std::string large = "graph g(%x: f32[m,n], %y: f32[n,m]) -> (%2) {\n  %0: f32[i:n,j:m] = add(%x[j,i], %y[i,j])\n  %1: f32[i:n,j:m] = tanh(%0[i,j])\n  %2: f32[i:n,j:m] = exp(%1[i,j])\n}\n";
  for (const std::string& features : {avx512, avx2, sse}) {
    CHECK(together(small, {{"n", 500}, {"m", 700}}, features) == std::vector{Together::tiles});
    CHECK(together(large, {{"n", 500}, {"m", 700}}, features) == std::vector{Together::squares});
  }
}

TEST_CASE("folds over an outer loop take several of its elements; few of them are all in registers") {
  const auto columns = [](const std::string& extent) { return "graph g(%x: f32[" + extent + ",m]) -> (%0) {\n  %0: f32[i:m] = sum(j:" + extent + ") copy(%x[j,i])\n}\n"; };
  const Bindings sizes{{"n", 4000}, {"m", 5000}};
  const auto with_jam = together(columns("n"), sizes), with_thin = together(columns("4"), sizes), two_of_a_slot = together(columns("32"), sizes), too_many = together(columns("33"), sizes);
  const auto few_sets = together(columns("80"), {{"n", 4000}, {"m", 4096}}), in_memory = together(columns("40"), {{"n", 4000}, {"m", 500000}});
  CHECK(std::count(with_jam.begin(), with_jam.end(), Together::jam) == 1);
  for (const auto* all : {&with_thin, &two_of_a_slot}) CHECK(std::count(all->begin(), all->end(), Together::thin) == 1);
  CHECK(std::count(too_many.begin(), too_many.end(), Together::thin) == 0);
  for (const auto* all : {&too_many, &in_memory}) CHECK(std::count(all->begin(), all->end(), Together::columns) == 1);      // down all of them
  CHECK(std::count(few_sets.begin(), few_sets.end(), Together::jam) == 1);
}

TEST_CASE("short rows that are folded go several at a time, unless they are stored or needed again") {
  const auto graph = [](const std::string& nodes, const std::string& outputs) { return "graph g(%x: f32[n,m], %w: f32[m]) -> (" + outputs + ") {\n" + nodes + "}\n"; };
  const std::string product = "  %0: f32[i:n,j:m] = multiply(%x[i,j], %w[j])\n", sum = "  %1: f32[i:n] = sum(j:m) copy(%0[i,j])\n";
  const Bindings shorter{{"n", 3000}, {"m", 64}}, longer{{"n", 3000}, {"m", 300}}, few{{"n", 30}, {"m", 64}}, many{{"n", 50000}, {"m", 64}};
  const auto has_rows = [](const std::vector<Together>& all) { return std::count(all.begin(), all.end(), Together::rows) > 0; };
  for (const std::string& features : {avx512, avx2, sse}) CHECK(has_rows(together(graph(product + sum, "%1"), shorter, features)));
  CHECK_FALSE(has_rows(together(graph(product + sum, "%1"), longer)));
  CHECK_FALSE(has_rows(together(graph(product + sum, "%1"), few)));
  CHECK_FALSE(has_rows(together(graph(product + sum, "%1"), many)));     // from beyond the second level in the order in which they lie
  CHECK_FALSE(has_rows(together(graph(product + sum, "%0, %1"), shorter)));
  for (const std::string& features : {avx512, avx2}) CHECK(has_rows(together(graph("  %0: f32[i:n] = max(j:m) copy(%x[i,j])\n", "%0"), shorter, features)) == (features == avx512));      // with signs and NaN beside
  CHECK_FALSE(has_rows(together(graph(product + sum + "  %2: f32[i:n,j:m] = divide(%x[i,j], %1[i])\n", "%2"), shorter)));
}

TEST_CASE("rows that share nothing go one by one") {
  const std::string text = "graph g(%x: f32[n,m], %w: f32[n]) -> (%0) {\n  %0: f32[i:n,j:m] = multiply(%x[i,j], %w[i])\n}\n";
  for (Together each : together(text, {{"n", 500}, {"m", 700}})) CHECK(each == Together::none);
}

TEST_CASE("vectors side by side fit the registers, and divide what is known") {
  CHECK(interleaved("f32", "m", avx512) == 4);
  CHECK(interleaved("f32", "m", avx2) == 4);
  CHECK(interleaved("f64", "m", avx512) == 4);
  CHECK(interleaved("f64", "m", avx2) == 2);
  for (const std::string& features : {avx512, avx2}) {
    CHECK(interleaved("f32", "32", features) == 2);
    CHECK(interleaved("f32", "48", features) == 3);
    CHECK(interleaved("f32", "96", features) == 3);
    CHECK(interleaved("f32", "5", features) >= 1);
  }
}

TEST_CASE("maxima of floats take twice the registers of sums") {
  const auto folded = [](const std::string& fold, const std::string& features) {
    const std::string text = "graph g(%x: f32[n,m]) -> (%0) {\n  %0: f32[i:n] = " + fold + "(j:m) copy(%x[i,j])\n}\n";
    const auto interleaved = [](const LoopChoices& choices, const Loop& loop) { return choices.interleave(loop); };
    return of_vector_loop(text, {{"n", 5000}, {"m", 5000}}, features, interleaved);
  };
  for (const std::string& features : {avx512, avx2}) CHECK(folded("sum", features) == 4);
  for (const char* fold : {"max", "min"}) {
    CHECK(folded(fold, avx512) == 4);
    CHECK(folded(fold, avx2) == 2);
  }
}

TEST_CASE("functions of bytes are looked up in registers where there are instructions and elements lie together") {
  const auto text = [](const std::string& read) {
    return "graph g(%x: u8[n,m]) -> (%2) {\n  %0: f32[i:n,j:m] = cast(%x[" + read + "])\n  %1: f32[i:n,j:m] = power(%0[i,j], 2.2)\n  %2: u8[i:n,j:m] = cast(%1[i,j])\n}\n";
  };
  const Bindings sizes{{"n", 500}, {"m", 500}};
  const auto in_registers = [](const LoopChoices& choices, const Loop& loop) {
    const auto function = choices.byte_function(loop);
    REQUIRE(function.has_value());
    return function->in_registers;
  };
  CHECK(of_vector_loop(text("i,j"), sizes, avx512, in_registers));
  CHECK(of_vector_loop(text("i,j"), sizes, avx2, in_registers));
  CHECK(!of_vector_loop(text("i,j"), sizes, sse, in_registers));
  CHECK(!of_vector_loop(text("i,j"), sizes, "+avx2,+avx512f", in_registers));       // registers of 64 bytes, and no instruction for them
  const std::string wide = "graph g(%x: i32[n]) -> (%1) {\n  %0: f32[i:n] = cast(%x[i])\n  %1: u8[i:n] = cast(%0[i])\n}\n";
  CHECK(!of_vector_loop(wide, sizes, avx512, [](const LoopChoices& choices, const Loop& loop) { return choices.byte_function(loop).has_value(); }));
}

TEST_CASE("an index lies in no memory, so along no loop") {
  const std::string text = "graph g(%x: f32[n]) -> (%2) {\n  %0: i64[i:n] = iota(i)\n  %1: f32[i:n] = cast(%0[i])\n  %2: f32[i:n] = multiply(%1[i], %x[i])\n}\n";
  const auto loads = [](const LoopChoices& choices, const Loop& loop) {
    std::vector<bool> along;
    for (const Item& item : loop.body)
      if (auto* load = std::get_if<Load>(&item)) along.push_back(choices.lies_along(load->buffer, load->at, loop.var.axis));
    std::sort(along.begin(), along.end());
    return along;
  };
  CHECK(of_vector_loop(text, {{"n", 500}}, avx2, loads) == std::vector<bool>{false, true});
}

// Layer norm of columns: three nests, and means and deviations between them, one for each row.
TEST_CASE("arrays between nests, of as many elements as there are rows, are read as vectors") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), b = g.input("b", f32, {"m"});
  const Function f = compile({layer_norm(x, w, b, 1)}, {x, w, b}, {.threads = 1, .lanes = 16, .verify = true});
  for (const Dims& shape : {Dims{64, 1}, Dims{1, 100}, Dims{512, 640}})
    same_bits(f, {uneven(f32, shape).copy(Order::f), uneven(f32, {shape[1]}), uneven(f32, {shape[1]})});
  CHECK(f.report().find("arrays between nests, and why these are") != std::string::npos);
  CHECK(f.llvm().find("masked.gather") == std::string::npos);
}
