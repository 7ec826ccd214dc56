// Results that share memory with arguments or with each other: as if every input had been read first.
#include <weft/function.h>

#include "compiled.h"

using namespace weft;

namespace {

// A neighbour on each side, so that reading late shows.
Function neighbours(DType dtype = f64) {
  Graph g;
  const Expr x = g.input("x", dtype, {"n"});
  return compile({x + flip(x), x - flip(x), sum(x)}, {x}, checked());
}

// Runs f on views of one block of memory and compares with the interpreter on copies made before.
void check_overlap(const Function& f, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  std::vector<Array> copies;
  for (const Array& input : inputs) copies.push_back(input.copy());
  const auto expected = expected_of(f, copies);
  f.run(inputs, outputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    CAPTURE(k);
    CHECK(difference(outputs[k], expected[k]) == "");
  }
}

}  // namespace

TEST_CASE("an output may be the input itself") {
  const Function f = neighbours();
  for (Index n : {1, 2, 17, 100, 5000}) {
    CAPTURE(n);
    const Array x = counting(f64, {n});
    check_overlap(f, {x}, {x, Array(f64, {n}), Array(f64, {})});
    const Array y = counting(f64, {n});
    check_overlap(f, {y}, {Array(f64, {n}), y, Array(f64, {})});
  }
}

TEST_CASE("an f16 or bf16 output may be the input itself, or overlap it") {
  for (const DType dtype : {f16, bf16}) {
    const Function f = neighbours(dtype);
    const Function twice = compile_text(concat("graph g(%x: ", dtype, "[n]) -> (%0) { %0: ", dtype, "[i:n] = add(%x[i], %x[i]) }"));
    for (Index n : {1, 17, 5000}) {
      CAPTURE(n);
      const Array x = uniform(dtype, {n}), y = uniform(dtype, {n}), z = uniform(dtype, {n + 3});
      check_overlap(f, {x}, {x, Array(dtype, {n}), Array(dtype, {})});
      check_overlap(twice, {y}, {y});
      check_overlap(twice, {z.slice(0, 0, n)}, {z.slice(0, 3, n)});
    }
  }
}

TEST_CASE("outputs may overlap an input in part, from either side and backwards") {
  const Function f = neighbours();
  for (Index n : {16, 33, 2000})
    for (Index shift : {1, 7}) {
      CAPTURE(n);
      CAPTURE(shift);
      Array memory = counting(f64, {n + 2 * shift});
      const Array other(f64, {n}), total(f64, {});
      check_overlap(f, {memory.slice(0, shift, n)}, {memory.slice(0, 0, n), other, total});
      check_overlap(f, {memory.slice(0, shift, n)}, {memory.slice(0, 2 * shift, n), other, total});
      check_overlap(f, {memory.slice(0, shift, n)}, {memory.slice(0, 0, n).flip(0), other, total});
      check_overlap(f, {memory.slice(0, shift, n).flip(0)}, {memory.slice(0, shift, n), other, total});
      check_overlap(f, {memory.slice(0, 0, n / 2, 2)}, {memory.slice(0, 0, n / 2), other.slice(0, 0, n / 2), total});
    }
}

TEST_CASE("a folded result may lie inside the array that is folded") {
  const Function f = neighbours();
  Array memory = counting(f64, {50});
  const Array inside = memory.slice(0, 20, 1).reshape_view({});
  check_overlap(f, {memory}, {Array(f64, {50}), Array(f64, {50}), inside});
}

TEST_CASE("a matrix may be transposed in place") {
  const Function f = compile_text("graph t(%x: f32[n,n]) -> (%0) { %0: f32[i:n,j:n] = copy(%x[j,i]) }");
  for (Index n : {1, 2, 16, 45}) {
    Array x = counting(f32, {n, n});
    check_overlap(f, {x}, {x});
  }
}

TEST_CASE("outputs that interlock without sharing an element are written directly") {
  const Function f = neighbours();
  Array memory(f64, {200}), x = counting(f64, {100}), total(f64, {});
  const Call call = f.bind({x}, {memory.slice(0, 0, 100, 2), memory.slice(0, 1, 100, 2), total});
  const Call apart = f.bind({x}, {Array(f64, {200}).slice(0, 0, 100, 2), Array(f64, {200}).slice(0, 1, 100, 2), total});
  CHECK(call.temporary_bytes() == apart.temporary_bytes());
  check_overlap(f, {x}, {memory.slice(0, 0, 100, 2), memory.slice(0, 1, 100, 2), total});
}

TEST_CASE("where outputs overlap each other the last one is seen") {
  const Function f = neighbours();
  const Array x = counting(f64, {40});
  const auto expected = expected_of(f, {x});
  Array memory(f64, {60});
  f.run({x}, {memory.slice(0, 0, 40), memory.slice(0, 20, 40), Array(f64, {})});
  CHECK(difference(memory.slice(0, 0, 20), expected[0].slice(0, 0, 20)) == "");
  CHECK(difference(memory.slice(0, 20, 40), expected[1]) == "");
  Array same(f64, {40});
  f.run({x}, {same, same, Array(f64, {})});
  CHECK(difference(same, expected[1]) == "");
}

TEST_CASE("the last output is seen too where the first one overlaps an input") {
  const Function f = neighbours();
  Array memory(f64, {60});
  const Array x = memory.slice(0, 0, 10);
  copy_elements(counting(f64, {10}), x);
  const auto expected = expected_of(f, {x.copy()});
  f.run({x}, {memory.slice(0, 5, 10), memory.slice(0, 12, 10), Array(f64, {})});
  CHECK(difference(memory.slice(0, 5, 7), expected[0].slice(0, 0, 7)) == "");
  CHECK(difference(memory.slice(0, 12, 10), expected[1]) == "");
}

TEST_CASE("a bound in-place call steps every time it runs") {
  const Function f = compile_text("graph step(%x: f64[n], %v: f64[n]) -> (%0, %1) {\n%0: f64[i:n] = add(%x[i], %v[i])\n"
                                  "%1: f64[i:n] = multiply(2, %v[i])\n}");
  Array x(f64, {70}), v(f64, {70});
  v.fill(Scalar(1.0));
  const Call step = f.bind({x, v}, {x, v});
  for (int k = 0; k < 5; ++k) step();
  CHECK(x.to_vector<double>() == std::vector<double>(70, 31.0));
  CHECK(v.to_vector<double>() == std::vector<double>(70, 32.0));
}

TEST_CASE("two arrays exchange their contents") {
  const Function f = compile_text("graph swap(%a: i64[n,m], %b: i64[n,m]) -> (%0, %1) {\n%0: i64[i:n,j:m] = copy(%b[i,j])\n"
                                  "%1: i64[i:n,j:m] = copy(%a[i,j])\n}");
  Array a = counting(i64, {9, 21}), b = counting(i64, {9, 21}, 3);
  check_overlap(f, {a, b}, {a, b});
}

TEST_CASE("a transpose beside another result may be written over what it reads") {
  Graph g;
  const Expr x = g.input("x", f64, {"k", "m", "k"}), v = -x;
  const Function f = compile({transpose(v), v}, {x}, checked());
  for (const Index k : {8, 17, 40, 64})
    for (const Index m : {1, 2, 17}) {
      CAPTURE(k);
      CAPTURE(m);
      for (const bool first : {true, false}) {
        const Array in = counting(f64, {k, m, k}), other(f64, {k, m, k});
        check_overlap(f, {in}, first ? std::vector<Array>{in, other} : std::vector<Array>{other, in});
      }
    }
}

TEST_CASE("arrays move along a ring in place") {
  const Function f = compile_text("graph ring(%a: i32[n], %b: i32[n], %c: i32[n]) -> (%0, %1, %2) {\n%0: i32[i:n] = copy(%b[i])\n"
                                  "%1: i32[i:n] = copy(%c[i])\n%2: i32[i:n] = copy(%a[i])\n}");
  const Array a = counting(i32, {50}), b = counting(i32, {50}, 3), c = counting(i32, {50}, 7);
  check_overlap(f, {a, b, c}, {a, b, c});
  check_overlap(f, {a, b, c}, {b, c, a});
  check_overlap(f, {a, a, a}, {b, a, c});
}

TEST_CASE("an input that a later statement or loop reads again survives a result on top of it") {
  const char* texts[] = {
      "graph a(%x: f64[n]) -> (%0, %1) {\n%0: f64[i:n] = square(%x[i])\n%1: f64[i:n] = subtract(%x[i], %0[n-1-i])\n}",
      "graph b(%x: f64[n]) -> (%0, %1) {\n%0: f64[i:n] = square(%x[i])\n%1: f64[i:n] = maximum(%x[i], %x[n-1-i])\n}",
      "graph c(%x: f64[n]) -> (%0, %2) {\n%0: f64[i:n] = square(%x[i])\n%1: f64[] = sum(i:n) copy(%x[i])\n%2: f64[i:n] = add(%x[i], %1)\n}"};
  for (const char* text : texts) {
    const Function f = compile_text(text);
    for (Index n : {1, 16, 100, 3000})
      for (int k : {0, 1}) {
        CAPTURE(std::string(text));
        const Array x = uniform(f64, {n}), other(f64, {n});
        std::vector<Array> copies{x.copy()}, outputs{other, other.copy()};
        outputs[static_cast<std::size_t>(k)] = x;
        const auto expected = expected_of(f, copies);
        f.run({x}, outputs);
        for (std::size_t m = 0; m < 2; ++m) CHECK(difference(outputs[m], expected[m]) == "");
      }
  }
}

TEST_CASE("where each element is read before it is written in place needs no copy") {
  const Function f = compile_text("graph axpy(%a: f32[], %x: f32[n], %y: f32[n]) -> (%1) {\n%0: f32[i:n] = multiply(%a, %x[i])\n"
                                  "%1: f32[i:n] = add(%0[i], %y[i])\n}");
  const Array a = Array::scalar(2.0f), x = uniform(f32, {5000}, 1), y = uniform(f32, {5000}, 2);
  CHECK(f.bind({a, x, y}, {y}).temporary_bytes() == 0);
  check_overlap(f, {a, x, y}, {y});
  check_overlap(f, {a, y, y}, {y});
}
