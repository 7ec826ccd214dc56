// Graphs that once failed, as small as they got (most were found by tests/property). Each is run on small whole numbers,
// in order c and in a strided layout, and compared with the interpreter on the graph as written.
#include <doctest/doctest.h>

#include <weft/weft.h>

#include "bits.h"
#include "error_text.h"
#include "random_data.h"

using namespace weft;

namespace {

struct Regression {
  const char* what;
  const char* text;
  Bindings sizes = {}, later = {};      // of the first call, and of another one of the same function
};

const Regression regressions[] = {
    {"a fold over an axis of extent 1", "graph a(%x: f64[1]) -> (%0) { %0: f64[] = sum(i:1) square(%x[i])\n }"},
    {"a fold over several axes, one of extent 1", "graph a(%x: i64[1,64,64]) -> (%0) { %0: i64[] = sum(i:1,j:64,k:64) floor(%x[i,j,k])\n }"},
    {"a fold over an axis of extent 1 and its reader", "graph a(%x: u8[1], %y: u8[], %z: bool[]) -> (%1) {\n %0: bool[] = any(i:1) equal(%y, %x[i])\n %1: bool[] = logical_or(%0, %z)\n }"},
    {"a fold over an axis of extent 1, another one kept", "graph a(%x: f64[2,1] f) -> (%0) { %0: f64[i:1,j:2] f = min(k:1) minimum(%x[j,k], %x[j,i])\n }"},
    {"the outer product of a value with itself", "graph a(%x: f32[6]) -> (%1) {\n %0: u8[i:6] = cast(%x[i])\n %1: u8[i:6,j:6] = add(%0[i], %0[j])\n }"},
    {"two values of one loop along two axes",
     "graph a(%x: i64[2], %y: i64[2]) -> (%2) {\n %0: i64[i:2] = add(%x[i], %y[i])\n %1: i64[i:2] = multiply(%x[i], %0[i])\n %2: i64[i:2,j:2] f = subtract(%0[i], %1[j])\n }"},
    {"a folded outer product of a value with itself",
     "graph a(%x: f64[5]) -> (%2) {\n %0: f64[i:5] = add(%x[i], %x[i])\n %1: f64[i:5] = multiply(%x[i], %0[i])\n %2: f64[i:5] = sum(j:5) multiply(%0[j], %1[i])\n }"},
    {"rows of one value compared with each other, folded twice",
     "graph a(%x: i64[3,6,3]) -> (%1) {\n %0: i64[5,8,7] = update(%x[i,j,k]) at [2-i,j+1,2*k+2]\n %1: i64[i:5,j:7] = sum(k:8,l:8) maximum(%0[i,k,j], %0[i,l,j])\n }"},
    {"a row's fold read along another axis",
     "graph a(%x: i32[26,13], %y: i32[26,13]) -> (%4) {\n %0: i32[i:26,j:1] = min(k:13) copy(%x[i,k])\n %1: bool[i:26,j:13] = equal(%x[i,j], %0[i,0])\n"
     " %2: i64[i:26] = sum(j:13) cast(%y[i,j])\n %3: i64[i:26,j:13] = cast(%1[i,j])\n %4: i64[i:26,j:13] = sum(k:26) multiply(%3[i,j], %2[k])\n }"},
    {"an update of a constant", "graph a() -> (%1) {\n %0: bool[] = logical_and(true, true)\n %1: bool[] = update(%0) at []\n }"},
    {"an update of an iota", "graph a() -> (%1) {\n %0: i64[i:11] = iota(i)\n %1: i64[11,13] = update(%0[i]) at [10,i+1]\n }"},
    {"an update of a broadcast iota without elements",
     "graph a(%x: f32[n,p]) -> (%1) {\n %0: i64[i:p,j:p,k:p] = iota(i)\n %1: i64[1,4,3] = update(%0[i,j,k]) at [-1-i,2*k+2,j+1]\n }", {{"n", 2}, {"p", 0}}},
    {"a product that alone has the folded axis", "graph a(%x: f32[]) -> (%1) {\n %0: f32[i:2047] f = square(%x)\n %1: f32[] = sum(i:2047) add(%0[i], %x)\n }"},
    {"an array between loop nests compiled for an axis of extent 1 and used for a longer one",
     "graph a(%x: i32[3,3,3,3,3] f, %y: i32[m,m,3,m,3] f) -> (%3) {\n %0: i32[i:3,j:(m)/2,k:3,l:3] f = max(p:3,q:3,r:m) bitwise_xor(%x[p,q,l,i,k], %y[j+1,r,2-l,m-1,p])\n"
     " %1: i32[i:3,j:(m)/2,k:2] f = copy(%0[i,j,1,2-k])\n %2: i32[i:2,j:3,k:(m)/2] f = bitwise_left_shift(%1[j,k,i], %1[j,(m)/2-1-k,i])\n"
     " %3: i32[i:2] = sum(j:3,k:(m)/2) negative(%2[i,j,k])\n }", {{"m", 2}}, {{"m", 16}}},
    {"an axis merged into one of extent 1", "graph a(%x: f32[4,4,n]) -> (%0) { %0: f32[i:4,j:n,k:4] f = negative(%x[k,i,j])\n }", {{"n", 1}}},
    {"an axis read at its last element beside one of extent 1", "graph a(%x: i32[m,n,m]) -> (%0) { %0: i32[i:m,j:n] f = abs(%x[i,j,m-4])\n }", {{"m", 5}, {"n", 1}}},
    {"rows of f16 states, which are filled before the elements come",
     "graph a(%x: f16[40,11,5]) -> (%0, %1) {\n define quarter(0:f16) {\n graph step(%s0: f16[], %x0: f16[]) -> (%1, %1) {\n %0: f16[] = multiply(%s0, 0.25)\n"
     " %1: f16[] = add(%0, %x0)\n }\n graph finish(%s0: f16[]) -> (%s0) {\n }\n }\n %0: f16[i:40] = fold(j:11,k:5) quarter(%x[i,j,k])\n"
     " %1: f16[i:40,j:5] f = fold(k:11) quarter(%x[i,k,j])\n }"},
    {"rows of bf16 states, which are filled before the elements come",
     "graph a(%x: bf16[40,11,5]) -> (%0, %1) {\n define quarter(0:bf16) {\n graph step(%s0: bf16[], %x0: bf16[]) -> (%1, %1) {\n %0: bf16[] = multiply(%s0, 0.25)\n"
     " %1: bf16[] = add(%0, %x0)\n }\n graph finish(%s0: bf16[]) -> (%s0) {\n }\n }\n %0: bf16[i:40] = fold(j:11,k:5) quarter(%x[i,j,k])\n"
     " %1: bf16[i:40,j:5] f = fold(k:11) quarter(%x[i,k,j])\n }"},
    {"one element of a row that a few elements of a fold share",
     "graph a(%x: i32[5,3,2], %y: i32[]) -> (%0, %2) {\n %0: bool[i:5] = all(j:2,k:3) equal(%y, %x[i,k,j])\n %1: i64[i:5,j:3,k:2] = cast(%x[i,j,k])\n %2: i64[i:5,j:3] = copy(%1[i,j,1])\n }"},
    {"a value read by steps along an axis that could merge with its neighbour",
     "graph a(%x: i32[2,5,10,1], %y: i32[], %z: i32[2,5,10,1]) -> (%1) {\n %0: i32[i:2,j:5,k:10,l:1] = add(%x[i,j,k,l], %y)\n"
     " %1: i32[i:2,j:10,k:1,l:5] = max(p:2,q:5) fma(%0[p,3*i,j,k], %x[p,l,j,k], %z[p,q,j,k])\n }"},
    {"products of others of what takes the results of a thin fold",
     "graph a(%x: f32[n]) -> (%3) {\n %0: i64[i:n,j:32] = iota(i)\n %1: i64[i:n,j:32] = max(k:4) add(%0[i,3*k+14], %0[i,j])\n %2: f64[i:n,j:32] = cast(%1[i,j])\n"
     " %3: f64[i:n,j:32] = others(j) prod(%2[i,j])\n }", {{"n", 5}}},
    {"products of others whose readers take one of a row",
     "graph a(%x: f32[3,3,3] f, %y: f32[3]) -> (%1) {\n %0: f32[i:3,j:3,k:3] = others(j) prod(%x[i,j,k])\n %1: f32[i:3,j:1,k:3] f = subtract(%0[i,-j,k], %y[2-i])\n }"},
};

void check_equal(const View& got, const View& expected) {
  REQUIRE(got.shape() == expected.shape());
  for_each_element(got.shape(), [&](const Dims& index) {
    CAPTURE(weft::to_text(index));
    CHECK(to_text(got.get(index)) == to_text(expected.get(index)));
  });
}

}  // namespace

TEST_CASE("graphs that once failed run like the interpreter") {
  for (const Regression& r : regressions) {
    CAPTURE(std::string(r.what));
    const Graph graph = parse(r.text);
    const Function f = compile(graph, {.threads = 2, .executor = nullptr, .verify = true, .trace = ""});
    for (const Bindings& sizes : {r.sizes, r.later.empty() ? r.sizes : r.later}) {
      SeededSource random(1);
      std::vector<Array> inputs, strided;
      for (NodeId id : graph.inputs) {
        inputs.push_back(random_array(random, graph.node(id).dtype, evaluate(graph.node(id).shape(), sizes), Data::small));
        strided.push_back(in_other_layout(random, inputs.back()));
      }
      const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, inputs), plain = f(inputs), other = f(strided);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        check_equal(plain[k], expected[k]);
        check_equal(other[k], expected[k]);
      }
    }
  }
}

// The variant is chosen by strides: those of an axis with one or no element say nothing about it.
TEST_CASE("axes that have one element or none in one call and several in the next") {
  const Graph graph = parse("graph a(%x: f32[4,m,n]) -> (%0, %1) {\n %0: f32[i:m,j:n,k:4] f = negative(%x[k,i,j])\n %1: f32[i:4,j:m] = sum(k:n) copy(%x[i,j,k])\n }");
  const std::vector<std::pair<Index, Index>> sizes{{1, 1}, {0, 3}, {3, 0}, {4, 1}, {1, 4}, {5, 7}, {1, 1}, {17, 1}};
  for (std::size_t first = 0; first < sizes.size(); ++first) {
    const Function f = compile(graph, {.threads = 2, .executor = nullptr, .verify = true, .trace = ""});
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const auto [m, n] = sizes[(first + k) % sizes.size()];
      CAPTURE(m);
      CAPTURE(n);
      SeededSource random(k);
      const Array x = random_array(random, f32, {4, m, n}, Data::small);
      const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, {x}), got = f({x}), other = f({in_other_layout(random, x)});
      for (std::size_t output = 0; output < expected.size(); ++output) {
        check_equal(got[output], expected[output]);
        check_equal(other[output], expected[output]);
      }
    }
  }
}

TEST_CASE("a window larger than what it is written into is refused, by the interpreter and by compiled code") {
  const Graph graph = parse("graph a(%x: i64[m]) -> (%1) {\n %0: i64[2] = update(%x[i]) at [i]\n %1: i64[i:2] = copy(%0[i])\n }");
  const Function f = compile(graph, {.threads = 2, .executor = nullptr, .verify = true, .trace = ""});
  CHECK(f({Array::from<std::int64_t>({7})})[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{7, 0});
  const std::string expected = "shape: indices 0 to 2 are outside axis 0 of the updated array, which has extent 2\n  %0: i64[2] = update(%x[i]) at [i]";
  const Array large = Array::from<std::int64_t>({1, 2, 3});
  CHECK(error_text([&] { interpret(graph, graph.outputs, graph.inputs, {large}); }) == expected);
  CHECK(error_text([&] { f({large}); }) == expected);
}

TEST_CASE("a fold over nothing is not an empty window: where it is put is checked") {
  const Function f = compile(parse("graph g(%x: bool[n,p]) -> (%1) {\n%0: bool[i:n] = all(j:p) copy(%x[i,j])\n%1: bool[p,2*n] = update(%0[i]) at [p-1,2*i+1]\n}"),
                             {.threads = 2, .executor = nullptr, .verify = true, .trace = ""});
  CHECK(f({Array(bool_, {1, 2})})[0].to_vector<bool>() == std::vector<bool>{false, false, false, false});
  const std::string expected = "shape: index -1 is outside axis 0 of the updated array, which has extent p = 0\n";
  const Graph& graph = f.final_graph();
  CHECK(error_text([&] { f({Array(bool_, {5, 0})}); }).find(expected) == 0);
  CHECK(error_text([&] { interpret(graph, graph.outputs, graph.inputs, {Array(bool_, {5, 0})}); }).find(expected) == 0);
  CHECK(f({Array(bool_, {0, 0})})[0].size() == 0);
}

TEST_CASE("products of others that several rows of an array take are not written to one of them in place") {
  for (const char* text : {"graph g(%x: f32[20]) -> (%1) {\n%0: f32[i:20] = others(i) prod(%x[i])\n%1: f32[i:2,j:20] = copy(%0[j])\n}",
                           "graph g(%x: f32[3,20]) -> (%1) {\n%0: f32[i:3,j:20] = others(j) prod(%x[i,j])\n%1: f32[i:3,j:5,k:20] = copy(%0[i,k])\n}"}) {
    const Graph graph = parse(text);
    const Function f = compile(graph, {.threads = 1, .executor = nullptr, .verify = true, .trace = ""});
    Array x(f32, graph.node(graph.inputs[0]).domain.size() == 1 ? Dims{20} : Dims{3, 20});
    for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] = static_cast<float>(k % 3 + 1);
    check_equal(f({x})[0], interpret(graph, graph.outputs, graph.inputs, {x})[0]);
  }
}

TEST_CASE("a vector loop over a whole slice keeps nothing in rows of one unit") {
  const Graph graph = parse("graph g(%x: f64[5,n]) -> (%1) {\n%0: f64[i:5,j:n] = others(i) prod(%x[i,j])\n%1: f64[i:n] = copy(%0[1,i])\n}");
  const Function f = compile(graph, {.threads = 1, .executor = nullptr, .verify = true, .trace = ""});
  for (const Index n : {100, 2049, 300000}) {            // the last far past the memory of a unit
    Array x(f64, {5, n});
    for (Index k = 0; k < x.size(); ++k) x.data<double>()[k] = static_cast<double>(k % 7 - 3);
    check_equal(f({x})[0], interpret(graph, graph.outputs, graph.inputs, {x})[0]);
  }
}

TEST_CASE("windows are not loaded in loops that run backwards, where a scan's gradient reads them") {
  const std::string text = R"(graph g(%x: f64[n]) -> (%6, %9) {
%0: f64[n+1,n] = update(%x[i]) at [i+1,n-1]
%1: f64[i:n-1,j:n] = cos(%0[3*i+n,j])
%2: f64[i:n] f = sum(j:n-1) square(%1[j,i])
%3: f64[i:n+1,j:n] = scan(j) sum(%0[i,j])
%4: f64[i:n] = sin(%2[i])
%5: f64[i:n] = multiply(0.9, %4[i])
%6: f64[] f = infimum(i:n) asin(%5[i])
%7: f64[i:n+1,j:n] = sin(%3[i,j])
%8: f64[i:n+1,j:n] = multiply(0.9, %7[i,j])
%9: f64[i:n+1,j:n] f = asin(%8[i,j])
})";
  for (const Index n : {1, 2}) {                         // %0 is read by rows n, n+3, ..: there are none of more
    Graph graph = parse(text);
    const Expr x(graph, graph.inputs[0]), first(graph, graph.outputs[0]), second(graph, graph.outputs[1]);
    const Function f = compile({first, second, grad(sum(first) + sum(second), {x})[0]}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uniform(f64, {n}, 3)});
  }
}
