// Checks a graph against the reference on random arguments: what `weft check` does, and the arguments of `weft bench`.
//
//   int wrong = check_results(graph, {"loss"}, {}, {}, std::cout) + check_gradient(graph, {}, std::cout);
//
// One line per check, "ok" or "WRONG", with both values; the results count the wrong ones. Thread-safe for different
// graphs (check_gradient adds nodes). Cost: that of the interpreter on a few hundred thousand elements.
#pragma once
#include <iosfwd>
#include <random>
#include <vector>

#include <weft/options.h>
#include <weft/graph.h>

namespace weft {

// Floats in [0.25, 1.75), where most functions are smooth; integers 0..9. Each symbol gets a size of its own from `size`
// on, unless `sizes` has one.
std::vector<Array> random_inputs(const Graph& graph, const Bindings& sizes, Index size, std::mt19937& generator);

// Compiled, with every level verified, against the interpreter, at a few sizes. Floats may differ by 1000 epsilon of the
// largest element, others not at all; but for fast_math every bit is that of the interpreter with the functions of compiled code. Sizes that the
// graph does not take must be refused by both. names: of the outputs.
int check_results(const Graph& graph, const std::vector<std::string>& names, const Bindings& sizes, const Options& options, std::ostream& out);

// The gradient of the first output in all float inputs, along a random direction, against differences of the interpreter.
// Says so and counts 0 if the first output is no float scalar of float inputs.
int check_gradient(Graph& graph, const Bindings& sizes, std::ostream& out);

}  // namespace weft
