#include <weft/text.h>

#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <error_text.h>
#include <limits>
#include <weft/expr.h>
#include <weft/interpret.h>

using namespace weft;

namespace {

// Both laws for one canonical text.
void check_round_trip(const std::string& text) {
  CAPTURE(text);
  const Graph graph = parse(text);
  CHECK(to_text(graph) == text);
  CHECK(same(graph, parse(to_text(graph))));
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
  check_round_trip("graph g(%x: f64[n,m]) -> (%0, %1) {\n"
                   "  %0: f64[m,4] = update(%x[i,j]) within [j-2,3-i]\n"
                   "  %1: f64[n,m] = update(%x[i,j]) within [i,j]\n}\n");
}

TEST_CASE("indices with start, step, flips and fixed places survive the round trip") {
  check_round_trip("graph g(%x: f64[2*n+1,m], %y: f64[n,m,4]) -> (%0, %1, %2, %3) {\n"
                   "  %0: f64[i:n] = copy(%x[2*i+1,0])\n"
                   "  %1: f64[i:n,j:m] = copy(%x[2*n-2*i,m-1-j])\n"
                   "  %2: f64[i:n] = add(%y[n-1-i,m-1,3], %y[i,0,2])\n"
                   "  %3: f64[i:m-1] = copy(%x[n,i+1])\n}\n");
  check_round_trip("graph g(%x: f64[n,8]) -> (%0) {\n  %0: f64[i:n-1,j:4] = copy(%x[i+0,j+0])\n}\n");
  const Graph whole = parse("graph g(%x: f64[n]) -> (%0, %1) { %0: f64[i:n] = copy(%x[i+0]) %1: f64[n] = update(%0[i]) at [i+0] }");
  CHECK(to_text(whole) == "graph g(%x: f64[n]) -> (%0, %1) {\n  %0: f64[i:n] = copy(%x[i])\n  %1: f64[n] = update(%0[i]) at [i]\n}\n");
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
  // What a node holds beside its operands counts: axes, values, places, targets.
  const auto of = [](const std::string& line) { return parse("graph g(%x: f64[4,4], %v: f64[n]) -> (%0) {\n  %0: " + line + "\n}\n"); };
  const std::vector<std::vector<std::string>> kinds{
      {"f64[i:4,j:4] = others(i) prod(%x[i,j])", "f64[i:4,j:4] = others(j) prod(%x[i,j])"},
      {"f64[i:4,j:4] = scan(i) sum(%x[i,j])", "f64[i:4,j:4] = scan(-i) sum(%x[i,j])", "f64[i:4,j:4] = scan(j) sum(%x[i,j])"},
      {"f64[2*n] = update(%v[i]) at [2*i]", "f64[2*n] = update(%v[i]) at [2*i+1]"},
      {"f64[2] = constant [1, 2]", "f64[2] = constant [1, 3]", "f64[2] = constant [1, nan]"},
      {"i64[] = extent(n)", "i64[] = extent(n+1)"}};
  for (const auto& lines : kinds)
    for (std::size_t a = 0; a < lines.size(); ++a)
      for (std::size_t b = 0; b < lines.size(); ++b) {
        CAPTURE(lines[a]);
        CAPTURE(lines[b]);
        CHECK(same(of(lines[a]), of(lines[b])) == (a == b));
      }
}

TEST_CASE("axes without end have names that read back") {
  Graph g;
  g.outputs = {exp(g.input("x", f64, Shape(62, Extent(1)))).id(), exp(g.input("y", f64, Shape(80, Extent(1)))).id()};
  CHECK(same(parse(to_text(g)), g));
}

TEST_CASE("indices whose last is beyond 64 bits are outside of every axis") {
  CHECK(error_text([] { parse("graph g(%x: f32[40]) -> (%0) {\n  %0: f32[i:33] = copy(%x[576460752303423488*i])\n}\n"); }).find(
            "shape: copy: indices 0 to 9223372036854775807 are outside axis 0 of %x, which has extent 40") != std::string::npos);
  CHECK(error_text([] { parse("graph g(%x: f32[33]) -> (%0) {\n  %0: f32[40] = update(%x[i]) at [576460752303423488*i]\n}\n"); }).find(
            "shape: update: indices 0 to 9223372036854775807 are outside axis 0 of extent 40") != std::string::npos);
  const Graph g = parse("graph g(%x: f32[m], %y: f32[n]) -> (%0) {\n  %0: f32[i:n] = add(%x[576460752303423488*i], %y[i])\n}\n");
  CHECK(error_text([&] { interpret(g, g.outputs, g.inputs, {Array(f32, {40}), Array(f32, {33})}); }).find(
            "shape: indices 0 to 9223372036854775807 are outside axis 0 of %x, which has extent m = 40") != std::string::npos);
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
  const std::pair<const char*, const char*> cases[] = {
  {R"t(graph)t",
   R"t(text: line 1: expected the name of the graph, got the end of the text
  graph
       ^)t"},
  {R"t(graph g(%x f64[n]) -> () {})t",
   R"t(text: line 1: expected ":", got "f64"
  graph g(%x f64[n]) -> () {}
             ^~~)t"},
  {R"t(graph g(%x: f65[n]) -> () {})t",
   R"t(text: line 1: expected a dtype such as f32, i64 or bool, got "f65"
  graph g(%x: f65[n]) -> () {}
              ^~~)t"},
  {R"t(graph g(%x: f64[n+]) -> () {})t",
   R"t(text: line 1: extent: expected a number or a name in "n+"
  graph g(%x: f64[n+]) -> () {}
                  ^~)t"},
  {R"t(graph g(%x: f64[n,]) -> () {})t",
   R"t(text: line 1: expected an extent, got "]"
  graph g(%x: f64[n,]) -> () {}
                    ^)t"},
  {R"t(graph g(%x: f64[], %x: f64[]) -> () {})t",
   R"t(text: line 1: %x is already defined
  graph g(%x: f64[], %x: f64[]) -> () {}
                     ^~)t"},
  {R"t(graph g(%x: f64[]) -> (%y) {})t",
   R"t(text: line 1: %y is not defined before its use
  graph g(%x: f64[]) -> (%y) {}
                         ^~)t"},
  {R"t(graph g(%x: f64[]) -> (%x) {} more)t",
   R"t(text: line 1: expected nothing after the graph, got "more"
  graph g(%x: f64[]) -> (%x) {} more
                                ^~~~)t"},
  {R"t(graph g(%x: f64[]) -> (2) {})t",
   R"t(text: line 1: expected a dtype after 2, as in 2:f32
  graph g(%x: f64[]) -> (2) {}
                         ^)t"},
  {R"t(graph g(%x: f64[]) -> (2:f6) {})t",
   R"t(text: line 1: expected a dtype such as f32, i64 or bool, got "f6"
  graph g(%x: f64[]) -> (2:f6) {}
                           ^~)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n] = exp(%y[i])
})t",
   R"t(text: line 2: %y is not defined before its use
    %0: f64[i:n] = exp(%y[i])
                       ^~)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n] = exq(%x[i])
})t",
   R"t(text: line 2: expected an op or an accumulator, got "exq"
    %0: f64[i:n] = exq(%x[i])
                   ^~~)t"},
  {R"t(graph g(%x: f64[n,m]) -> (%1) {
  %0: f64[i:n,j:m] = exp(%x[i,j])
  %1: f64[i:n] = exp(%0[i,j])
})t",
   R"t(text: line 3: j is neither an axis of this line nor a symbol
    %1: f64[i:n] = exp(%0[i,j])
                            ^)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n] = exp(%x[i+])
})t",
   R"t(text: line 2: expected a number, a symbol or an axis after each sign of "i+"
    %0: f64[i:n] = exp(%x[i+])
                          ^~)t"},
  {R"t(graph g(%x: f64[n,n]) -> (%0) {
  %0: f64[i:n,j:n] = exp(%x[i+j,0])
})t",
   R"t(text: line 2: an index follows one axis, got two in "i+j"
    %0: f64[i:n,j:n] = exp(%x[i+j,0])
                              ^~~)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n] = exp(%x[i)
})t",
   R"t(text: line 2: expected "]", got ")"
    %0: f64[i:n] = exp(%x[i)
                           ^)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n,i:n] = exp(%x[i])
})t",
   R"t(text: line 2: axis i is written twice
    %0: f64[i:n,i:n] = exp(%x[i])
                ^)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n] = exp(%x[i]))t",
   R"t(text: line 2: expected a line such as "%0: f64[i:n] = exp(%x[i])" or "}", got the end of the text
    %0: f64[i:n] = exp(%x[i])
                             ^)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:n] = exp(%x[i])
  %0: f64[i:n] = exp(%x[i])
})t",
   R"t(text: line 3: %0 is already defined
    %0: f64[i:n] = exp(%x[i])
    ^~)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  0: f64[i:n] = exp(%x[i])
})t",
   R"t(text: line 2: expected a line such as "%0: f64[i:n] = exp(%x[i])" or "}", got "0"
    0: f64[i:n] = exp(%x[i])
    ^)t"},
  {R"t(graph g(%x: i8[n]) -> (%0) {
  %0: i8[i:n] = add(%x[i], 128)
})t",
   R"t(text: line 2: expected a value of i8, got "128"
    %0: i8[i:n] = add(%x[i], 128)
                             ^~~)t"},
  {R"t(graph g(%x: i8[n]) -> (%0) {
  %0: i8[i:n] = add(%x[i], 1.5)
})t",
   R"t(text: line 2: expected a value of i8, got "1.5"
    %0: i8[i:n] = add(%x[i], 1.5)
                             ^~~)t"},
  {R"t(graph g(%x: i8[n]) -> (%0) {
  %0: i8[i:n] = add(%x[i], )
})t",
   R"t(text: line 2: expected an operand, got ")"
    %0: i8[i:n] = add(%x[i], )
                             ^)t"},
  {R"t(graph g() -> (%0) {
  %0: f64[] = exp(2)
})t",
   R"t(text: line 2: expected a dtype after 2, as in 2:f32
    %0: f64[] = exp(2)
                    ^)t"},
  {R"t(graph g() -> (%0) {
  %0: f64[2] = constant [1, 2, 3]
})t",
   R"t(text: line 2: a constant of shape [2] has 2 values, got 3
    %0: f64[2] = constant [1, 2, 3]
                                  ^)t"},
  {R"t(graph g() -> (%0) {
  %0: f64[n] = constant [1]
})t",
   R"t(text: line 2: a constant needs a shape of numbers, got [n]
    %0: f64[n] = constant [1]
                          ^)t"},
  {R"t(graph g() -> (%0) {
  %0: f64[] = constant [1]
})t",
   R"t(text: line 2: a scalar constant is written where it is used
    %0: f64[] = constant [1]
                         ^)t"},
  {R"t(graph g() -> (%0) {
  %0: f64[1] = constant [one]
})t",
   R"t(text: line 2: expected a value of f64, got "one"
    %0: f64[1] = constant [one]
                           ^~~)t"},
  {R"t(graph g() -> (%0) {
  %0: i64[i:4] = iota(j)
})t",
   R"t(text: line 2: iota takes the first axis of its result
    %0: i64[i:4] = iota(j)
                        ^)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[] = sum(i:n) sum(%x[i])
})t",
   R"t(text: line 2: expected an op or an accumulator, got "sum"
    %0: f64[] = sum(i:n) sum(%x[i])
                         ^~~)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[i:m] = exp(%x[i])
})t",
   R"t(shape: exp: axis i has extent m in the result but n in %x[i]
  %0: f64[i:m] = exp(%x[i])
                     ^~~~~
  if n is meant to equal m, declare both inputs with the same symbol)t"},
  {R"t(graph g(%x: f64[n]) -> (%0) {
  %0: f64[3] = update(%x[2*i]) at [i]
})t",
   R"t(text: line 2: expected "]", got "*"
    %0: f64[3] = update(%x[2*i]) at [i]
                            ^)t"},
  {R"t(graph "g(%x: f64[n]) -> () {})t",
   R"t(text: line 1: expected " at the end of the graph's name, got "g"
  graph "g(%x: f64[n]) -> () {}
         ^)t"},
  };
  for (const auto& [text, message] : cases) CHECK(error_text([&] { parse(text); }) == message);
}

TEST_CASE("control characters do not cut messages, and characters of several bytes are shown whole") {
  std::string text = "graph g(%x: f32[n]) -> (%0) {\n  %0: f32[i:n] = exp(#%x[i])\n}";
  text[text.find('#')] = '\0';
  CHECK(error_text([&] { parse(text); }).find("exp(?%x[i])\n") != std::string::npos);
  CHECK(error_text([] { parse("graph g(%\xc3\xa9: f32[n])"); }).find("got \"\xc3\xa9\"") != std::string::npos);
}

TEST_CASE("a definition within a definition is refused, however deep") {
  std::string nested = "graph g(%x: f32[n]) -> (%0) {\n";
  for (int k = 0; k < 20000; ++k) nested += "define e(0:f32) { graph step() -> () {\n";
  CHECK(error_text([&] { parse(nested); }).starts_with("text: line 3: a definition within a definition: the graphs of one hold scalars only, got \"define\""));
}

TEST_CASE("what a text calls its nodes") {
  TextNames names;
  const Graph graph = parse("graph g(%x: f32[n]) -> (%loss) {\n  %7: f32[i:n] = exp(%x[i])\n  %loss: f32[] = sum(i:n) copy(%7[i])\n}", names);
  CHECK(names.size() == 3);
  CHECK(names.at("loss") == graph.outputs[0]);
  CHECK(names.at("x") == graph.inputs[0]);
  CHECK(name_of(graph, names.at("7")) == "%0");
}

TEST_CASE("damaged text throws an Error and nothing else") {
  std::uint32_t state = 7;
  const auto random = [&](std::size_t bound) {
    state = state * 1664525 + 1013904223;
    return static_cast<std::size_t>(state >> 8) % bound;
  };
  const std::string letters = "%[](){}:;,=+-*/.0129ijnmxf \n\"\\eE";
  int parsed = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string text = lsq;
    for (std::size_t changes = 1 + random(3); changes > 0; --changes) {
      const std::size_t at = random(text.size());
      if (random(3) == 0) text.erase(at, 1 + random(8));
      else if (random(2) == 0) text.insert(at, 1, letters[random(letters.size())]);
      else text[at] = letters[random(letters.size())];
    }
    try {
      const Graph graph = parse(text);
      CHECK(same(parse(to_text(graph)), graph));
      ++parsed;
    } catch (const Error&) {
    }
  }
  CHECK(parsed > 100);
}
