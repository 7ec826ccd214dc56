#include <weft/grad.h>

#include <algorithm>

#include <weft/error.h>
#include <weft/expr.h>

#include "batch.h"
#include "needed.h"
#include "node_parts.h"
#include "sweep.h"
#include "storage.h"

namespace weft {
namespace {

// ---- checks

void require_same_graph(std::string_view what, const Graph& graph, const std::vector<Expr>& exprs) {
  for (const Expr& expr : exprs) {
    WEFT_REQUIRE(!expr.is_empty(), usage, what, ": got an empty Expr");
    WEFT_REQUIRE(&expr.graph() == &graph, usage, what, ": ", expr.name(), " belongs to graph \"", expr.graph().name, "\", not to \"", graph.name, "\"");
  }
}

void require_floating(std::string_view what, const std::vector<Expr>& exprs) {
  for (const Expr& expr : exprs)
    WEFT_REQUIRE(is_floating(expr.dtype()), dtype, what, ": ", expr.name(), " is ", expr.dtype(), ", and only floating values have gradients\n",
                 "  cast it to a floating dtype before it is used");
}

void require_connected(std::string_view what, const Graph& graph, const std::vector<Expr>& ys, const std::vector<Expr>& xs) {
  std::vector<NodeId> wanted;
  for (const Expr& y : ys) wanted.push_back(y.id());
  const std::vector<bool> needed = needed_by(graph, wanted);
  for (const Expr& x : xs)
    WEFT_REQUIRE(needed[x.id().value], usage, what, ": ", ys.size() == 1 ? ys[0].name() + " does" : std::string("the ys do"), " not depend on ", x.name(),
                 "\n  pass Disconnected::zero to get zeros");
}

void check(std::string_view what, const std::vector<Expr>& ys, const std::vector<Expr>& xs, Disconnected disconnected) {
  WEFT_REQUIRE(!ys.empty(), usage, what, ": expected at least one y");
  WEFT_REQUIRE(!ys[0].is_empty(), usage, what, ": got an empty Expr");
  require_same_graph(what, ys[0].graph(), ys);
  require_same_graph(what, ys[0].graph(), xs);
  require_floating(what, ys);
  require_floating(what, xs);
  if (disconnected == Disconnected::error) require_connected(what, ys[0].graph(), ys, xs);
}

bool depends(const Expr& y, const Expr& x) { return needed_by(x.graph(), {y.id()})[x.id().value]; }

// Of each element of y by each of x, where y does not depend on x.
Expr zeros_of(const Expr& y, const Expr& x) {
  Shape shape = y.shape();
  const Shape inner = x.shape();
  shape.insert(shape.end(), inner.begin(), inner.end());
  return broadcast_to(x.graph().constant(Scalar::of(x.dtype(), 0.0)), shape);
}

void require_scalar(std::string_view what, const Expr& loss) {
  WEFT_REQUIRE(loss.rank() == 0, usage, what, ": ", loss.name(), " has shape ", to_text(loss.shape()), ", and a loss has rank 0\n",
               "  sum it, or use vjp with a seed of that shape");
}

// A seed for each y, or a tangent for each x: of its shape and dtype. All exprs are of one graph.
void require_like(std::string_view what, const char* role, const std::vector<Expr>& given, const char* of, const std::vector<Expr>& exprs) {
  WEFT_REQUIRE(given.size() == exprs.size(), usage, what, ": expected one ", role, " for each ", of, ", got ", exprs.size(), " ", of, "s and ", given.size(), " ", role, "s");
  if (!given.empty()) require_same_graph(what, exprs[0].graph(), given);
  for (std::size_t k = 0; k < exprs.size(); ++k) {
    WEFT_REQUIRE(given[k].shape() == exprs[k].shape(), shape, what, ": the ", role, " ", given[k].name(), " has shape ", to_text(given[k].shape()), " but ",
                 exprs[k].name(), " has shape ", to_text(exprs[k].shape()));
    WEFT_REQUIRE(given[k].dtype() == exprs[k].dtype(), dtype, what, ": the ", role, " ", given[k].name(), " is ", given[k].dtype(), " but ", exprs[k].name(), " is ",
                 exprs[k].dtype());
  }
}

Adjoint adjoint_of(const Expr& value) {
  const Node& node = value.graph().node(value.id());
  if (const Scalar* number = scalar_of(node)) return Adjoint{number->as_double(), {}};
  return Adjoint{Operand{value.id(), identity_map(value.rank())}, {}};
}

std::vector<Expr> sweep(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Adjoint>& seeds) {
  Graph& graph = ys[0].graph();
  std::vector<NodeId> ids;
  for (const Expr& x : xs) ids.push_back(x.id());
  Sweep state(graph, ids);
  for (std::size_t k = 0; k < ys.size(); ++k) state.add(ys[k].id(), seeds[k]);
  state.run_down();
  std::vector<Expr> results;
  for (NodeId id : ids) results.push_back(state.result(id));
  return results;
}

}  // namespace

std::vector<Expr> grad(const Expr& loss, const std::vector<Expr>& wrt, Disconnected disconnected) {
  check("grad", {loss}, wrt, disconnected);
  require_scalar("grad", loss);
  return sweep({loss}, wrt, {Adjoint{1.0, {}}});
}

std::vector<Expr> vjp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& seeds, Disconnected disconnected) {
  check("vjp", ys, xs, disconnected);
  require_like("vjp", "seed", seeds, "y", ys);
  std::vector<Adjoint> adjoints;
  for (const Expr& seed : seeds) adjoints.push_back(adjoint_of(seed));
  return sweep(ys, xs, adjoints);
}

std::vector<Expr> jvp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& tangents, Disconnected disconnected) {
  check("jvp", ys, xs, disconnected);
  require_like("jvp", "tangent", tangents, "x", xs);
  Graph& graph = ys[0].graph();
  std::vector<NodeId> ids;
  for (const Expr& x : xs) ids.push_back(x.id());
  Sweep state(graph, ids);
  for (std::size_t k = 0; k < xs.size(); ++k) state.add(ids[k], adjoint_of(tangents[k]));
  std::vector<NodeId> wanted;
  for (const Expr& y : ys) wanted.push_back(y.id());
  state.run_up(wanted);
  std::vector<Expr> results;
  for (const Expr& y : ys) results.push_back(state.result(y.id()));
  return results;
}

std::vector<Expr> hvp(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Expr>& vs, Disconnected disconnected) {
  check("hvp", {loss}, wrt, disconnected);
  require_scalar("hvp", loss);
  require_like("hvp", "v", vs, "wrt", wrt);
  return jvp(grad(loss, wrt, Disconnected::zero), wrt, vs, Disconnected::zero);
}

Expr jacobian(const Expr& y, const Expr& x, Disconnected disconnected) {
  check("jacobian", {y}, {x}, disconnected);
  if (!depends(y, x)) return zeros_of(y, x);
  if (y.rank() == 0) return grad(y, {x})[0];
  // A copy of x, and of what y computes from it, for each element of y; the element of its own copy is the loss of that copy.
  Graph& graph = y.graph();
  const Shape rows = y.shape();
  const auto [many_x, many_y] = batched(x, y, rows);
  Shape wide = rows;
  wide.insert(wide.end(), rows.begin(), rows.end());
  Expr own;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const NodeId index = iota(graph, rows[k]).id();
    const auto along = [&](std::size_t axis) { return Operand{index, {AxisRef{static_cast<int>(axis), 0, 1}}}; };
    const Expr here(graph, graph.apply(Op::equal, bool_, wide, {along(k), along(k + rows.size())}));
    own = k == 0 ? here : logical_and(own, here);
  }
  return vjp({many_y}, {many_x}, {cast(own, y.dtype())}, Disconnected::zero)[0];
}

Expr hessian(const Expr& loss, const Expr& x, Disconnected disconnected) {
  check("hessian", {loss}, {x}, disconnected);
  require_scalar("hessian", loss);
  return jacobian(grad(loss, {x}, Disconnected::zero)[0], x, Disconnected::zero);      // of what is linear in x the gradient does not depend on it
}

void CustomGradient::attach(const Expr& y, CustomGradient rule) {
  y.graph().storage_->custom[y.id()] = std::make_shared<const CustomGradient>(std::move(rule));
}

CustomFunction custom_gradient(CustomFunction f, CustomVjp f_vjp) {
  WEFT_REQUIRE(f && f_vjp, usage, "custom_gradient: expected a function and its gradient");
  return [f = std::move(f), f_vjp = std::move(f_vjp)](const std::vector<Expr>& xs) {
    const Expr value = f(xs);
    WEFT_REQUIRE(!value.is_empty(), usage, "custom_gradient: the function gives an empty Expr");
    for (const Expr& x : xs)
      WEFT_REQUIRE(!x.is_empty() && &x.graph() == &value.graph(), usage, "custom_gradient: an argument is not of the graph of the result");
    Graph& graph = value.graph();
    const Expr y(graph, graph.apply(Op::copy, value.dtype(), value.shape(), {{value.id(), identity_map(value.rank())}}));
    CustomGradient::attach(y, {xs, f_vjp});
    return y;
  };
}

}  // namespace weft
