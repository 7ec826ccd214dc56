// The layouts chosen by choose_layouts as memory: results and arrays between nests (tests/README.md, requirements 154), and that nothing but
// addresses depends on them (tests/README.md, requirements 142, 155).
#include <weft/elemwise.h>
#include <weft/function.h>

#include "compiled.h"
#include "layouts.h"

using namespace weft;

namespace {

// A product in the broadcast shape and a sum of accumulated inputs, in one nest.
struct Mixed {
  Graph g;
  Expr x, y;
  std::vector<Expr> outputs;
  explicit Mixed(Order order) {
    x = g.input("x", f32, {"n", "n", "n"});
    y = g.input("y", f32, {"n", "n"});
    outputs = elemwise({x, y}, order, {Mode::broadcast, accumulate(sum)}, [](const std::vector<Expr>& a) {
      return std::vector<Expr>{a[0] * a[1], a[0] + a[1]};
    });
  }
  Function function() const { return compile(outputs, {x, y}, checked()); }
};

// %0 lies between nests: everything is summed before it is read again, once in each direction or as `second` and `third` say.
std::string between(const std::string& order, const std::string& second, const std::string& third) {
  return "graph between(%x: f64[n,m]) -> (%2, %3) {\n"
         "  %0: f64[i:n,j:m]" + order + " = exp(%x[i,j])\n"
         "  %1: f64[] = sum(i:n,j:m) copy(%0[i,j])\n" + second + third + "}\n";
}
const std::string along = "  %2: f64[i:n,j:m] = divide(%0[i,j], %1)\n", along_f = "  %2: f64[i:n,j:m] f = divide(%0[i,j], %1)\n";
const std::string across = "  %3: f64[i:m,j:n] = subtract(%0[j,i], %1)\n", across_f = "  %3: f64[i:m,j:n] f = subtract(%0[j,i], %1)\n";

std::string arrays_line(const Function& f) {
  const std::string text = f.schedule();
  const auto at = text.find("  arrays");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("results that weft allocates are C for order c and F for order f") {
  for (const Order order : {Order::c, Order::f}) {
    const Mixed mixed(order);
    const Function f = mixed.function();
    const auto out = f({uniform(f32, {5, 5, 5}, 1), uniform(f32, {5, 5}, 2)});
    for (const Array& result : out) {
      CHECK(result.is_contiguous(order));
      CHECK_FALSE(result.is_contiguous(order == Order::c ? Order::f : Order::c));
    }
    CHECK(f.report().find(order == Order::c ? "  layouts: results %0 c %2 c\n" : "  layouts: results %0 f %2 f\n") != std::string::npos);
  }
}

TEST_CASE("without an order f results are C, transposed readers or not") {
  const Function f = compile_text(R"(graph g(%x: f64[n,m]) -> (%0, %1, %2) {
    %0: f64[i:n,j:m] = exp(%x[i,j])
    %1: f64[i:m,j:n] = sin(%0[j,i])
    %2: f64[i:m,j:n] = cos(%0[j,i])
  })");
  for (const Array& result : f({uniform(f64, {4, 7})})) CHECK(result.is_contiguous(Order::c));
}

TEST_CASE("a result that overlaps an argument is computed in its own layout and copied") {
  const Mixed mixed(Order::f);
  const Function f = mixed.function();
  const Array memory = uniform(f32, {6, 6, 6}, 3), y = uniform(f32, {5, 5}, 2), sums(f32, {5, 5});
  const auto window = [&](Index start) { return memory.slice(0, start, 5).slice(1, start, 5).slice(2, start, 5); };
  const auto expected = expected_of(f, {window(0).copy(), y});
  f.run({window(0), y}, {window(1), sums});
  CHECK(difference(window(1), expected[0]) == "");
  CHECK(difference(sums, expected[1]) == "");
}

TEST_CASE("an array between nests is stored as its readers run") {
  CHECK(arrays_line(compile_text(between("", along, across))) == "  arrays %0 %2");
  CHECK(arrays_line(compile_text(between(" f", along, across))) == "  arrays %0 %2");
  CHECK(arrays_line(compile_text(between("", along_f, across))) == "  arrays %0 f %2");
  CHECK(arrays_line(compile_text(between("", along_f, across_f))) == "  arrays %0 %2");
  CHECK(compile_text(between("", along_f, across)).report().find(" arrays between nests %0 f\n") != std::string::npos);
}

TEST_CASE("arrays between nests hold the same bits in both layouts") {
  const Dims shapes[] = {{5, 37}, {40, 3}, {1, 20}, {20, 1}, {0, 3}, {3, 0}, {1, 1}};
  for (const std::string& order : {std::string(), std::string(" f")})
    for (const std::string& second : {along, along_f})
      for (const std::string& third : {across, across_f}) {
        const Function f = compile_text(between(order, second, third)), fresh = compile_text(between("", along, across));
        for (const Dims& shape : shapes) {
          CAPTURE(to_text(shape));
          const Array x = uniform(f64, shape, 7);
          const auto got = f({x}), expected = fresh({x});
          for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
        }
      }
}

TEST_CASE("three axes between nests: sliced, reversed and transposed readers of an F array") {
  const Function f = compile_text(R"(graph g(%x: f32[n,m,k]) -> (%2, %3, %4) {
    %0: f32[i:n,j:m,l:k] = multiply(%x[i,j,l], %x[i,j,l])
    %1: f32[i:m] f = max(j:n,l:k) copy(%0[j,i,l])
    %2: f32[i:n,j:m,l:k] f = subtract(%0[-1+n-i,-1+m-j,l], %1[j])
    %3: f32[i:k,j:m,l:n] = add(%0[l,j,i], %1[j])
    %4: f32[i:m,j:k] f = add(%0[0,i,j], %1[i])
  })", 2);
  CHECK(arrays_line(f).find("%0 f") != std::string::npos);
  for (const Dims& shape : {Dims{4, 5, 6}, Dims{2, 33, 17}, Dims{33, 2, 1}}) check_call(f, {uniform(f32, shape, 3)});
}

TEST_CASE("an order c and an order f elemwise give the same bits for every layout of inputs and outputs") {
  for (const Order order : {Order::c, Order::f}) {
    const Function f = Mixed(order).function();
    const Dims full{9, 9, 9}, part{9, 9};
    const Array x = uniform(f32, full, 1), y = uniform(f32, part, 2);
    const auto expected = expected_of(f, {x, y});
    const auto check = [&](const Array& xa, const Array& ya, const Array& wide, const Array& narrow) {
      f.run({xa, ya}, {wide, narrow});
      CHECK(difference(wide, expected[0]) == "");
      CHECK(difference(narrow, expected[1]) == "");
    };
    const std::size_t count = layouts(f32, part).size();
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b) {
        CAPTURE(layouts(f32, full)[a].first);
        CAPTURE(layouts(f32, full)[b].first);
        const Array xa = filled_like(x, layouts(f32, full)[a].second), ya = filled_like(y, layouts(f32, part)[b].second);
        check(xa, ya, Array(f32, full), Array(f32, part, Order::f));
        check(x, y, layouts(f32, full)[a].second, layouts(f32, part)[b].second);
        check(xa, y, layouts(f32, full)[b].second, layouts(f32, part)[a].second);
      }
  }
}
