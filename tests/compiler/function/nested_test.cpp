// Nested tensors through the compiler: the same bits as the interpreter.
#include <weft/tml.h>

#include <doctest/doctest.h>

#include "compiled.h"

using namespace weft;
using tml::Tensor;

TEST_CASE("a nested addition, a write, a read and a narrowing give the interpreter's bits") {
  Graph g;
  const Tensor a = g.input("a", f64, nested({5, 1}, {1, 7})), b = g.input("b", f64, nested({4}, {3, 1})), i = g.input("i", i64, nested({4})), s = g.input("s", f64, {});
  const Tensor c = a + b;                                        // tensor<tensor<real, 3, 7>, 5, 4>
  const Tensor mixed = c * i;
  const Tensor written = tml::index_assign(c, {2, 3, 1}, s), row = tml::index_assign(mixed, {4}, a[0]);
  const Tensor below = c < s;
  const auto f = compile({c, mixed, written, row, below, tml::narrow(a), tml::index(written, {2, 3, 1, 6, 99}), tml::assign(c, i)}, {a, b, i, s}, checked());
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    check_call(f, {uniform(f64, {5, 1, 1, 7}, seed), uniform(f64, {4, 3, 1}, seed + 10), counting(i64, {4}), uniform(f64, {}, seed + 20)});
  check_call(f, {special(f64, {5, 1, 1, 7}), special(f64, {4, 3, 1}, 2), counting(i64, {4}), special(f64, {}, 3)});
}

TEST_CASE("roots of every kind, and a symbolic outer length") {
  Graph g;
  const Tensor u = g.input("u", u64, nested({"n"}, {4})), m = g.input("m", u64, nested({"n", 1}, {1})), t = g.input("t", bool_, nested({"n"}, {4})), c = g.input("c", u8, nested({"n"}));
  const auto f = compile({u + m, (u & 5) << 2, t || u > 3, u / 4, tml::index_assign(c, {0}, 'x'), u[0], u - 7}, {u, m, t, c}, checked(2));
  for (Index n : {1, 3, 40})
    check_call(f, {counting(u64, {n, 4}), counting(u64, {n, 1, 1}), counting(bool_, {n, 4}), counting(u8, {n})});
}

TEST_CASE("the gradient of a write and of nested broadcasting gives the interpreter's bits") {
  Graph g;
  const Tensor a = g.input("a", f64, nested({6}, {5})), v = g.input("v", f64, nested({5})), s = g.input("s", f64, nested({6}));
  const Tensor w = tml::index_assign(a * s, {3}, v);
  const Expr loss = sum(square(w) * 0.5);
  std::vector<Expr> outputs = grad(loss, {a, v, s});
  outputs.push_back(loss);
  check_call(compile(outputs, {a, v, s}, checked()), {uniform(f64, {6, 5}), uniform(f64, {5}, 2), uniform(f64, {6}, 3)});
}
