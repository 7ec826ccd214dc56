// Gradients: reverse mode from graph to graph.
//
//   std::vector<Expr> gs = grad(loss, {w, b});               // adds nodes to the graph of loss; one Expr per wrt
//   std::vector<Expr> vs = vjp({y1, y2}, {x}, {seed1, seed2});
//
// Results are ordinary nodes of the same shape and dtype as what they belong to: print, compile or differentiate them
// again. Rules:
//   the derivative is formed first and then summed over what was broadcast; a fold's derivative is taken at its operands
//   ties of maximum, minimum, max and min share the gradient equally; relu'(0) = abs'(0) = 0; clip passes at its bounds
//   where passes to the chosen branch only, and nothing of the other one leaks, NaN and infinity included, through slices, joins and
//   reshapes too; in a sum of products, an element of a factor that no chosen term reads. What relu, maximum and clip cut off is 0 there,
//   of which infinite factors make NaN
//   log(1 + exp(x)), 1 / (1 + exp(-x)), log(sum(exp(x))) and their like have the derivatives of softplus, sigmoid and logsumexp, also
//   where exp overflows
//   sqrt, log, divide, .. give 0 where both the derivative's divisor and the incoming gradient are 0 (norm at 0)
//   prod never divides: each element gets the product of all others; along one axis of a known extent up to 64 in the order of
//   accumulator.h (Kind::others), otherwise the product of those before it times that of those after it
//   a recurrence runs backwards (weft/recurrence.h); its step is differentiated, or its author says how
//   through integer, bool and stop_gradient results the gradient is zero, and counts as connected
//
// wrt may be any floating Exprs of the graph, inputs or not. Errors, before any node is added: an Expr of another graph
// or none (usage); loss not of rank 0, wrt that no loss depends on, unless Disconnected::zero (usage); integer loss or wrt
// (dtype); seeds of another number (usage), shape (shape) or dtype (dtype).
// Not thread-safe, as all graph building. Cost: linear in the nodes between wrt and loss, no recursion; a few nodes each.
// Source: Theano "Elemwise compiler", Gradient; JAX transposition rules.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <weft/graph.h>

namespace weft {

enum class Disconnected : std::uint8_t { error, zero };      // what to do with a wrt that nothing depends on

std::vector<Expr> grad(const Expr& loss, const std::vector<Expr>& wrt, Disconnected disconnected = Disconnected::error);

// The sum over k of seeds[k] times the derivative of ys[k]: one result per xs. seeds[k] has ys[k]'s shape and dtype.
std::vector<Expr> vjp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& seeds,
                      Disconnected disconnected = Disconnected::error);

// Forward mode: the derivative of each y along the tangents of the xs (a Jacobian times a vector).
std::vector<Expr> jvp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& tangents,
                      Disconnected disconnected = Disconnected::error);

// The Hessian of a loss of rank 0 times vs, one result per wrt: forward over reverse, no matrix.
std::vector<Expr> hvp(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Expr>& vs, Disconnected disconnected = Disconnected::error);

// The derivative of every element of y by every element of x: the shape of y followed by that of x. Cost: that of a gradient
// for each element of y, in one pass over them. The Hessian is the Jacobian of the gradient.
Expr jacobian(const Expr& y, const Expr& x, Disconnected disconnected = Disconnected::error);
Expr hessian(const Expr& loss, const Expr& x, Disconnected disconnected = Disconnected::error);

// f, whose gradient is f_vjp(xs, y, g) -> one cotangent per x, of its shape and dtype, instead of the derived one:
//   auto clipped = custom_gradient([](const std::vector<Expr>& xs) { return xs[0]; },
//                                  [](const std::vector<Expr>&, Expr, Expr g) { return std::vector<Expr>{clip(g, -1, 1)}; });
//   Expr y = clipped({x});
// f_vjp is called when a gradient passes; what it builds is differentiated as usual. Forward mode (jvp, hvp) and jacobian use
// the derivative of f itself. The rule is not part of the graph's text.
using CustomFunction = std::function<Expr(const std::vector<Expr>&)>;
using CustomVjp = std::function<std::vector<Expr>(const std::vector<Expr>& xs, const Expr& y, const Expr& g)>;
CustomFunction custom_gradient(CustomFunction f, CustomVjp f_vjp);

}  // namespace weft
