#include <weft/text.h>

#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace weft;

namespace {

// Both laws for one canonical text.
void check_round_trip(const std::string& text) {
  CAPTURE(text);
  const Graph graph = parse(text);
  CHECK(to_text(graph) == text);
  CHECK(same(graph, parse(to_text(graph))));
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const std::string lsq = R"(graph lsq(%x: f64[n,m], %w: f64[m], %y: f64[n]) -> (%2, %4) {
  %0: f64[i:n] = sum(j:m) multiply(%x[i,j], %w[j])
  %1: f64[i:n] = subtract(%0[i], %y[i])
  %2: f64[] = sum(i:n) multiply(%1[i], %1[i])
  %3: f64[i:n] = multiply(2, %1[i])
  %4: f64[i:m] = sum(j:n) multiply(%3[j], %x[j,i])
}
)";

}  // namespace

TEST_CASE("a graph built by hand prints in the documented notation") {
  Graph g("lsq");
  const Extent n = "n", m = "m";
  const NodeId x = g.input("x", f64, {n, m}).id(), w = g.input("w", f64, {m}).id(), y = g.input("y", f64, {n}).id();
  const NodeId p = g.fold(AccumulatorId::sum, Op::multiply, f64, {n, m}, 1, {{x, identity_map(2)}, {w, {{1, 0, 1}}}});
  const NodeId r = g.apply(Op::subtract, f64, {n}, {{p, identity_map(1)}, {y, identity_map(1)}});
  const NodeId loss = g.fold(AccumulatorId::sum, Op::multiply, f64, {n}, 0, {{r, identity_map(1)}, {r, identity_map(1)}});
  const NodeId two = g.constant(Scalar(2.0)).id();
  const NodeId d = g.apply(Op::multiply, f64, {n}, {{two, {}}, {r, identity_map(1)}});
  const NodeId gw = g.fold(AccumulatorId::sum, Op::multiply, f64, {m, n}, 1, {{d, {{1, 0, 1}}}, {x, {{1, 0, 1}, {0, 0, 1}}}});
  g.outputs = {loss, gw};
  CHECK(to_text(g) == lsq);
  CHECK(same(parse(lsq), g));
  CHECK(line_of(g, gw) == "%4: f64[i:m] = sum(j:n) multiply(%3[j], %x[j,i])");
  CHECK(line_of(g, x) == "%x: f64[n,m]");
  CHECK(line_of(g, two) == "2:f64");
  CHECK(name_of(g, x) == "%x");
  CHECK(name_of(g, gw) == "%4");
  CHECK(g.constant(Scalar(true)).id() > gw);
  CHECK(to_text(g) == lsq);   // a constant that nothing uses does not show
}

TEST_CASE("every kind of line survives the round trip") {
  check_round_trip(lsq);
  check_round_trip("graph g() -> () {\n}\n");
  check_round_trip("graph g(%x: f64[]) -> (%x, %x) {\n}\n");
  check_round_trip("graph g() -> (2:f64, -0:f32, inf:bf16, nan:f16, true, 255:u8) {\n}\n");
  check_round_trip("graph \"two words \\\"q\\\" \\\\ \\n\"(%x: f64[n,m] f, %b: bool[]) -> (%0) {\n  %0: f64[i:n] f = max(j:m) copy(%x[i,j])\n}\n");
  check_round_trip("graph g() -> (%0, %1, %2) {\n"
                   "  %0: f32[2,2] = constant [1, -0, inf, nan]\n"
                   "  %1: bool[3] f = constant [true, false, true]\n"
                   "  %2: i8[0,2] = constant []\n}\n");
  check_round_trip("graph g(%x: f64[n,m]) -> (%0, %1) {\n"
                   "  %0: i64[i:n,j:m] = iota(i)\n"
                   "  %1: i64[] = extent(m+2*n)\n}\n");
  check_round_trip("graph g(%x: f64[n]) -> (%0, %1) {\n"
                   "  %0: f64[2*n+1] = update(%x[i]) at [2*i+1]\n"
                   "  %1: f64[n,3] = update(1.5:f64) at [n-1,0]\n}\n");
}

TEST_CASE("indices with start, step, flips and fixed places survive the round trip") {
  check_round_trip("graph g(%x: f64[2*n+1,m], %y: f64[n,m,4]) -> (%0, %1, %2, %3) {\n"
                   "  %0: f64[i:n] = copy(%x[2*i+1,0])\n"
                   "  %1: f64[i:n,j:m] = copy(%x[2*n-2*i,m-1-j])\n"
                   "  %2: f64[i:n] = add(%y[n-1-i,m-1,3], %y[i,0,2])\n"
                   "  %3: f64[i:m-1] = copy(%x[n,i+1])\n}\n");
  check_round_trip("graph g(%x: f64[n,(m)*(n)]) -> (%0) {\n  %0: f64[i:(n+1)/2] = copy(%x[2*i,(m)*(n)-1])\n}\n");
}

TEST_CASE("axes skip the letters that are symbols") {
  check_round_trip("graph g(%x: f64[i,k,n]) -> (%0) {\n  %0: f64[j:i,l:k] = sum(p:n) copy(%x[j,l,p])\n}\n");
}

TEST_CASE("any names and letters parse, and print in canonical form") {
  const Graph graph = parse("graph g(%x: f64[n]) -> (%loss) {  ; a comment\n"
                            "  %e: f64[row:n] = exp( %x[ row ] )   ; another\n\n"
                            "  %loss: f64[] = sum(q:n) multiply(%e[q], 0.50)\n}");
  CHECK(to_text(graph) == "graph g(%x: f64[n]) -> (%1) {\n"
                          "  %0: f64[i:n] = exp(%x[i])\n"
                          "  %1: f64[] = sum(i:n) multiply(%0[i], 0.5)\n}\n");
}

TEST_CASE("literals keep their dtype, told by an operand or by a suffix") {
  check_round_trip("graph g(%c: bool[n], %x: i32[n], %h: f16[n]) -> (%0, %1, %2, %3, %4, %5) {\n"
                   "  %0: i32[i:n] = where(%c[i], %x[i], -7)\n"
                   "  %1: i32[i:n] = where(%c[i], 1:i32, 0:i32)\n"
                   "  %2: bool[i:n] = logical_and(%c[i], true)\n"
                   "  %3: f32[i:n] = cast(2:i8)\n"
                   "  %4: f16[i:n] = add(0.1, %h[i])\n"
                   "  %5: bool[i:n] = less(%x[i], 2147483647)\n}\n");
}

TEST_CASE("every dtype has literals that read back to the same value") {
  const auto survives = [](const Scalar& value) {
    Graph g;
    g.outputs = {g.constant(value).id()};
    CAPTURE(to_text(g));
    CHECK(same(parse(to_text(g)), g));
    Array array(value.dtype(), {1});
    array.set({0}, value);
    Graph h;
    h.outputs = {h.constant(array).id()};
    CHECK(same(parse(to_text(h)), h));
  };
  for (int k = 0; k <= static_cast<int>(f64); ++k) {
    const DType dtype = static_cast<DType>(k);
    for (double value : {0.0, 1.0, 100.0}) survives(Scalar::of(dtype, value));
    if (is_floating(dtype))
      for (double value : {-0.0, 0.1, 1.0 / 3, 1e30, 5e-324, 1e-45, 6e-8, 9e-41, -1e300, HUGE_VAL, -HUGE_VAL, std::nan("")})
        survives(Scalar::of(dtype, value));
  }
  survives(Scalar(std::numeric_limits<std::uint64_t>::max()));
  survives(Scalar(std::numeric_limits<std::int64_t>::min()));
}

TEST_CASE("ranks from 0 to 8 survive the round trip") {
  std::string dims, loops, index;
  for (int rank = 0; rank <= 8; ++rank) {
    if (rank > 0) {
      const std::string size = std::to_string(rank), letter(1, "ijklpqrs"[rank - 1]);
      dims += (rank > 1 ? "," : "") + size;
      loops += (rank > 1 ? "," : "") + letter + ":" + size;
      index += (rank > 1 ? "," : "") + letter;
    }
    check_round_trip("graph g(%x: f64[" + dims + "]) -> (%0) {\n  %0: f64[" + loops + "] = exp(%x" + (rank ? "[" + index + "]" : "") + ")\n}\n");
  }
}

TEST_CASE("graphs that differ are not the same") {
  const auto with = [](const std::string& line) { return parse("graph g(%x: f64[n], %y: f64[n]) -> (%0) {\n  %0: " + line + "\n}\n"); };
  const Graph base = with("f64[i:n] = add(%x[i], 1)");
  CHECK(same(base, with("f64[i:n] = add(%x[i], 1)")));
  for (const char* other : {"f64[i:n] = add(%x[i], 2)", "f64[i:n] = add(%y[i], 1)", "f64[i:n] = subtract(%x[i], 1)", "f64[i:n] = add(%x[n-1-i], 1)",
                            "f64[i:n] f = add(%x[i], 1)", "f64[i:n,j:n] = add(%x[i], 1)", "f64[] = sum(i:n) add(%x[i], 1)"})
    CHECK_FALSE(same(base, with(other)));
}

TEST_CASE("printing and parsing 20,000 nodes is linear") {
  Graph g;
  NodeId last = g.input("x", f32, {"n"}).id();
  for (int k = 0; k < 20000; ++k) last = g.apply(Op::exp, f32, {"n"}, {{last, identity_map(1)}});
  g.outputs = {last};
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = to_text(g);
  const Graph back = parse(text);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  CHECK(same(g, back));
  CHECK(time.count() < 5.0);   // takes 0.1 s
}

TEST_CASE("a graph draws itself for Graphviz") {
  CHECK(to_dot(parse("graph g(%x: f64[n]) -> (%0) {\n  %0: f64[] = sum(i:n) square(%x[i])\n}\n")) ==
        "digraph G {\nrankdir=TB;\nnode [fontname=monospace];\n0[label=\"%x: f64[n]\", shape=ellipse];\n"
        "1[label=\"%0: f64[] = sum(i:n) square(%x[i])\", shape=box, peripheries=2];\n0->1 [label=0];\n}\n");
}

TEST_CASE("text errors show the line and a caret") {
  CHECK(error_of("") == "text: line 1: expected \"graph\", got the end of the text\n  \n  ^");
  CHECK(error_of("graph g(%x: f65[n]) -> () {\n}") ==
        "text: line 1: expected a dtype such as f32, i64 or bool, got \"f65\"\n  graph g(%x: f65[n]) -> () {\n              ^~~");
}
