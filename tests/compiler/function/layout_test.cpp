// Arrays of any strides, given as inputs and as outputs; when a new variant is compiled and when not.
#include <weft/function.h>

#include "compiled.h"
#include "error_text.h"
#include "layouts.h"

using namespace weft;

namespace {

// A row fold, a column fold and an elementwise result of the same operands.
constexpr const char* three = R"(graph three(%x: f32[n,m], %y: f32[n,m]) -> (%0, %1, %2) {
  %0: f32[i:n,j:m] = subtract(%x[i,j], %y[i,j])
  %1: f32[i:n] = sum(j:m) multiply(%0[i,j], %x[i,j])
  %2: f32[i:m] = max(j:n) add(%x[j,i], %y[j,i])
})";

Function three_of(DType dtype) {
  std::string text = three;
  const std::string name = to_text(dtype);
  for (std::size_t at = 0; (at = text.find("f32", at)) != std::string::npos; at += name.size()) text.replace(at, 3, name);
  return compile_text(text);
}
constexpr DType sizes_of_elements[] = {f32, f16, bf16, i8, f64};

// visit(f, x, y, what f gives) for each size of elements, of a wide and a tall shape.
template <class Visit> void for_each_call(const Visit& visit) {
  for (const DType dtype : sizes_of_elements) {
    CAPTURE(std::string(to_text(dtype)));
    const Function f = three_of(dtype);
    for (const Dims& shape : {Dims{5, 37}, Dims{40, 3}}) {
      const Array x = uniform(dtype, shape, 1), y = uniform(dtype, shape, 2);
      visit(f, x, y, expected_of(f, {x, y}));
    }
  }
}

}  // namespace

TEST_CASE("outputs in any given layout hold the same bits") {
  for_each_call([](const Function& f, const Array& x, const Array& y, const std::vector<Array>& expected) {
    for (const auto& [name, full] : layouts(x.dtype(), x.shape()))
      for (const auto& [row_name, rows] : layouts(x.dtype(), {x.shape()[0]})) {
        CAPTURE(name);
        CAPTURE(row_name);
        Array columns(x.dtype(), {x.shape()[1]});
        f.run({x, y}, {full, rows, columns});
        CHECK(difference(full, expected[0]) == "");
        CHECK(difference(rows, expected[1]) == "");
        CHECK(difference(columns, expected[2]) == "");
      }
  });
}

TEST_CASE("inputs in any layout give the same bits") {
  for_each_call([](const Function& f, const Array& x, const Array& y, const std::vector<Array>& expected) {
    for (const auto& [x_name, x_view] : layouts(x.dtype(), x.shape()))
      for (const auto& [y_name, y_view] : layouts(x.dtype(), x.shape())) {
        CAPTURE(x_name);
        CAPTURE(y_name);
        const auto out = f({filled_like(x, x_view), filled_like(y, y_view)});
        for (std::size_t k = 0; k < out.size(); ++k) CHECK(difference(out[k], expected[k]) == "");
      }
  });
}

TEST_CASE("elements between those of a strided output are left alone") {
  const Function f = compile_text(three);
  const Index n = 6, m = 21;
  Array memory(f32, {2 * n + 1, 3 * m + 1});
  memory.fill(Scalar(-99.0f));
  const Array x = uniform(f32, {n, m}, 1), y = uniform(f32, {n, m}, 2);
  f.run({x, y}, {memory.slice(0, 1, n, 2).slice(1, 1, m, 3), Array(f32, {n}), Array(f32, {m})});
  for (Index i = 0; i < 2 * n + 1; ++i)
    for (Index j = 0; j < 3 * m + 1; ++j)
      if (i % 2 != 1 || j % 3 != 1) CHECK(memory.at<float>({i, j}) == -99.0f);
}

TEST_CASE("an output without elements may have any strides") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compile({x + 1}, {x}, {.threads = 1});
  const Array memory(f32, {64});
  for (const auto& [shape, strides] : {std::pair<Dims, Dims>{{0, 4}, {1, 0}}, {{4, 0}, {0, 1}}, {{0, 4}, {0, 0}}, {{0, 0}, {0, 7}}, {{1, 4}, {0, 1}}, {{4, 1}, {1, 0}}})
    CHECK_NOTHROW(f.run({Array(f32, shape)}, {Array::borrow(View(memory.View::data(), f32, shape, strides), memory.owner())}));
}

TEST_CASE("inputs may repeat elements with stride 0 and be read-only") {
  const Function f = compile_text(three);
  const Array row = uniform(f32, {33}, 1), column = uniform(f32, {9, 1}, 2), one = uniform(f32, {1, 1}, 3);
  const Array x = row.broadcast_to({9, 33}), y = column.broadcast_to({9, 33}), z = one.broadcast_to({9, 33});
  check_call(f, {x, y});
  check_call(f, {y, x});
  check_call(f, {z, z});
  check_call(f, {x.copy().read_only(), z});
}

TEST_CASE("overlapping inputs are only read") {
  const Function f = compile_text("graph g(%x: f64[n], %y: f64[n]) -> (%0) { %0: f64[i:n] = subtract(%x[i], %y[i]) }");
  const Array memory = counting(f64, {100});
  check_call(f, {memory.slice(0, 0, 90), memory.slice(0, 7, 90)});
  check_call(f, {memory, memory.flip(0)});
}

TEST_CASE("a thin axis of a large array compiles once") {
  const Function f = compile_text(three);
  f({uniform(f32, {20, 30}), uniform(f32, {20, 30})});
  const double before = f.compile_seconds();
  check_call(f, {uniform(f32, {3000, 4}, 1), uniform(f32, {3000, 4}, 2)});
  const double seconds = f.compile_seconds();
  CHECK(seconds > before);
  for (const Dims& shape : {Dims{5000, 4}, Dims{20, 30}, Dims{3000, 4}}) {
    check_call(f, {uniform(f32, shape, 1), uniform(f32, shape, 2)});
    CHECK(f.compile_seconds() == seconds);
  }
}

TEST_CASE("a new size of a short call compiles nothing, but once if the code relies on the first one") {
  const Function f = compile_text(three);
  f({uniform(f32, {20, 30}), uniform(f32, {20, 30})});
  double seconds = f.compile_seconds();
  const auto compiles_nothing_for = [&](const std::vector<Dims>& shapes) {
    for (const Dims& shape : shapes) {
      check_call(f, {uniform(f32, shape, 1), uniform(f32, shape, 2)});
      CHECK(f.compile_seconds() == seconds);
    }
  };
  compiles_nothing_for({{2, 2}, {70, 4}, {25, 40}, {20, 30}});
  check_call(f, {uniform(f32, {20, 1100}, 1), uniform(f32, {20, 1100}, 2)});    // folds of more than a leaf
  seconds = f.compile_seconds();
  compiles_nothing_for({{2, 2}, {18, 1500}, {32, 64}, {20, 1201}, {20, 30}});
  const std::vector<Dims> longer{{700, 4}, {1000, 100}, {40, 3000}, {50, 2000}, {128, 64}, {40, 3001}};
  for (const Dims& shape : longer) check_call(f, {uniform(f32, shape, 1), uniform(f32, shape, 2)});
  seconds = f.compile_seconds();
  compiles_nothing_for(longer);
}

TEST_CASE("each combination of stride classes compiles once, at its first call") {
  const Function f = compile_text(three);
  const Dims shape{6, 18};
  const Array x = uniform(f32, shape, 1), y = uniform(f32, shape, 2);
  double seconds = f.compile_seconds();
  auto call = [&](const Array& a, const Array& b) {
    f({a, b});
    const bool compiled = f.compile_seconds() > seconds;
    seconds = f.compile_seconds();
    return compiled;
  };
  CHECK(call(x, y));
  CHECK_FALSE(call(y, x));
  CHECK(call(x.flip(1), y));
  CHECK(call(x, y.flip(1)));
  CHECK_FALSE(call(y.flip(1), x));
  CHECK(call(x.copy(Order::f), y));
  CHECK(call(x.slice(1, 0, 1).broadcast_to(shape), y));
  CHECK_FALSE(call(y.slice(1, 3, 1).broadcast_to(shape), x));
  // Rows with a gap are another class than rows without, however long the gap.
  CHECK(call(x, uniform(f32, {6, 40}).slice(1, 2, 18)));
  CHECK_FALSE(call(x, uniform(f32, {6, 30}).slice(1, 5, 18)));
  CHECK_FALSE(call(y, uniform(f32, {20, 40}).slice(0, 3, 6).slice(1, 0, 18)));
}

TEST_CASE("outputs are part of the key too") {
  const Function f = compile_text(three);
  const Array x = uniform(f32, {6, 18}, 1), y = uniform(f32, {6, 18}, 2), rows(f32, {6}), columns(f32, {18});
  f.run({x, y}, {Array(f32, {6, 18}), rows, columns});
  double seconds = f.compile_seconds();
  f.run({x, y}, {Array(f32, {6, 18}, Order::f), rows, columns});
  CHECK(f.compile_seconds() > seconds);
  seconds = f.compile_seconds();
  f.run({x, y}, {Array(f32, {6, 18}, Order::f), rows, columns});
  CHECK(f.compile_seconds() == seconds);
}

// Loops are chosen for the sizes of the call that compiles: extents of 1 and 0 must not leave assumptions behind.
TEST_CASE("whatever the sizes of the first call, later sizes are right") {
  const Dims shapes[] = {{4, 5, 6}, {1, 1, 1}, {4, 1, 6}, {1, 5, 6}, {4, 5, 1}, {0, 5, 6}, {4, 0, 6}, {4, 5, 0}, {20, 30, 2}};
  for (const Dims& first : shapes) {
    const Function f = compile_text(R"(graph later(%x: f32[a,b,c], %y: f32[b,c]) -> (%0, %1, %2, %3) {
      %0: f32[i:a,j:b,k:c] = multiply(%x[i,j,k], %y[j,k])
      %1: f32[i:c,j:b,k:a] = negative(%x[k,j,i])
      %2: f32[i:a,j:b] = sum(k:c) copy(%0[i,j,k])
      %3: f32[i:b,j:c] = sum(k:a) copy(%x[k,i,j])
    })");
    for (const Order order : {Order::c, Order::f}) {
      auto call = [&](const Dims& shape) {
        CAPTURE(to_text(first));
        CAPTURE(to_text(shape));
        CAPTURE(std::string(to_text(order)));
        const Array x = uniform(f32, shape, 1).copy(order), y = uniform(f32, {shape[1], shape[2]}, 2).copy(order);
        check_call(f, {x, y});
        const auto expected = expected_of(f, {x, y});
        std::vector<Array> outputs;
        for (const Array& result : expected) outputs.emplace_back(f32, result.shape(), order);
        f.run({x, y}, outputs);
        for (std::size_t k = 0; k < outputs.size(); ++k) CHECK(difference(outputs[k], expected[k]) == "");
      };
      call(first);
      for (const Dims& shape : shapes) call(shape);
    }
  }
}

TEST_CASE("first parts of axes, read beside the whole and across, in every layout") {
  const Function f = compile_text(R"(graph parts(%x: f32[n,m]) -> (%0, %2, %4, %5) {
  %0: f32[i:n-1,j:m] = subtract(%x[i+1,j], %x[i+0,j])
  %1: f32[i:n,j:m] = multiply(%x[i,j], 3)
  %2: f32[i:n,j:m-1] = add(%1[i,j+0], %x[i,j+1])
  %3: f32[i:n] = sum(j:m) copy(%1[i,j])
  %4: f32[i:n-1] = add(%3[i+0], %3[i+1])
  %5: f32[i:m-1] = max(j:n-1) copy(%1[j+0,i+0])
})");
  for (const Dims& shape : {Dims{5, 37}, Dims{40, 3}, Dims{2, 2}, Dims{2, 1}, Dims{3, 65}}) {
    const Array x = uniform(f32, shape, 1);
    for (const auto& [name, view] : layouts(f32, shape)) {
      CAPTURE(name);
      CAPTURE(to_text(shape));
      check_call(f, {filled_like(x, view)});
    }
  }
}

TEST_CASE("a result of order f is one, beside an equal one of order c") {
  const Function f = compile_text(R"(graph both(%x: f32[n,m]) -> (%0, %1) {
  %0: f32[i:n,j:m] = exp(%x[i,j])
  %1: f32[i:n,j:m] f = exp(%x[i,j])
})");
  const std::vector<Array> out = f({Array(f32, {2, 3})});
  CHECK(out[0].strides() == Dims{3, 1});
  CHECK(out[1].strides() == Dims{1, 2});
}

TEST_CASE("loops that nest deeper than there are places for them") {
  Graph g;
  const Expr x = g.input("x", f32, Shape(50, Extent(2)));
  const Function f = compile({exp(x)}, {x});
  CHECK(error_text([&] { f.program(); }) == "unsupported: %0 runs over 50 axes, and loops nest at most 48 deep\n  " + line_of(f.final_graph(), f.final_graph().outputs[0]) +
                                               "\n  reshape axes that stay together into one");
}
