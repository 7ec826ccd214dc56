// Which layout stored values get: the votes of their readers (tests/README.md, requirements 154).
#include <doctest/doctest.h>

#include <weft/elemwise.h>
#include <weft/passes.h>
#include <weft/text.h>

#include "values.h"

using namespace weft;

namespace {

// The order of every node of rank 2 and more that is computed, by its line in the text: "%0 c, %1 f".
std::string layouts_of(const std::string& text) {
  const Graph graph = choose_layouts(parse(text));
  std::string layouts;
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (node.rank() < 2 || node.kind == Kind::input) continue;
    layouts += (layouts.empty() ? "" : ", ") + name_of(graph, id_of(k)) + " " + to_text(node.order);
  }
  return layouts;
}

// A value read by one node of each order.
Order voted(const std::vector<Order>& consumers, Order own = Order::c) {
  Graph g;
  const Expr x = g.input("x", f64, {3, 4});
  const NodeId value = g.apply(Op::exp, f64, {3, 4}, {{x.id(), identity_map(2)}}, own);
  for (Order order : consumers) g.apply(Op::negative, f64, {3, 4}, {{value, identity_map(2)}}, order);
  return choose_layouts(g).node(value).order;
}

}  // namespace

TEST_CASE("a value is laid out as most of its readers run: C for order c, F for order f") {
  CHECK(voted({Order::c}) == Order::c);
  CHECK(voted({Order::f}) == Order::f);
  CHECK(voted({Order::c, Order::c, Order::f}) == Order::c);
  CHECK(voted({Order::f, Order::c, Order::f}) == Order::f);
}

TEST_CASE("a tie, and no reader at all, leave a value in its own order") {
  CHECK(voted({Order::c, Order::f}, Order::c) == Order::c);
  CHECK(voted({Order::c, Order::f}, Order::f) == Order::f);
  CHECK(voted({}, Order::c) == Order::c);
  CHECK(voted({}, Order::f) == Order::f);
}

TEST_CASE("a node that reads a value twice votes twice") {
  Graph g;
  const NodeId x = exp(g.input("x", f64, {3, 4})).id();
  const std::vector<Operand> twice{{x, identity_map(2)}, {x, identity_map(2)}};
  g.apply(Op::multiply, f64, {3, 4}, twice, Order::f);
  g.apply(Op::negative, f64, {3, 4}, {twice[0]}, Order::c);
  CHECK(choose_layouts(g).node(x).order == Order::f);
}

TEST_CASE("choose_layouts decides from the outputs backwards") {
  CHECK(layouts_of(R"(graph g(%x: f64[n,m]) -> (%2) {
    %0: f64[i:n,j:m] = exp(%x[i,j])
    %1: f64[i:n,j:m] = sin(%0[i,j])
    %2: f64[i:n,j:m] f = cos(%1[i,j])
  })") == "%0 f, %1 f, %2 f");
  CHECK(layouts_of(R"(graph g(%x: f64[n,m]) -> (%1, %2, %3) {
    %0: f64[i:n,j:m] f = exp(%x[i,j])
    %1: f64[i:n,j:m] f = sin(%0[i,j])
    %2: f64[i:n,j:m] = cos(%0[i,j])
    %3: f64[i:n,j:m] = tan(%0[i,j])
  })") == "%0 c, %1 f, %2 c, %3 c");
}

TEST_CASE("a fold votes by its order, whichever axis it folds") {
  CHECK(layouts_of(R"(graph g(%x: f64[n,m]) -> (%1) {
    %0: f64[i:n,j:m] f = exp(%x[i,j])
    %1: f64[i:m] = sum(j:n) copy(%0[j,i])
  })") == "%0 c");
  CHECK(layouts_of(R"(graph g(%x: f64[n,m]) -> (%1) {
    %0: f64[i:n,j:m] = exp(%x[i,j])
    %1: f64[i:m] f = sum(j:n) copy(%0[j,i])
  })") == "%0 f");
}

TEST_CASE("a reader that transposes votes for the other layout of what is not an output") {
  const std::string lines = R"( {
    %0: f64[i:n,j:m] = exp(%x[i,j])
    %1: f64[i:m,j:n] = sin(%0[j,i])
  })";
  CHECK(layouts_of("graph g(%x: f64[n,m]) -> (%1)" + lines) == "%0 f, %1 c");
  CHECK(layouts_of("graph g(%x: f64[n,m]) -> (%0, %1)" + lines) == "%0 c, %1 c");
  // Reversed, sliced and fixed indices are not transposed; nor is a cyclic change, or an axis of extent 1 in another place.
  CHECK(layouts_of(R"(graph g(%x: f64[n,m,n]) -> (%1, %2, %3) {
    %0: f64[i:n,j:m,k:n] = exp(%x[i,j,k])
    %1: f64[i:n,j:m,k:n] = sin(%0[-1+n-i,j,k])
    %2: f64[i:m,j:n] = sin(%0[0,i,j])
    %3: f64[i:m,j:n,k:n] = sin(%0[k,i,j])
  })") == "%0 c, %1 c, %2 c, %3 c");
  CHECK(layouts_of(R"(graph g(%x: f64[n,1]) -> (%1) {
    %0: f64[i:n,j:1] = exp(%x[i,j])
    %1: f64[i:1,j:n] = sin(%0[j,i])
  })") == "%0 c, %1 c");
}

TEST_CASE("values of rank 0 and 1, inputs and constants keep their order") {
  const std::string text = R"(graph g(%x: f64[n] f, %w: f64[n,m] f) -> (%2) {
  %0: f64[i:n] f = exp(%x[i])
  %1: f64[2,2] = constant [1, 2, 3, 4]
  %2: f64[i:n] = sum(j:m) multiply(%0[i], %w[i,j])
}
)";
  CHECK(to_text(choose_layouts(parse(text))) == to_text(parse(text)));
}

TEST_CASE("deciding layouts twice changes nothing") {
  const Graph graph = parse(R"(graph g(%x: f64[n,m]) -> (%3, %4) {
    %0: f64[i:n,j:m] = exp(%x[i,j])
    %1: f64[i:m,j:n] = sin(%0[j,i])
    %2: f64[i:m,j:n] f = cos(%1[i,j])
    %3: f64[i:m,j:n] = add(%1[i,j], %2[i,j])
    %4: f64[i:n,j:m] f = add(%0[i,j], %2[j,i])
  })");
  const std::string once = to_text(choose_layouts(graph));
  CHECK(once != to_text(graph));
  CHECK(to_text(choose_layouts(parse(once))) == once);
}

TEST_CASE("what an order f elemwise makes is laid out F, its c twin C") {
  for (const Order order : {Order::c, Order::f}) {
    Graph g;
    const Expr x = g.input("x", f64, {"n", "n"}), y = g.input("y", f64, {"n"});
    const Expr z = elemwise(x, y, order, {Mode::broadcast}, [](Expr a, Expr b) { return exp(a) * b + a; });
    const Graph graph = choose_layouts(extract(g, {x, y}, {z}));
    for (std::size_t k = 0; k < graph.size(); ++k)
      if (graph.node(id_of(k)).kind == Kind::apply) CHECK(graph.node(id_of(k)).order == order);
  }
}
