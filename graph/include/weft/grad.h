// Gradients: reverse mode from graph to graph.
//
//   std::vector<Expr> gs = grad(loss, {w, b});               // adds nodes to the graph of loss; one Expr per wrt
//   std::vector<Expr> vs = vjp({y1, y2}, {x}, {seed1, seed2});
//
// Results are ordinary nodes of the same shape and dtype as what they belong to: print, compile or differentiate them
// again. Rules (NUMERICS, "Gradients"):
//   the derivative is formed first and then summed over what was broadcast; a fold's derivative is taken at its operands
//   ties of maximum, minimum, max and min share the gradient equally; relu'(0) = abs'(0) = 0; clip passes at its bounds
//   where passes to the chosen branch only, and nothing of the other one leaks, NaN and infinity included
//   sqrt, log, divide, .. give 0 where both the derivative's divisor and the incoming gradient are 0 (norm at 0)
//   prod never divides: each element gets the product of all others, O(N^2) along the folded axes
//   an accumulator of one's own and a scan have no derivative: Error(unsupported)
//   through integer, bool and stop_gradient results the gradient is zero, and counts as connected
//
// wrt may be any floating Exprs of the graph, inputs or not. Errors, before any node is added: an Expr of another graph
// or none (usage); loss not of rank 0, wrt that no loss depends on, unless Disconnected::zero (usage); integer loss or wrt
// (dtype); seeds of another number (usage), shape (shape) or dtype (dtype).
// Not thread-safe, as all graph building. Cost: linear in the nodes between wrt and loss, no recursion; a few nodes each.
// Source: Theano "Elemwise compiler", Gradient; JAX transposition rules.
#pragma once
#include <cstdint>
#include <vector>

#include <weft/graph.h>

namespace weft {

enum class Disconnected : std::uint8_t { error, zero };      // what to do with a wrt that nothing depends on

std::vector<Expr> grad(const Expr& loss, const std::vector<Expr>& wrt, Disconnected disconnected = Disconnected::error);

// The sum over k of seeds[k] times the derivative of ys[k]: one result per xs. seeds[k] has ys[k]'s shape and dtype.
std::vector<Expr> vjp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& seeds,
                      Disconnected disconnected = Disconnected::error);

}  // namespace weft
