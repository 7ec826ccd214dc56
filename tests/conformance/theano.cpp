#include "theano.h"

#include <algorithm>
#include <cmath>

#include <weft/elemwise.h>

#include "accumulators.h"
#include "ops.h"

namespace conformance {
namespace {

weft::ModeSpec read_mode(const Json& mode) {
  if (mode == "broadcast") return weft::Mode::broadcast;
  if (!mode.is_object() || !mode.contains("accumulate")) throw BadCase("unknown mode " + mode.dump());
  const Json& what = mode["accumulate"];
  if (what.is_object()) return weft::accumulate(build_accumulator(read_accumulator(what)));
  const std::string name = what.get<std::string>();
  if (const auto accumulator = weft::find_accumulator(name)) return weft::accumulate(*accumulator);
  return weft::accumulate(build_accumulator(named_accumulator(name)));
}

}  // namespace

std::vector<Expr> build_elemwise(const Case& test, Operands& operands) {
  const std::string order = test.attribute("order").get<std::string>();
  if (order != "c" && order != "f") throw BadCase("unknown order '" + order + "'");
  const Json& outputs = test.attribute("outputs");
  std::vector<weft::ModeSpec> modes;
  for (const Json& output : outputs) modes.push_back(read_mode(output.at("mode")));
  return weft::elemwise(operands.exprs, order == "c" ? weft::Order::c : weft::Order::f, modes, [&](const std::vector<Expr>& args) {
    std::vector<Expr> results;
    for (const Json& output : outputs) {
      results.push_back(build_expression(output.at("expr"), [&](const std::string& name) {
        const auto found = std::find(operands.names.begin(), operands.names.end(), name);
        if (found == operands.names.end()) throw BadCase("no input is named '" + name + "'");
        return args.at(static_cast<std::size_t>(found - operands.names.begin()));
      }));
    }
    return results;
  });
}

DType observed_accumulator_dtype(DType dtype) {
  weft::Graph graph;
  const Expr x = graph.input("x", dtype, {3}), total = weft::sum(x);
  if (!weft::is_floating(dtype)) return total.dtype();             // integers wrap in the dtype of the result
  const weft::Function function = weft::compile({total}, {x}, run_options(1));
  const auto survives = [&](double large, double small) {          // in every order
    std::vector<double> terms = {-large, small, large};
    std::sort(terms.begin(), terms.end());
    do {
      Array array(dtype, {3});
      for (Index k = 0; k < 3; ++k) array.set({k}, weft::Scalar::of(dtype, terms[static_cast<std::size_t>(k)]));
      if (function({array})[0].get({}).as_double() != small) return false;
    } while (std::next_permutation(terms.begin(), terms.end()));
    return true;
  };
  if (survives(std::ldexp(1, 15), std::ldexp(1, -14))) return weft::f64;   // 30 bits
  return survives(std::ldexp(1, 14), std::ldexp(1, 0)) ? weft::f32 : dtype;  // 15 bits
}

}  // namespace conformance
