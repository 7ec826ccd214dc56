#include <weft/binding.h>

#include <doctest/doctest.h>
#include <error_text.h>
#include <weft/text.h>

using namespace weft;

namespace {

std::string bind_error(const std::string& header, const std::vector<Array>& arrays, const Bindings& extra = {}) {
  const Graph graph = parse("graph g(" + header + ") -> () {\n}\n");
  return error_text([&] { bind_symbols(graph, graph.inputs, arrays, extra); });
}
// Checks every live node of a graph with the given sizes.
std::string call_error(const std::string& text, const Bindings& bindings) {
  const Graph graph = parse(text);
  return error_text([&] {
    for (NodeId id : live_nodes(graph, graph.outputs))
      if (has_call_checks(graph, id)) check_at_call(graph, id, bindings);
  });
}
Array array(Dims shape, DType dtype = f64) { return Array(dtype, shape); }

}  // namespace

TEST_CASE("symbols take their value from the first axis that is one") {
  const Graph graph = parse("graph g(%x: f64[n,2*m+1], %y: f64[m,3]) -> () {\n}\n");
  CHECK(bind_symbols(graph, graph.inputs, std::vector<Array>{array({4, 11}), array({5, 3})}) == Bindings{{"m", 5}, {"n", 4}});
  CHECK(bind_symbols(graph, graph.inputs, std::vector<View>{array({4, 11}), array({5, 3})}, {{"k", 2}}) == Bindings{{"k", 2}, {"m", 5}, {"n", 4}});
}

TEST_CASE("arguments that do not match the inputs are refused") {
  CHECK(bind_error("%x: f64[n], %y: f64[n]", {array({2})}) == "usage: expected 2 arrays (%x, %y), got 1");
  CHECK(bind_error("%x: f64[n]", {array({2}, f32)}) ==
        "dtype: input %x is f64 but got an array of f32\n  nothing is cast implicitly: convert the array, or declare the input as f32");
  CHECK(bind_error("%x: f64[n,64]", {array({3})}) == "shape: input %x has shape [n, 64] but got an array of shape [3]");
  CHECK(bind_error("%x: f64[n,64]", {array({3, 63})}) == "shape: axis 1 of %x has extent 64 but got 63 (an array of shape [3, 63])");
  CHECK(bind_error("%x: f64[n], %y: f64[4,n]", {array({3}), array({4, 5})}) == "shape: symbol n is 3 on axis 0 of %x but 5 on axis 1 of %y");
  CHECK(bind_error("%x: f64[n,n]", {array({3, 4})}) == "shape: symbol n is 3 on axis 0 of %x but 4 on axis 1 of %x");
  CHECK(bind_error("%x: f64[n]", {array({3})}, {{"n", 4}}) == "shape: symbol n is 4 as given but 3 on axis 0 of %x");
  CHECK(bind_error("%x: f64[n]", {array({3})}, {{"k", -1}}) == "shape: symbol k cannot be -1");
  CHECK(bind_error("%x: f64[n], %y: f64[2*n+1]", {array({3}), array({8})}) ==
        "shape: axis 0 of %y has extent 2*n+1 = 7 but got 8 (an array of shape [8])");
  CHECK(bind_error("%y: f64[2*n+1]", {array({7})}) == "shape: symbol n is not bound by any input");
  const Graph graph = parse("graph g(%x: f64[n]) -> (%0) { %0: f64[i:n] = exp(%x[i]) }");
  const NodeId x = graph.inputs[0];
  CHECK(error_text([&] { bind_symbols(graph, {x, x}, std::vector<Array>{array({1}), array({1})}); }) == "usage: input %x is listed twice");
  CHECK(error_text([&] { bind_symbols(graph, {graph.outputs[0]}, std::vector<Array>{array({1})}); }) == "usage: %0 is not an input of graph g");
  CHECK(error_text([&] { bind_symbols(graph, {id_of(9)}, std::vector<Array>{array({1})}); }) == "usage: node 9 is not an input of graph g");
  CHECK(error_text([&] { live_nodes(graph, {id_of(9)}); }) == "usage: output 9 is not a node of graph g");
}

TEST_CASE("only what the outputs need is live") {
  const Graph graph = parse("graph g(%x: f64[n], %y: f64[n]) -> (%1) {\n%0: f64[i:n] = exp(%y[i])\n%1: f64[i:n] = exp(%x[i])\n}");
  CHECK(live_nodes(graph, graph.outputs) == std::vector<NodeId>{graph.inputs[0], graph.outputs[0]});
  CHECK(error_text([&] { check_inputs_given(graph, graph.outputs, {graph.inputs[0]}); }) == "no error");
  CHECK(error_text([&] { check_inputs_given(graph, graph.outputs, {graph.inputs[1]}); }) ==
        "usage: the outputs need input %x, which is not among the inputs given");
}

TEST_CASE("sizes known only at the call are checked at the call") {
  CHECK(call_error("graph g(%x: f64[n]) -> (%0) { %0: f64[] = copy(%x[n-1]) }", {{"n", 0}}) ==
        "shape: index -1 is outside axis 0 of %x, which has extent n = 0\n  %0: f64[] = copy(%x[n-1])\n                   ^~~~~~~");
  CHECK(call_error("graph g(%x: f64[n]) -> (%0) { %0: f64[i:3] = copy(%x[2*i+1]) }", {{"n", 5}}) ==
        "shape: indices 1 to 5 are outside axis 0 of %x, which has extent n = 5\n  %0: f64[i:3] = copy(%x[2*i+1])\n                      ^~~~~~~~~");
  CHECK(call_error("graph g(%x: f64[n]) -> (%0) { %0: f64[i:n] = copy(%x[n-1-i]) }", {{"n", 0}}) == "no error");
  CHECK(call_error("graph g(%x: f64[n]) -> (%0) { %0: f64[i:n-4] = copy(%x[i+4]) }", {{"n", 3}}) ==
        "shape: an axis cannot have extent n-4 = -1\n  %0: f64[i:n-4] = copy(%x[i+4])");
  CHECK(call_error("graph g(%x: f64[n]) -> (%0) { %0: f64[4] = update(%x[i]) at [i+1] }", {{"n", 4}}) ==
        "shape: indices 1 to 4 are outside axis 0 of the updated array, which has extent 4\n  %0: f64[4] = update(%x[i]) at [i+1]");
}

TEST_CASE("max and min over nothing are refused, sum and prod are not") {
  CHECK(call_error("graph g(%x: f64[n,m]) -> (%0) { %0: f64[i:n] = max(j:m) copy(%x[i,j]) }", {{"n", 2}, {"m", 0}}) ==
        "shape: max over an axis of extent 0 has no identity; m = 0\n  %0: f64[i:n] = max(j:m) copy(%x[i,j])\n"
        "  make sure that the axis has an element, or concatenate an initial value");
  CHECK(call_error("graph g(%x: f64[n,m]) -> (%0) { %0: f64[i:n] = max(j:m) copy(%x[i,j]) }", {{"n", 0}, {"m", 2}}) == "no error");
  CHECK(call_error("graph g(%x: f64[n]) -> (%0) { %0: f64[] = sum(j:n) copy(%x[j]) }", {{"n", 0}}) == "no error");
}
