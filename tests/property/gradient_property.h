// Gradients of random graphs against central differences, their derivatives too, forward mode against reverse mode: see
// check_gradient.
#pragma once
#include <cmath>
#include <optional>
#include <set>

#include "compiled_property.h"
#include "gradient_coverage.h"

// A scalar function of the inputs along a line: inputs + t * direction (f64 inputs only).
class Line {
 public:
  Line(const weft::Expr& loss, const std::vector<weft::Array>& inputs, const std::vector<weft::Array>& directions)
      : loss_(loss), inputs_(inputs), directions_(directions) {}

  double operator()(double t) const {
    std::vector<weft::Array> moved;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      moved.push_back(inputs_[k].copy());
      if (inputs_[k].dtype() != weft::f64) continue;
      auto* to = static_cast<double*>(moved[k].View::data());
      const auto* by = static_cast<const double*>(directions_[k].View::data());
      for (weft::Index e = 0; e < moved[k].size(); ++e) to[e] += t * by[e];
    }
    const weft::Graph& graph = loss_.graph();
    return interpret(graph, {loss_.id()}, graph.inputs, moved).at(0).at<double>({});
  }

  // The derivative at 0, of order h^4; none where the function has a kink or bends too much to tell.
  std::optional<double> derivative(double scale) const {
    const double middle = (*this)(0), h = 2e-4;
    const auto sides = [&](double step) { return std::pair((*this)(step), (*this)(-step)); };
    const auto [r1, l1] = sides(h);
    const auto [r2, l2] = sides(h / 2);
    const auto [r3, l3] = sides(h / 4);
    const double d1 = (r1 - l1) / (2 * h), d2 = (r2 - l2) / h, d3 = (r3 - l3) / (h / 2);
    const double fine = (4 * d3 - d2) / 3, coarse = (4 * d2 - d1) / 3;
    // (right - 2 middle + left) / h is the jump of the slope plus the curvature times h: extrapolated to h = 0.
    const double bend2 = 2 * (r2 - 2 * middle + l2) / h, bend3 = 4 * (r3 - 2 * middle + l3) / h, jump = 2 * bend3 - bend2;
    const double small = 1e-6 * scale;
    if (!(std::abs(fine - coarse) <= 1e-2 * small + 1e-7 * std::abs(fine))) return {};      // a kink near by, or NaN
    if (!(std::abs(jump) <= 0.1 * small)) return {};                                         // a kink right here
    return fine;
  }

 private:
  weft::Expr loss_;
  const std::vector<weft::Array>& inputs_;
  const std::vector<weft::Array>& directions_;
};

inline bool is_moderate(const weft::Graph& graph, const std::vector<weft::NodeId>& outputs, const std::vector<weft::Array>& inputs, double most) {
  const auto live = live_nodes(graph, outputs);
  for (const weft::Array& value : interpret(graph, live, graph.inputs, inputs)) {
    bool moderate = true;
    if (!is_floating(value.dtype())) continue;
    for_each_element(value.shape(), [&](const weft::Dims& index) {          // infinity starts a maximum over what a mask selects
      const double size = std::abs(value.get(index).as_double());
      moderate = moderate && (size <= most || std::isinf(size));
    });
    if (!moderate) return false;
  }
  return true;
}

struct GradientCount {
  int checked = 0, skipped = 0, transposed = 0, hessians = 0;
  std::set<std::string> keys = {};                           // what some compared derivative passes through
};

// Along random lines: what the gradient says against what differences say.
inline std::string check_directions(const weft::Expr& loss, const std::vector<weft::Expr>& wrt, const std::vector<weft::Expr>& gradient,
                                    const std::vector<weft::Array>& inputs, RandomSource& random, GradientCount& count) {
  using namespace weft;
  const Graph& graph = loss.graph();
  std::vector<NodeId> ids;
  for (const Expr& g : gradient) ids.push_back(g.id());
  const std::vector<Array> values = interpret(graph, ids, graph.inputs, inputs);
  for (int line = 0; line < 3; ++line) {
    std::vector<Array> directions;
    for (const Array& input : inputs) {
      Array direction(f64, input.shape());
      auto* to = static_cast<double*>(direction.View::data());
      for (Index e = 0; e < direction.size(); ++e) to[e] = random.chance(50) ? 1 : -1;
      if (line > 0 && direction.size() > 0) {       // one element
        const double kept = to[0];
        std::fill(to, to + direction.size(), 0.0);
        to[random.small(static_cast<std::uint64_t>(direction.size()))] = kept;
      }
      directions.push_back(direction);
    }
    double expected = 0, scale = 1e-3;
    for (std::size_t k = 0; k < wrt.size(); ++k) {
      std::size_t position = 0;
      while (graph.inputs[position] != wrt[k].id()) ++position;
      for_each_element(values[k].shape(), [&](const Dims& index) {
        const double term = values[k].get(index).real() * directions[position].get(index).real();
        expected += term;
        scale += std::abs(term);
      });
    }
    const auto got = Line(loss, inputs, directions).derivative(scale);
    if (!got) {
      ++count.skipped;
      continue;
    }
    ++count.checked;
    if (!(std::abs(*got - expected) <= 1e-6 * std::max(scale, std::abs(*got))))
      return concat("line ", line, ": the gradient gives ", to_text(Scalar(expected)), ", differences give ", to_text(Scalar(*got)));
  }
  return "";
}

// The sum of all float outputs, weighted: sums of softmax and the like would otherwise have no gradient.
inline weft::Expr random_loss(weft::Graph& graph, RandomSource& random) {
  using namespace weft;
  Expr loss = graph.constant(Scalar(0.5));
  for (NodeId id : graph.outputs) {
    const Expr y(graph, id);
    if (y.dtype() != f64) continue;
    const double a = random.uniform() - 0.5, b = random.uniform() * 3;
    loss = loss + (random.chance(50) ? a * sum(y * cos(y * b)) : a * sum(sin(y + b)));
  }
  return loss;
}

// An input for each of `like`, of its shape, and random numbers for it.
inline std::vector<weft::Expr> random_inputs(weft::Graph& graph, const char* prefix, const std::vector<weft::Expr>& like, std::vector<weft::Array>& inputs, RandomSource& random) {
  using namespace weft;
  const Bindings sizes = bind_symbols(graph, graph.inputs, inputs);
  std::vector<Expr> made;
  for (const Expr& e : like) {
    const Dims shape = evaluate(e.shape(), sizes);
    made.push_back(graph.input(concat(prefix, graph.inputs.size()), f64, e.shape()));
    inputs.push_back(random_array(random, f64, shape, Data::reals, 0));
  }
  return made;
}

// The sum of products, and of their magnitudes.
inline std::pair<double, double> dot(const std::vector<weft::Array>& a, const std::vector<weft::Array>& b) {
  double sum = 0, magnitude = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    for_each_element(a[k].shape(), [&](const weft::Dims& index) {
      const double term = a[k].get(index).real() * b[k].get(index).real();
      sum += term;
      magnitude += std::abs(term);
    });
  return {sum, magnitude};
}

// <u, J t> by forward mode and <J^T u, t> by reverse mode.
inline std::string check_transposed(weft::Graph& graph, const std::vector<weft::Expr>& ys, const std::vector<weft::Expr>& xs, std::vector<weft::Array>& inputs,
                                    RandomSource& random, GradientCount& count, std::vector<weft::NodeId>& made) {
  using namespace weft;
  const std::size_t before = inputs.size();
  const std::vector<Expr> us = random_inputs(graph, "u", ys, inputs, random), ts = random_inputs(graph, "t", xs, inputs, random);
  const std::vector<Array> u(inputs.begin() + static_cast<std::ptrdiff_t>(before), inputs.begin() + static_cast<std::ptrdiff_t>(before + us.size()));
  const std::vector<Array> t(inputs.begin() + static_cast<std::ptrdiff_t>(before + us.size()), inputs.end());
  const std::vector<Expr> forward = jvp(ys, xs, ts, Disconnected::zero), reverse = vjp(ys, xs, us, Disconnected::zero);
  for (const Expr& each : forward) made.push_back(each.id());
  for (const Expr& each : reverse) made.push_back(each.id());
  const auto [left, left_size] = dot(interpret(graph, std::vector<NodeId>(made.end() - static_cast<std::ptrdiff_t>(xs.size() + ys.size()), made.end() - static_cast<std::ptrdiff_t>(xs.size())), graph.inputs, inputs), u);
  const auto [right, right_size] = dot(interpret(graph, std::vector<NodeId>(made.end() - static_cast<std::ptrdiff_t>(xs.size()), made.end()), graph.inputs, inputs), t);
  ++count.transposed;
  if (std::abs(left - right) <= 1e-12 * std::max(left_size + right_size, 0.1)) return "";      // values of size 1 may cancel to roundings
  return concat("<u, J t> is ", to_text(Scalar(left)), " by forward mode, <J^T u, t> ", to_text(Scalar(right)), " by reverse mode, magnitudes ", left_size, " and ", right_size);
}

// The Hessian by an x of a few elements: symmetric, and hvp is its product with t.
inline std::string check_hessian(const weft::Expr& loss, const weft::Expr& x, std::vector<weft::Array>& inputs, RandomSource& random, GradientCount& count) {
  using namespace weft;
  Graph& graph = loss.graph();
  const Expr t = random_inputs(graph, "v", {x}, inputs, random)[0], matrix = hessian(loss, x), product = hvp(loss, {x}, {t})[0];
  const std::vector<Array> values = interpret(graph, {matrix.id(), product.id()}, graph.inputs, inputs);
  const Index size = inputs.back().size();
  const auto flat = [](const Array& array) {
    std::vector<double> all;
    for_each_element(array.shape(), [&](const Dims& index) { all.push_back(array.get(index).real()); });
    return all;
  };
  const std::vector<double> h = flat(values[0]), hv = flat(values[1]), v = flat(inputs.back());
  double most = 0.01;                                         // values of size 1 may cancel to roundings
  for (double each : h) most = std::max(most, std::abs(each));
  ++count.hessians;
  for (Index i = 0; i < size; ++i) {
    double expected = 0;
    for (Index j = 0; j < size; ++j) {
      const double here = h[static_cast<std::size_t>(i * size + j)], there = h[static_cast<std::size_t>(j * size + i)];
      expected += here * v[static_cast<std::size_t>(j)];
      if (!(std::abs(here - there) <= 1e-10 * most)) return concat("the Hessian is ", here, " at ", i, ", ", j, " and ", there, " at ", j, ", ", i);
    }
    if (!(std::abs(expected - hv[static_cast<std::size_t>(i)]) <= 1e-10 * most)) return concat("hvp gives ", hv[static_cast<std::size_t>(i)], " at ", i, ", the Hessian ", expected);
  }
  return "";
}

// Compiled derivatives are those interpreted.
inline std::string check_compiled_derivatives(weft::Graph& graph, const std::vector<weft::NodeId>& ids, const std::vector<weft::Array>& inputs) {
  using namespace weft;
  graph.outputs = ids;
  const Function f = compile(graph, {.threads = 2, .executor = std::make_shared<HostileExecutor>(), .verify = true, .trace = ""});
  const Graph& last = f.final_graph(inputs);
  const std::vector<Array> expected = interpret(graph, ids, graph.inputs, inputs), got = f(inputs), passed = interpret(last, last.outputs, last.inputs, inputs);
  for (std::size_t k = 0; k < got.size(); ++k) {
    double most = 1, apart = 0, moved = 0;
    for_each_element(got[k].shape(), [&](const Dims& index) {
      most = std::max(most, std::abs(expected[k].get(index).real()));
      apart = std::max(apart, std::abs(got[k].get(index).real() - passed[k].get(index).real()));
      moved = std::max(moved, std::abs(passed[k].get(index).real() - expected[k].get(index).real()));
    });
    if (!(apart <= 1e-9 * most)) return concat("output ", k, ": compiled and interpreted differ by ", apart, "\nfinal ", to_text(last));
    if (!(moved <= 1e-9 * most)) return concat("output ", k, ": passes move values by ", moved, "\nfinal ", to_text(last));
  }
  return "";
}

// First derivatives, and forward mode against reverse mode; if `twice` second ones through a directional derivative, and
// the Hessian of a small input. Compiled derivatives are those interpreted.
inline std::string check_gradient(RandomCase c, std::uint64_t seed, bool twice, bool compiled, GradientCount& count) {
  using namespace weft;
  SeededSource random(seed ^ 0x97ad);
  try {
    Graph& graph = c.graph;
    const Expr loss = random_loss(graph, random);
    if (!is_moderate(graph, {loss.id()}, c.inputs, 1e3)) { ++count.skipped; return ""; }
    std::vector<Expr> wrt, ys;
    std::vector<NodeId> wrt_ids;
    for (NodeId id : graph.inputs)
      if (graph.node(id).dtype == f64) wrt.emplace_back(graph, id), wrt_ids.push_back(id);
    for (NodeId id : graph.outputs)
      if (graph.node(id).dtype == f64) ys.emplace_back(graph, id);
    const std::set<std::string> keys = gradient_keys(c, graph, loss.id(), wrt_ids);
    std::vector<Expr> gradient = grad(loss, wrt, Disconnected::zero);
    std::vector<NodeId> ids{loss.id()};
    for (const Expr& g : gradient) ids.push_back(g.id());
    if (std::string text = check_directions(loss, wrt, gradient, c.inputs, random, count); !text.empty()) return text;
    if (count.checked > 0) count.keys.insert(keys.begin(), keys.end());
    Expr directional = graph.constant(Scalar(0.0));
    const bool moderate = twice && is_moderate(graph, ids, c.inputs, 1e4);
    if (moderate) {
      for (const Expr& g : gradient) directional = directional + sum(g * (random.uniform() * 2 - 1));
      const std::vector<Expr> second = grad(directional, wrt, Disconnected::zero);
      if (std::string text = check_directions(directional, wrt, second, c.inputs, random, count); !text.empty()) return "second derivative, " + text;
      for (const Expr& g : second) ids.push_back(g.id());
    }
    if (!ys.empty())
      if (std::string text = check_transposed(graph, ys, wrt, c.inputs, random, count, ids); !text.empty()) return text;
    const std::vector<Index> sizes = [&] {
      std::vector<Index> list;
      for (const Expr& x : wrt) list.push_back(c.inputs[static_cast<std::size_t>(std::find(graph.inputs.begin(), graph.inputs.end(), x.id()) - graph.inputs.begin())].size());
      return list;
    }();
    for (std::size_t k = 0; moderate && k < wrt.size(); ++k)
      if (sizes[k] > 0 && sizes[k] <= 6 && reads(graph, loss.id(), wrt_ids[k]))
        if (std::string text = check_hessian(loss, wrt[k], c.inputs, random, count); !text.empty()) return text;
    graph.outputs = ids;
    verify(graph);
    if (std::string text = check_text(graph); !text.empty()) return text;
    return compiled ? check_compiled_derivatives(graph, ids, c.inputs) : "";
  } catch (const std::exception& error) {
    return error.what();
  }
}
