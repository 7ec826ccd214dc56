// Gradients of random graphs against central differences, and their derivatives too: see check_gradient.
#pragma once
#include <cmath>
#include <optional>

#include "compiled_property.h"

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
    for_each_element(value.shape(), [&](const weft::Dims& index) { moderate = moderate && std::abs(value.get(index).as_double()) <= most; });
    if (!moderate) return false;
  }
  return true;
}

struct GradientCount {
  int checked = 0, skipped = 0;
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

// First derivatives; second ones through a directional derivative if `twice`. Compiled gradients are those interpreted.
inline std::string check_gradient(RandomCase c, std::uint64_t seed, bool twice, bool compiled, GradientCount& count) {
  using namespace weft;
  SeededSource random(seed ^ 0x97ad);
  try {
    Graph& graph = c.graph;
    const Expr loss = random_loss(graph, random);
    if (!is_moderate(graph, {loss.id()}, c.inputs, 1e3)) { ++count.skipped; return ""; }
    std::vector<Expr> wrt;
    for (NodeId id : graph.inputs) if (graph.node(id).dtype == f64) wrt.emplace_back(graph, id);
    std::vector<Expr> gradient = grad(loss, wrt, Disconnected::zero);
    std::vector<NodeId> ids{loss.id()};
    for (const Expr& g : gradient) ids.push_back(g.id());
    if (std::string text = check_directions(loss, wrt, gradient, c.inputs, random, count); !text.empty()) return text;
    Expr directional = graph.constant(Scalar(0.0));
    if (twice && is_moderate(graph, ids, c.inputs, 1e4)) {
      for (const Expr& g : gradient) directional = directional + sum(g * (random.uniform() * 2 - 1));
      const std::vector<Expr> second = grad(directional, wrt, Disconnected::zero);
      if (std::string text = check_directions(directional, wrt, second, c.inputs, random, count); !text.empty()) return "second derivative, " + text;
      for (const Expr& g : second) ids.push_back(g.id());
    }
    graph.outputs = ids;
    verify(graph);
    if (std::string text = check_text(graph); !text.empty()) return text;
    if (!compiled) return "";
    const Function f = compile(graph, {.threads = 2, .executor = std::make_shared<HostileExecutor>(), .verify = true, .trace = ""});
    const Graph& last = f.final_graph(c.inputs);
    const std::vector<Array> expected = interpret(graph, ids, graph.inputs, c.inputs), got = f(c.inputs), passed = interpret(last, last.outputs, last.inputs, c.inputs);
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
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}
