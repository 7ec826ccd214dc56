#include <weft/function.h>

#include <error_text.h>
#include <weft/target_shape.h>

#include "compiled.h"

using namespace weft;

TEST_CASE("a call allocates results of the graph's dtypes and shapes") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"m"});
  const Function f = compile({x * y, sum(x, {1}), sum(x) > 0}, {x, y}, checked());
  const auto out = f({counting(f32, {5, 3}), counting(f32, {3})});
  REQUIRE(out.size() == 3);
  CHECK(out[0].dtype() == f32);
  CHECK(out[0].shape() == Dims{5, 3});
  CHECK(out[1].shape() == Dims{5});
  CHECK(out[2].dtype() == bool_);
  CHECK(out[2].shape().empty());
  CHECK(out[0].is_contiguous());
  CHECK(out[0].is_writable());
  CHECK(out[0].at<float>({1, 2}) == -6.0f * 3.0f);
  CHECK(out[1].to_vector<float>() == std::vector<float>{2, -5, 8, -11, 14});
  check_call(f, {counting(f32, {5, 3}), counting(f32, {3})});
}

TEST_CASE("inputs are given in the order of the list, whatever the order of declaration") {
  Graph g;
  const Expr a = g.input("a", f64, {}), b = g.input("b", f64, {});
  const Function f = compile({a - b}, {b, a}, checked());
  CHECK(f({Array::scalar(1.0), Array::scalar(10.0)})[0].at<double>({}) == 9.0);
}

TEST_CASE("an input that no output needs is still bound and checked") {
  Graph g;
  const Expr a = g.input("a", f64, {"n"}), unused = g.input("unused", f64, {"n"});
  const Function f = compile({a + 1}, {unused, a}, checked());
  check_call(f, {counting(f64, {4}), counting(f64, {4})});
  CHECK_THROWS_AS(f({counting(f64, {3}), counting(f64, {4})}), Error);
}

TEST_CASE("a Function does not need its graph any more") {
  Function f = [] {
    Graph g;
    const Expr x = g.input("x", f64, {"n"});
    return compile({x * g.constant(f64, {}, {3})}, {x}, checked());
  }();
  CHECK(f({Array::from<double>({1, 2})})[0].to_vector<double>() == std::vector<double>{3, 6});
  const Function copy = f;
  f = compile_text("graph g() -> (%0) { %0: f64[] = add(1:f64, 1:f64) }");
  CHECK(copy({Array::from<double>({4})})[0].to_vector<double>() == std::vector<double>{12});
}

TEST_CASE("results of earlier calls are not overwritten by later ones") {
  const Function f = compile_text("graph g(%x: f64[n]) -> (%0) { %0: f64[i:n] = multiply(2, %x[i]) }");
  std::vector<std::vector<Array>> results;
  for (int k = 0; k < 20; ++k) results.push_back(f({Array::from<double>({1.0 * k, 2.0 * k})}));
  for (int k = 0; k < 20; ++k) CHECK(results[static_cast<std::size_t>(k)][0].to_vector<double>() == std::vector<double>{2.0 * k, 4.0 * k});
}

TEST_CASE("a bound call runs again and sees what its inputs hold then") {
  const Function f = compile_text("graph g(%x: f64[n], %w: f64[]) -> (%0, %1) {\n"
                                  "%0: f64[i:n] = multiply(%x[i], %w)\n%1: f64[] = sum(i:n) multiply(%x[i], %x[i])\n}");
  Array x = Array::from<double>({1, 2, 3}), w = Array::scalar(2.0), y(f64, {3}), s(f64, {});
  const Call call = f.bind({x, w}, {y, s});
  CHECK(y.to_vector<double>() == std::vector<double>{0, 0, 0});       // binding computes nothing
  call();
  call();
  CHECK(y.to_vector<double>() == std::vector<double>{2, 4, 6});
  CHECK(s.at<double>({}) == 14);
  x.at<double>({1}) = -5;
  w.at<double>({}) = 10;
  call();
  CHECK(y.to_vector<double>() == std::vector<double>{10, -50, 30});
  CHECK(s.at<double>({}) == 35);
}

TEST_CASE("a bound call keeps its arrays and its code alive") {
  Array result(f64, {1000});
  const Call call = [&] {
    const Function f = compile_text("graph g(%x: f64[n]) -> (%0) { %0: f64[i:n] = add(1, %x[i]) }");
    Array x(f64, {1000});
    x.fill(Scalar(41.0));
    return f.bind({x}, {result});
  }();
  for (int k = 0; k < 3; ++k) call();
  CHECK(result.to_vector<double>() == std::vector<double>(1000, 42.0));
}

TEST_CASE("several bound calls of one function do not disturb each other") {
  const Function f = compile_text("graph g(%x: f64[n,m]) -> (%2) {\n%0: f64[i:m] = sum(j:n) copy(%x[j,i])\n"
                                  "%1: f64[i:m] = exp(%0[i])\n%2: f64[i:n,j:m] = multiply(%1[j], %x[i,j])\n}");
  std::vector<Array> inputs, outputs;
  std::vector<Call> calls;
  for (int k = 1; k <= 4; ++k) {
    inputs.push_back(uniform(f64, {40 * k, 9 + k}, static_cast<std::uint64_t>(k)));
    outputs.emplace_back(f64, inputs.back().shape());
    calls.push_back(f.bind({inputs.back()}, {outputs.back()}));
  }
  for (int round = 0; round < 2; ++round)
    for (const Call& call : calls) call();
  for (std::size_t k = 0; k < calls.size(); ++k) CHECK(difference(outputs[k], expected_of(f, {inputs[k]})[0], 4) == "");
}

TEST_CASE("outputs may be inputs, constants and one node twice") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Expr c = g.constant(f64, {2, 2}, {1, 2, 3, 4}), two = g.constant(Scalar(2.5f));
  const Expr y = x + 1;
  const Function f = compile({x, c, two, y, y, x, g.extent("n"), iota(g, "n")}, {x}, checked());
  const Array xa = Array::from<float>({5, 6, 7});
  const auto out = f({xa});
  check_call(f, {xa});
  CHECK(out[0].to_vector<float>() == std::vector<float>{5, 6, 7});
  CHECK(out[0].data() != xa.data());
  CHECK(out[1].to_vector<double>() == std::vector<double>{1, 2, 3, 4});
  CHECK(out[2].at<float>({}) == 2.5f);
  CHECK(out[3].to_vector<float>() == std::vector<float>{6, 7, 8});
  CHECK(out[4].to_vector<float>() == std::vector<float>{6, 7, 8});
  CHECK(out[3].data() != out[4].data());
  CHECK(out[5].to_vector<float>() == std::vector<float>{5, 6, 7});
  CHECK(out[6].at<std::int64_t>({}) == 3);
  CHECK(out[7].to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("a parsed graph compiles with its own inputs and outputs") {
  const Function f = compile_text("graph swap(%a: i32[n], %b: i32[n]) -> (%1, %0) {\n"
                                  "%0: i32[i:n] = subtract(%a[i], %b[i])\n%1: i32[i:n] = subtract(%b[i], %a[i])\n}");
  const auto out = f({Array::from<int>({5, 7}), Array::from<int>({1, 1})});
  CHECK(out[0].to_vector<int>() == std::vector<int>{-4, -6});
  CHECK(out[1].to_vector<int>() == std::vector<int>{4, 6});
}

TEST_CASE("every level of a function has a text, before and after the first call") {
  const Function f = compile_text("graph g(%x: f64[n]) -> (%0) { %0: f64[] = sum(i:n) exp(%x[i]) }");
  for (int k = 0; k < 2; ++k) {
    CHECK(f.graph().starts_with("graph g(%x: f64[n])"));
    CHECK(f.schedule().starts_with("schedule g {"));
    CHECK(f.program().starts_with("program g_0 {"));
    CHECK(f.llvm().find("define") != std::string::npos);
    CHECK(f.assembly().find("weft_g_0") != std::string::npos);
    CHECK(f.report().starts_with("function g: "));
    CHECK(f.compile_seconds() > 0);
    check_call(f, {uniform(f64, {100})}, 4);
  }
}

TEST_CASE("where calls decide how axes repeat, the final graph of a call is what its loops compute") {
  Graph g("decided");
  const Expr x = g.input("x", f32, {"n"}), s = g.input("s", i64, {1});
  const Function f = compile({broadcast(x, s) * 0.3 + 0.7}, {x, s}, checked());
  const auto target = [](Index size) { return Array::from<Index>({size}, {1}); };
  const Array three = uniform(f32, {3}), one = uniform(f32, {1});
  CHECK(to_text(f.final_graph()).find("= broadcast(%x)") != std::string::npos);
  CHECK(to_text(f.final_graph({three, target(3)})) ==
        "graph decided(%x: f32[n], %s: i64[1]) -> (%0) {\n  %0: f32[i:n] = fma(%x[i], 0.3, 0.7)\n}\n");
  CHECK(to_text(f.final_graph({one, target(5)})) ==
        "graph decided(%x: f32[1], %s: i64[1]) -> (%0) {\n  %0: f32[i:s[0]] = fma(%x[0], 0.3, 0.7)\n}\n");
  check_call(f, {uniform(f32, {100}), target(100)});
  check_call(f, {one, target(5)});
  CHECK(error_text([&] { f.final_graph({three, target(4)}); }) == error_text([&] { f({three, target(4)}); }));
  CHECK(error_text([&] { f({three, target(4)}); }).starts_with("shape: broadcast: axis 0 of %x has extent n = 3 but the target has s[0] = 4"));
}
