#include <weft/linear_algebra.h>

#include <map>

#include "error_text.h"
#include "problem.h"

using namespace weft;

namespace {

// What a string of letters without "..." means, by loops over all indices; the operands are of f64.
Values expected(const std::string& inputs, const std::string& output, const std::vector<Array>& operands) {
  std::map<char, Index> extents, index;
  std::string letters = output;
  std::vector<std::string> terms(1);
  for (char c : inputs) {
    if (c == ',') terms.emplace_back();
    else terms.back() += c;
  }
  for (std::size_t k = 0; k < terms.size(); ++k)
    for (std::size_t axis = 0; axis < terms[k].size(); ++axis) {
      Index& extent = extents[terms[k][axis]];
      extent = std::max(extent, operands[k].shape()[axis]);
      if (letters.find(terms[k][axis]) == std::string::npos) letters += terms[k][axis];
    }
  Values results;
  const auto product = [&] {
    double value = 1;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      Dims at;
      for (std::size_t axis = 0; axis < terms[k].size(); ++axis) at.push_back(operands[k].shape()[axis] == 1 ? 0 : index[terms[k][axis]]);
      value *= operands[k].at<double>(at);
    }
    return value;
  };
  const std::function<void(std::size_t)> loop = [&](std::size_t depth) {
    if (depth == output.size()) results.push_back(0);
    if (depth == letters.size()) return void(results.back() += product());
    for (Index k = 0; k < extents[letters[depth]]; ++k) index[letters[depth]] = k, loop(depth + 1);
  };
  loop(0);
  return results;
}

Array numbers(const Dims& shape, int seed) { return affine(shape, 7 + seed, 3 + seed, 23, -11, 0.25); }

void check_einsum(const std::string& inputs, const std::string& output, const std::vector<Dims>& shapes, const Dims& shape) {
  CAPTURE(inputs);
  CAPTURE(output);
  std::vector<Array> arrays;
  for (const Dims& each : shapes) arrays.push_back(numbers(each, static_cast<int>(arrays.size())));
  Problem p(arrays);
  const Expr y = einsum(inputs + "->" + output, p.x);
  CHECK(y.shape() == Shape(shape.begin(), shape.end()));
  CHECK(p(y) == expected(inputs, output, arrays));           // sums of multiples of 2^-2 to 2^-8: exact in any order
  p.check_against_differences(sum(square(y)));
}

struct Matrices {
  Graph g;
  Expr a = g.input("a", f64, {2, 3}), b = g.input("b", f64, {3, 4}), v = g.input("v", f64, {3}), u = g.input("u", f64, {2});
  Expr stack = g.input("stack", f64, {5, 1, 2, 3}), other = g.input("other", f64, {7, 3, 4}), s = g.input("s", f64, {});
};

}  // namespace

TEST_CASE("matmul: matrices, vectors on either side, stacks that broadcast") {
  Matrices m;
  CHECK(matmul(m.a, m.b).shape() == Shape{2, 4});
  CHECK(matmul(m.v, m.b).shape() == Shape{4});
  CHECK(matmul(m.a, m.v).shape() == Shape{2});
  CHECK(matmul(m.v, m.v).shape() == Shape{});
  CHECK(matmul(m.stack, m.other).shape() == Shape{5, 7, 2, 4});
  CHECK(matmul(m.stack, m.v).shape() == Shape{5, 1, 2});
  CHECK(matmul(m.v, m.other).shape() == Shape{7, 4});
  CHECK(matmul(m.stack, m.b).shape() == Shape{5, 1, 2, 4});
  Problem p({numbers({2, 1, 3, 4}, 0), numbers({3, 4, 2}, 1)});
  CHECK(p(matmul(p.x[0], p.x[1])) == expected("bcik,dkj", "bdij", {p.arrays[0].reshape_view({2, 1, 3, 4}), p.arrays[1]}));
  p.check_against_differences(sum(square(matmul(p.x[0], p.x[1]))));
}

TEST_CASE("matmul is one node, with symbols too") {
  Graph g;
  const Expr a = g.input("a", f32, {"n", "k"}), b = g.input("b", f32, {"k", "m"});
  g.outputs = {matmul(a, b).id()};
  CHECK(to_text(g) ==
        "graph graph(%a: f32[n,k], %b: f32[k,m]) -> (%0) {\n"
        "  %0: f32[i:n,j:m] = sum(l:k) multiply(%a[i,l], %b[l,j])\n"
        "}\n");
}

TEST_CASE("vecdot and tensordot") {
  Problem p({numbers({2, 3, 4}, 0), numbers({4, 3}, 1), numbers({3, 1}, 2)});
  const Expr &x = p.x[0], &y = p.x[1], &z = p.x[2];
  CHECK(p(vecdot(x, z, -2)) == expected("bij,ij", "bj", {p.arrays[0], p.arrays[2]}));
  CHECK(vecdot(x, z, -2).shape() == Shape{2, 4});
  CHECK(p(tensordot(x, y, {1, 2}, {1, 0})) == expected("bij,ji", "b", {p.arrays[0], p.arrays[1]}));
  CHECK(p(tensordot(x, y, {-1}, {0})) == expected("bij,jk", "bik", {p.arrays[0], p.arrays[1]}));
  CHECK(p(tensordot(x, y, 1)) == expected("bij,jk", "bik", {p.arrays[0], p.arrays[1]}));
  CHECK(tensordot(x, y, 0).shape() == Shape{2, 3, 4, 4, 3});
  CHECK(p(tensordot(x, y, 0)) == expected("bij,kl", "bijkl", {p.arrays[0], p.arrays[1]}));
  p.check_against_differences(sum(square(tensordot(x, y, {1, 2}, {1, 0}))) + sum(square(vecdot(x, z, -2))));
}

TEST_CASE("einsum: what its letters say") {
  check_einsum("ij,jk", "ik", {{2, 3}, {3, 4}}, {2, 4});
  check_einsum("ij,jk", "ki", {{2, 3}, {3, 4}}, {4, 2});
  check_einsum("ij", "ji", {{2, 3}}, {3, 2});
  check_einsum("ij", "j", {{2, 3}}, {3});
  check_einsum("ij", "", {{2, 3}}, {});
  check_einsum("i,j", "ij", {{2}, {3}}, {2, 3});
  check_einsum("i,i", "i", {{3}, {3}}, {3});
  check_einsum("bij,bjk", "bik", {{2, 2, 3}, {2, 3, 2}}, {2, 2, 2});
  check_einsum("ij,j,k", "ik", {{2, 3}, {3}, {2}}, {2, 2});
  check_einsum("ij,jk,kl", "il", {{2, 3}, {3, 2}, {2, 4}}, {2, 4});
  check_einsum("ij,kl", "k", {{2, 3}, {3, 2}}, {3});          // i, j and l are summed before anything is multiplied
  check_einsum("ij,ij,ij", "", {{2, 3}, {1, 3}, {2, 1}}, {});  // an extent of 1 repeats
  check_einsum("ab,cb,bd,a", "dc", {{2, 3}, {2, 3}, {3, 2}, {2}}, {2, 2});
  check_einsum("i,i,i", "", {{1}, {1}, {4}}, {});
}

TEST_CASE("einsum: letters that only one operand has are summed first, and others as soon as no later operand has them") {
  Graph g;
  const Expr a = g.input("a", f64, {"n", "m"}), b = g.input("b", f64, {"m", "k"}), c = g.input("c", f64, {"k", "q"});
  g.outputs = {einsum("ij, jk, kl -> i", {a, b, c}).id()};
  CHECK(to_text(g) ==
        "graph graph(%a: f64[n,m], %b: f64[m,k], %c: f64[k,q]) -> (%2) {\n"
        "  %0: f64[i:k] = sum(j:q) copy(%c[i,j])\n"
        "  %1: f64[i:n,j:k] = sum(l:m) multiply(%a[i,l], %b[l,j])\n"
        "  %2: f64[i:n] = sum(j:k) multiply(%1[i,j], %0[j])\n"
        "}\n");
}

TEST_CASE("einsum: dots, and no arrow") {
  Matrices m;
  CHECK(einsum("...ij,...jk->...ik", {m.stack, m.other}).shape() == Shape{5, 7, 2, 4});
  CHECK(einsum("...ij,jk", {m.stack, m.b}).shape() == Shape{5, 1, 2, 4});
  CHECK(einsum("...i->i...", {m.stack}).shape() == Shape{3, 5, 1, 2});
  CHECK(einsum("i...->...", {m.a}).shape() == Shape{3});
  CHECK(einsum("ba", {m.a}).shape() == Shape{3, 2});           // alphabetical: transposed
  CHECK(einsum("ij,jk", {m.a, m.b}).shape() == Shape{2, 4});
  CHECK(einsum("i,i", {m.v, m.v}).shape() == Shape{});
  CHECK(einsum(",i", {m.s, m.v}).shape() == Shape{3});
  CHECK(einsum("...,...", {m.s, m.a}).shape() == Shape{2, 3});
  Problem p({numbers({2, 1, 3}, 0), numbers({4, 3}, 1)});
  CHECK(p(einsum("...i,...i->...", p.x)) == p(sum(p.x[0] * p.x[1], -1)));
}

TEST_CASE("dtypes of products: promoted, integers wrap, halves are rounded once") {
  Graph g;
  const Expr a = g.input("a", i8, {1, 2}), b = g.input("b", i8, {2, 1}), c = g.input("c", f32, {2, 1}), h = g.input("h", f16, {4096}), u = g.input("u", u8, {2, 1});
  CHECK(matmul(a, b).dtype() == i8);
  CHECK(matmul(a, c).dtype() == f32);
  CHECK(matmul(a, u).dtype() == i16);
  CHECK(values_of(matmul(a, b), {a, b}, {Array::from<std::int8_t>({100, 100}, {1, 2}), Array::from<std::int8_t>({1, 1}, {2, 1})}) == std::vector<double>{-56});
  Array ones = Array::empty(f16, {4096});
  ones.fill(Scalar::of(f16, 1.0));
  CHECK(values_of(vecdot(h, h), {h}, {ones}) == std::vector<double>{4096});       // added in f16, 2048 + 1 would stay 2048
}

TEST_CASE("products that cannot be: the operands, the axes, what to do; the graph stays as it was") {
  Matrices m;
  Graph other("other");
  const Expr far = other.input("far", f64, {3}), flags = m.g.input("flags", bool_, {3}), n = m.g.input("n", f64, {"n"}), big = m.g.input("big", u64, {3}),
             i = m.g.input("i", i64, {3});
  const std::size_t before = m.g.size();
  CHECK(error_text([&] { matmul(m.a, m.a); }) ==
        "shape: matmul: axis 1 of %a of shape [2, 3] has extent 3 but axis 0 of %a of shape [2, 3] has 2\n  axes that are summed over have one extent");
  CHECK(error_text([&] { matmul(m.a, n); }) ==
        "shape: matmul: axis 1 of %a of shape [2, 3] has extent 3 but axis 0 of %n of shape [n] has n\n  if n is meant to be 3, declare that input with 3");
  CHECK(error_text([&] { matmul(m.s, m.a); }) == "shape: matmul: %s has rank 0 and no axis to sum over\n  multiply by a scalar with *");
  CHECK(error_text([&] { matmul(m.v, far); }) == "usage: matmul: %v is in graph \"graph\" but %far is in graph \"other\"\n  build both in one graph");
  CHECK(error_text([&] { matmul(m.v, Expr()); }) == "usage: matmul: operand 1 is an empty Expr");
  CHECK(error_text([&] { matmul(flags, m.v); }) ==
        "dtype: matmul: %flags is bool, expected numbers\n  cast it, as in cast(%flags, i64), or fold conditions with any(a & b)");
  CHECK(error_text([&] { vecdot(big, i); }) == "dtype: vecdot: %i is i64 beside u64, which have no common dtype\n  cast one of them");
  CHECK(error_text([&] { vecdot(m.a, m.v, 0); }) ==
        "shape: vecdot: axis 0 of %a of shape [2, 3] and %v of shape [3]\n  axes are counted from the end, -1 to -1, since those in front broadcast");
  CHECK(error_text([&] { matmul(m.stack, einsum("bij->b1ij", {m.other})); }).find("unexpected '1' in \"b1ij\"") != std::string::npos);
  CHECK(error_text([&] { tensordot(m.a, m.b, 3); }) == "shape: tensordot: 3 axes of %a of shape [2, 3] and %b of shape [3, 4]\n  expected 0 to 2");
  CHECK(error_text([&] { tensordot(m.a, m.b, {1}, {0, 1}); }) ==
        "shape: tensordot: 1 axes of %a but 2 of %b\n  name as many of each: axis k of one list goes with axis k of the other");
  CHECK(error_text([&] { tensordot(m.a, m.b, {1, -1}, {0, 1}); }) == "shape: tensordot: axis 1 of %a is named twice");
  CHECK(error_text([&] { einsum("ij,jk->ik", {m.a}); }) == "usage: einsum(\"ij,jk->ik\"): expected 2 operands, got 1");
  CHECK(error_text([&] { einsum("ij,jk->ik", {m.a, m.v}); }) ==
        "shape: einsum(\"ij,jk->ik\"): \"jk\" has 2 letters but %v has shape [3]\n  give each axis a letter, or write ...");
  CHECK(error_text([&] { einsum("ij,ij", {m.a, m.b}); }) ==
        "shape: einsum(\"ij,ij\"): axis i has extent 2 in %a but 3 in %b\n  extents must be equal, or one of them 1");
  CHECK(error_text([&] { einsum("...i,...j", {m.b, m.a}); }) ==
        "shape: einsum(\"...i,...j\"): axis -1 of ... has extent 3 in %b but 2 in %a\n  extents must be equal, or one of them 1");
  CHECK(error_text([&] { einsum("ii", {m.a}); }) ==
        "usage: einsum(\"ii\"): i stands twice in \"ii\"\n  a diagonal is no axis: multiply by eye and sum, or select with where");
  CHECK(error_text([&] { einsum("i->j", {m.v}); }) == "usage: einsum(\"i->j\"): no operand has the letter j of the result \"j\"");
  CHECK(error_text([&] { einsum("i->...", {m.v}); }) == "usage: einsum(\"i->...\"): the result has ... but no operand does");
  CHECK(error_text([&] { einsum("i->j->k", {m.v}); }).find("unexpected '-' in \"j->k\"") != std::string::npos);
  CHECK(error_text([&] { einsum("", {}); }) == "usage: einsum(\"\"): expected 1 operand, got 0");
  CHECK(m.g.size() == before);
}
