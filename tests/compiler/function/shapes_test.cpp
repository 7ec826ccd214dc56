// Degenerate and unusual shapes: no elements, one element, many axes.
#include <weft/function.h>

#include "compiled.h"

using namespace weft;

namespace {

// Broadcasts, folds over each axis and over both, and what reads them again.
constexpr const char* mixed = R"(graph mixed(%x: f64[n,m], %r: f64[m], %c: f64[n]) -> (%1, %2, %3, %4, %6) {
  %0: f64[i:n,j:m] = multiply(%x[i,j], %r[j])
  %1: f64[i:n,j:m] = add(%0[i,j], %c[i])
  %2: f64[i:n] = sum(j:m) multiply(%1[i,j], %x[i,j])
  %3: f64[i:m] = sum(j:n) multiply(%1[j,i], %c[j])
  %4: f64[] = sum(i:n,j:m) copy(%1[i,j])
  %5: f64[i:n] = subtract(%2[i], %4)
  %6: f64[i:n,j:m] = multiply(%5[i], %3[j])
})";

}  // namespace

TEST_CASE("axes without elements give empty results, and sums over them zero") {
  const Function f = compile_text(mixed);
  for (const Dims& shape : {Dims{0, 0}, Dims{0, 5}, Dims{5, 0}, Dims{0, 5000}, Dims{5000, 0}, Dims{3, 4}}) {
    CAPTURE(to_text(shape));
    check_call(f, {counting(f64, shape), counting(f64, {shape[1]}), counting(f64, {shape[0]})});
  }
  const auto out = f({Array(f64, {0, 3}), counting(f64, {3}), Array(f64, {0})});
  CHECK(out[2].to_vector<double>() == std::vector<double>{0, 0, 0});
  CHECK_FALSE(std::signbit(out[2].to_vector<double>()[0]));
  CHECK(out[3].at<double>({}) == 0);
  CHECK(out[0].shape() == Dims{0, 3});
}

TEST_CASE("the empty value of each accumulator") {
  const Function f = compile_text(R"(graph g(%x: f32[n,m], %b: bool[n,m], %k: i64[n,m]) -> (%0, %1, %2, %3, %4, %5) {
    %0: f32[i:n] = sum(j:m) copy(%x[i,j])
    %1: f32[i:n] = prod(j:m) copy(%x[i,j])
    %2: bool[i:n] = any(j:m) copy(%b[i,j])
    %3: bool[i:n] = all(j:m) copy(%b[i,j])
    %4: i64[i:n] = sum(j:m) copy(%k[i,j])
    %5: i64[] = prod(i:n,j:m) copy(%k[i,j])
  })");
  for (const Dims& shape : {Dims{3, 0}, Dims{0, 3}, Dims{0, 0}}) check_call(f, {Array(f32, shape), Array(bool_, shape), Array(i64, shape)});
  const auto out = f({Array(f32, {1, 0}), Array(bool_, {1, 0}), Array(i64, {1, 0})});
  CHECK(out[0].at<float>({0}) == 0);
  CHECK(out[1].at<float>({0}) == 1);
  CHECK_FALSE(out[2].at<bool>({0}));
  CHECK(out[3].at<bool>({0}));
  CHECK(out[4].at<std::int64_t>({0}) == 0);
  CHECK(out[5].at<std::int64_t>({}) == 1);
}

TEST_CASE("extents of one, static and symbolic") {
  const Function symbolic = compile_text(mixed);
  for (const Dims& shape : {Dims{1, 1}, Dims{1, 7}, Dims{7, 1}, Dims{1, 3000}, Dims{3000, 1}})
    check_call(symbolic, {uniform(f64, shape), uniform(f64, {shape[1]}), uniform(f64, {shape[0]})});
  const Function fixed = compile_text(R"(graph g(%x: f64[1,n,1], %y: f64[1,1]) -> (%0, %1, %2) {
    %0: f64[i:1,j:n,k:1] = add(%x[i,j,k], %y[i,k])
    %1: f64[i:n] = sum(j:1,k:1) multiply(%x[j,i,k], %y[j,k])
    %2: f64[i:1,j:1] = sum(k:n) multiply(%x[i,k,j], %y[j,i])
  })");
  for (Index n : {0, 1, 2, 1500}) check_call(fixed, {uniform(f64, {1, n, 1}), uniform(f64, {1, 1})});
}

TEST_CASE("rank 0 throughout") {
  const Function f = compile_text("graph g(%a: f64[], %b: f64[]) -> (%1, %2) {\n%0: f64[] = multiply(%a, %b)\n"
                                  "%1: f64[] = add(%0, %a)\n%2: bool[] = less(%1, %b)\n}");
  check_call(f, {Array::scalar(3.0), Array::scalar(-2.0)});
  const auto out = f({Array::scalar(3.0), Array::scalar(-2.0)});
  CHECK(out[0].at<double>({}) == -3);
  CHECK(out[1].at<bool>({}));
}

TEST_CASE("a graph without inputs") {
  const Function f = compile_text("graph g() -> (%1, %2) {\n%0: f64[2,3] = constant [1, 2, 3, 4, 5, 6]\n"
                                  "%1: f64[i:3] = sum(j:2) copy(%0[j,i])\n%2: f64[] = add(1:f64, 2:f64)\n}");
  const auto out = f({});
  CHECK(out[0].to_vector<double>() == std::vector<double>{5, 7, 9});
  CHECK(out[1].at<double>({}) == 3);
}

TEST_CASE("six axes: elementwise, transposed and folded over some of them") {
  const Function f = compile_text(R"(graph six(%x: f64[a,b,c,d,e,h], %y: f64[c,e]) -> (%0, %1, %2, %3) {
    %0: f64[i:a,j:b,k:c,l:d,p:e,q:h] = multiply(%x[i,j,k,l,p,q], %y[k,p])
    %1: f64[i:h,j:e,k:d,l:c,p:b,q:a] = negative(%x[q,p,l,k,j,i])
    %2: f64[i:a,j:d,k:h] = sum(l:b,p:c,q:e) multiply(%x[i,l,p,j,q,k], %y[p,q])
    %3: f64[] = max(i:a,j:b,k:c,l:d,p:e,q:h) abs(%x[i,j,k,l,p,q])
  })");
  check_call(f, {uniform(f64, {2, 3, 4, 2, 5, 3}), uniform(f64, {4, 5})});
  check_call(f, {uniform(f64, {3, 1, 2, 1, 2, 20}), uniform(f64, {2, 2})});
  Graph g;
  const Expr x = g.input("x", f32, {2, 2, 2, 2, 2, 2});
  const Function flipped = compile({flip(permute_dims(x, {5, 3, 1, 4, 2, 0}), {0, 2, 5}) + x}, {x}, checked());
  check_call(flipped, {counting(f32, {2, 2, 2, 2, 2, 2})});
}

TEST_CASE("sizes around the vector width, the leaf and the unit") {
  const Function f = compile_text(mixed);
  for (Index n : {1, 2, 15, 16, 17, 31, 33, 1023, 1024, 1025, 2048, 2049})
    for (Index m : {1, 15, 16, 17, 65}) {
      CAPTURE(n);
      CAPTURE(m);
      check_call(f, {uniform(f64, {n, m}), uniform(f64, {m}), uniform(f64, {n})});
    }
  for (Index m : {1023, 1024, 1025, 5000}) check_call(f, {uniform(f64, {3, m}), uniform(f64, {m}), uniform(f64, {3})});
}

TEST_CASE("slices, flips and windows at every small size") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  const Expr differences = x.slice({{1, {}}}) - x.slice({{{}, -1}});
  const Expr loss = sum(square(differences));
  const Function f = compile({differences, x.slice({{{}, {}, 2}}), x.slice({{{}, {}, -1}}), x.slice({-1}), loss, grad(loss, {x})[0]}, {x}, checked());
  for (Index n : {1, 2, 3, 4, 16, 17, 18, 33, 34, 100, 2050}) {
    CAPTURE(n);
    check_call(f, {counting(f64, {n})});
  }
}

TEST_CASE("ten axes") {
  Graph g;
  const Expr x = g.input("x", f32, Shape(10, Extent("n")));
  const Function f = compile({permute_dims(x, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) + x, sum(x, {0, 3, 5}), max(x)}, {x}, checked());
  for (Index n : {1, 2, 3}) check_call(f, {counting(f32, Dims(10, n), 0.5)});
}

TEST_CASE("an array constant keeps its values whatever its strides were, and any graph name will do") {
  Graph g("a b\"c");
  const Expr c = g.constant(Array::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}).transpose());
  const auto out = compile({c + c, c}, {}, checked())({});
  CHECK(out[0].to_vector<float>() == std::vector<float>{2, 8, 4, 10, 6, 12});
  CHECK(out[1].to_vector<float>() == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("more than 2^31 elements") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({sum(x), max(x)}, {x}, {.threads = 2, .executor = nullptr, .verify = true, .trace = ""});
  const Index n = (Index{1} << 31) + 4096;
  const auto out = f({Array::scalar(1.0f).broadcast_to({n})});      // one element, stride 0
  CHECK(out[0].at<float>({}) == static_cast<float>(n));
  CHECK(out[1].at<float>({}) == 1);
}

TEST_CASE("an extent that is an element of an input, which passes drop, is checked still") {
  const Function f = compile(parse("graph g(%x: f32[3], %t: i64[2]) -> (%1, %2) {\n"
                                   "  %0: f32[i:t[0],j:t[1]] = copy(%x[0])\n"
                                   "  %1: f32[i:t[0]] = copy(%0[i,1])\n"
                                   "  %2: f32[8] = update(%x[i]) within [i+3]\n}"),
                             {.threads = 1, .verify = true});
  Array x(f32, {3}), extents(DType::i64, {2});
  x.fill(Scalar::of(f32, 7));
  extents.data<std::int64_t>()[0] = 4;
  extents.data<std::int64_t>()[1] = 3;
  const std::vector<Array> got = f({x, extents});
  CHECK(got[0].shape() == Dims{4});
  CHECK(got[0].at<float>({3}) == 7);
  CHECK(got[1].at<float>({3}) == 7);
  CHECK(got[1].at<float>({2}) == 0);
  extents.data<std::int64_t>()[1] = 1;                  // has no element 1
  CHECK_THROWS_AS(f({x, extents}), Error);
}
