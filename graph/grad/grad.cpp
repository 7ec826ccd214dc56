#include <weft/grad.h>

#include <algorithm>

#include <weft/error.h>
#include <weft/expr.h>

#include "batch.h"
#include "needed.h"
#include "sweep.h"
#include "storage.h"

namespace weft {
namespace {

bool is_scalar_constant(const Node& node) { return node.kind == Kind::constant && std::holds_alternative<Scalar>(node.payload); }

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
  require_same_graph(what, ys[0].graph(), ys);
  require_same_graph(what, ys[0].graph(), xs);
  require_floating(what, ys);
  require_floating(what, xs);
  if (disconnected == Disconnected::error) require_connected(what, ys[0].graph(), ys, xs);
}

Adjoint adjoint_of(const Expr& value) {
  const Node& node = value.graph().node(value.id());
  if (is_scalar_constant(node)) return Adjoint{std::get<Scalar>(node.payload).as_double(), {}};
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
  WEFT_REQUIRE(!loss.is_empty(), usage, "grad: got an empty Expr");
  check("grad", {loss}, wrt, disconnected);
  WEFT_REQUIRE(loss.rank() == 0, usage, "grad: ", loss.name(), " has shape ", to_text(loss.shape()),
               ", and a loss has rank 0\n  sum it, or use vjp with a seed of that shape");
  return sweep({loss}, wrt, {Adjoint{1.0, {}}});
}

std::vector<Expr> vjp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& seeds, Disconnected disconnected) {
  WEFT_REQUIRE(!ys.empty() && seeds.size() == ys.size(), usage, "vjp: expected one seed for each y, got ", ys.size(), " ys and ", seeds.size(), " seeds");
  WEFT_REQUIRE(!ys[0].is_empty(), usage, "vjp: got an empty Expr");
  check("vjp", ys, xs, disconnected);
  require_same_graph("vjp", ys[0].graph(), seeds);
  std::vector<Adjoint> adjoints;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    WEFT_REQUIRE(seeds[k].shape() == ys[k].shape(), shape, "vjp: the seed ", seeds[k].name(), " has shape ", to_text(seeds[k].shape()), " but ", ys[k].name(),
                 " has shape ", to_text(ys[k].shape()));
    WEFT_REQUIRE(seeds[k].dtype() == ys[k].dtype(), dtype, "vjp: the seed ", seeds[k].name(), " is ", seeds[k].dtype(), " but ", ys[k].name(), " is ",
                 ys[k].dtype());
    adjoints.push_back(adjoint_of(seeds[k]));
  }
  return sweep(ys, xs, adjoints);
}

std::vector<Expr> jvp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& tangents, Disconnected disconnected) {
  WEFT_REQUIRE(!ys.empty() && !ys[0].is_empty(), usage, "jvp: expected at least one y");
  WEFT_REQUIRE(tangents.size() == xs.size(), usage, "jvp: expected one tangent for each x, got ", xs.size(), " xs and ", tangents.size(), " tangents");
  check("jvp", ys, xs, disconnected);
  Graph& graph = ys[0].graph();
  require_same_graph("jvp", graph, tangents);
  std::vector<NodeId> ids;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    WEFT_REQUIRE(tangents[k].shape() == xs[k].shape(), shape, "jvp: the tangent ", tangents[k].name(), " has shape ", to_text(tangents[k].shape()), " but ", xs[k].name(),
                 " has shape ", to_text(xs[k].shape()));
    WEFT_REQUIRE(tangents[k].dtype() == xs[k].dtype(), dtype, "jvp: the tangent ", tangents[k].name(), " is ", tangents[k].dtype(), " but ", xs[k].name(), " is ",
                 xs[k].dtype());
    ids.push_back(xs[k].id());
  }
  Sweep state(graph, ids);
  for (std::size_t k = 0; k < xs.size(); ++k) state.add(ids[k], adjoint_of(tangents[k]));
  std::vector<NodeId> wanted;
  for (const Expr& y : ys) wanted.push_back(y.id());
  state.run_up(wanted);
  std::vector<Expr> results;
  for (const Expr& y : ys) results.push_back(state.result(y.id()));
  return results;
}

std::vector<Expr> hvp(const Expr& loss, const std::vector<Expr>& wrt, const std::vector<Expr>& vs) {
  return jvp(grad(loss, wrt), wrt, vs, Disconnected::zero);
}

Expr jacobian(const Expr& y, const Expr& x) {
  WEFT_REQUIRE(!y.is_empty() && !x.is_empty(), usage, "jacobian: got an empty Expr");
  check("jacobian", {y}, {x}, Disconnected::error);
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

Expr hessian(const Expr& loss, const Expr& x) {
  const Expr gradient = grad(loss, {x})[0];
  if (needed_by(x.graph(), {gradient.id()})[x.id().value]) return jacobian(gradient, x);
  const Shape own = x.shape();                               // of what is linear in x
  Shape shape = own;
  shape.insert(shape.end(), own.begin(), own.end());
  return broadcast_to(x.graph().constant(Scalar::of(x.dtype(), 0.0)), shape);
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
