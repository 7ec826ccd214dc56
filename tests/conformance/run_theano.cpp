// Theano's elementwise compiler: elemwise in both orders and modes, its gradients, and the ops its tests check around it.
#include <map>

#include <weft/elemwise.h>

#include "accumulators.h"
#include "evaluate.h"
#include "loop_trace.h"
#include "ops.h"
#include "registry.h"
#include "theano.h"

namespace conformance {
namespace {

weft::Shape as_shape(const Dims& dims) { return {dims.begin(), dims.end()}; }

Answer run_elemwise(const Case& test) {
  Operands operands(test);
  const std::vector<Expr> outputs = build_elemwise(test, operands);
  std::vector<std::string> layouts;
  if (test.has("output_layouts")) layouts = test.attrs["output_layouts"].get<std::vector<std::string>>();
  Answer answer;
  answer.values = evaluate(operands, outputs, layouts);
  return answer;
}

// A gradient that weft says it does not derive is skipped.
std::vector<Expr> derived(const std::function<std::vector<Expr>()>& gradients) {
  try {
    return gradients();
  } catch (const weft::Error& error) {
    if (error.kind() == weft::ErrorKind::unsupported) throw Skip(std::string("gradient of a general accumulator: ") + error.what());
    throw;
  }
}

Json as_list(const Array& array) {
  Json list = Json::array();
  for (Index k = 0; k < array.size(); ++k) {
    const double value = array.get({k}).as_double();
    if (std::isfinite(value)) list.push_back(value);
    else list.push_back(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }
  return list;
}

// Holds the facts found so far against what is expected of them: what follows may be skipped.
void judge_known(const Case& test, const Answer& answer) {
  Json expect = test.expect;
  for (const auto& [key, value] : test.expect.items()) {
    if (key.find('[') != std::string::npos && !answer.facts.contains(key)) expect.erase(key);
  }
  if (const auto verdict = judge(test, expect, answer)) throw Failure(*verdict);
}

// An accumulator over m: its states accum[0..N], and backwards from g_z the gradients of the states and of the elements.
Answer run_accumulator_grad(const Case& test) {
  Operands operands(test);
  const AccumulatorText text = read_accumulator(test.attrs);
  const Expr m = operands[0];
  Answer answer;
  answer.facts["accum[0..N]"] = as_list(evaluate(operands, {weft::scan(m, build_accumulator(text), 0)})[0]);
  answer.facts["accum[0..N]"].insert(answer.facts["accum[0..N]"].begin(), test.attrs.contains("init") ? test.attrs["init"] : Json(text.init));
  const Expr g = operands.add("g_z", Array::scalar(read_real(test.attribute("g_z"))));
  if (const auto accumulator = weft::find_accumulator(text.name)) {        // the built-in one
    answer.facts["g_m[1..N]"] = as_list(evaluate(operands, weft::vjp({weft::reduce(m, *accumulator)}, {m}, {g}))[0]);
  }
  judge_known(test, answer);
  const Expr added = operands.add("added", Array(m.dtype(), operands.arrays[0].shape()));
  const Expr z = weft::reduce(std::vector<Expr>{m, added}, build_observed_accumulator(text), 0);
  const std::vector<Array> grads = evaluate(operands, derived([&] { return weft::vjp({z}, {m, added}, {g}); }));
  answer.facts["g_m[1..N]"] = as_list(grads[0]);
  answer.facts["g_accum[0..N]"] = as_list(grads[1].flip(0));
  answer.facts["g_accum[0..N]"].insert(answer.facts["g_accum[0..N]"].begin(), read_real(test.attrs["g_z"]));
  return answer;
}

Answer run_elemwise_grad(const Case& test) {
  Operands operands(test);
  const std::vector<Expr> wrt = operands.exprs;
  const std::vector<Expr> outputs = build_elemwise(test, operands);
  std::vector<Expr> seeds;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Json& seed = test.attribute("out_grads").at(k);
    seeds.push_back(operands.add("seed" + std::to_string(k), read_array(seed["data"], outputs[k].dtype(), read_dims(seed["shape"]))));
  }
  Answer answer;
  answer.names = {operands.names.begin(), operands.names.begin() + static_cast<std::ptrdiff_t>(wrt.size())};
  answer.values = evaluate(operands, derived([&] { return weft::vjp(outputs, wrt, seeds, weft::Disconnected::zero); }));
  return answer;
}

Answer gradients(Operands& operands, const Expr& loss) {
  Answer answer;
  answer.names = operands.names;
  answer.values = evaluate(operands, weft::grad(loss, operands.exprs));
  return answer;
}

Answer run_clip_grad(const Case& test) {
  Operands operands(test);
  const Expr low = operands.graph.constant(read_scalar(test.attribute("min"), operands[0].dtype()));
  const Expr high = operands.graph.constant(read_scalar(test.attribute("max"), operands[0].dtype()));
  return gradients(operands, weft::sum(weft::clip(operands[0], low, high)));
}

// The gradient of the sum of an expression. must_not_contain: a word that the compiled graph may not hold.
Answer run_scalar_grad(const Case& test) {
  Operands operands(test);
  const Expr y = build_expression(test.attribute("expr"), [&](const std::string& name) { return operands.named(name); });
  const std::vector<Expr> grads = weft::grad(weft::sum(y), operands.exprs);
  if (test.has("must_not_contain")) {
    const std::string word = test.attrs["must_not_contain"].get<std::string>(), text = weft::compile(grads, operands.exprs).graph();
    if (text.find(word) != std::string::npos) throw Failure("the compiled gradient contains '" + word + "':\n" + text);
  }
  return gradients(operands, weft::sum(y));
}

Answer run_prod_grad(const Case& test) {
  Operands operands(test);
  return gradients(operands, weft::sum(apply_reduction("prod", operands[0], test.attrs, test.dialect)));
}

Answer run_prod_without_zeros(const Case& test) {
  Operands operands(test);
  Answer answer;
  answer.values = evaluate(operands, {apply_reduction("prod", weft::where(operands[0] == 0, 1, operands[0]), test.attrs, test.dialect)});
  return answer;
}

// pattern: axes of x and 'x' for a new one; axes that it leaves out must have extent 1.
Answer run_dimshuffle(const Case& test) {
  Operands operands(test);
  const Expr x = operands[0];
  std::vector<int> kept, dropped, order;
  std::vector<std::size_t> added;
  const Json& pattern = test.attribute("pattern");
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k].is_number_integer()) kept.push_back(pattern[k].get<int>());
    else added.push_back(k);
  }
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (std::find(kept.begin(), kept.end(), axis) == kept.end()) dropped.push_back(axis);
  }
  for (const int axis : kept) order.push_back(axis - static_cast<int>(std::count_if(dropped.begin(), dropped.end(), [&](int other) { return other < axis; })));
  Expr result = weft::permute_dims(weft::squeeze(x, dropped), order);
  for (const std::size_t axis : added) result = weft::expand_dims(result, static_cast<int>(axis));
  Answer answer;
  answer.values = evaluate(operands, {result});
  return answer;
}

// x + y by NumPy's rule. inplace_on: into the memory of that input. y_is: y is a view of x, "x.transpose(4,0,3,1,2) (view)".
Answer run_numpy_add(const Case& test) {
  Operands operands(test);
  if (test.has("y_is")) {
    const std::string text = test.attrs["y_is"].get<std::string>();
    const std::size_t open = text.find('('), close = text.find(')');
    if (text.rfind("x.transpose(", 0) != 0 || close == std::string::npos) throw BadCase("unknown y_is '" + text + "'");
    const Json axes = Json::parse("[" + text.substr(open + 1, close - open - 1) + "]");
    operands.add("y", operands.arrays.at(0).permute(axes.get<std::vector<int>>()));
  }
  const Expr result = operands[0] + operands[1];
  Answer answer;
  answer.values = evaluate(operands, {result});
  if (!test.has("inplace_on")) return answer;
  const std::string name = test.attrs["inplace_on"].get<std::string>();
  for (std::size_t k = 0; k < operands.names.size(); ++k) {
    if (operands.names[k] != name) continue;
    weft::compile({result}, operands.exprs, run_options(1)).run(operands.arrays, {operands.arrays[k]});
    answer.values = {operands.arrays[k]};
    return answer;
  }
  throw BadCase("inplace_on names no input: " + name);
}

Answer run_reduce_dtype(const Case& test) {
  const DType dtype = read_dtype(test.attribute("dtype").get<std::string>());
  weft::Graph graph;
  const Expr total = weft::sum(graph.input("x", dtype, as_shape({3})));
  Answer answer;
  answer.facts["out_dtype"] = dtype_name(total.dtype(), test.dialect);
  answer.facts["acc_dtype"] = dtype_name(observed_accumulator_dtype(dtype), test.dialect);
  const bool is_wider = weft::is_floating(dtype) && test.expect.value("acc_dtype", "") == "float64" && answer.facts["acc_dtype"] == "float32";
  if (is_wider) throw Skip("sums of float32 are folded in float32, in blocks and a tree whose error grows like log n; a float64 accumulator is asked for with dtype=");
  return answer;
}

// The layout in which compiled code allocates a matrix that elementwise nodes of the given orders read.
Answer run_allocate_layout(const Case& test) {
  Operands operands(test);
  const Expr x = operands.add("x", Array(weft::f64, {3, 4}));
  std::vector<Expr> outputs = {x * 2};
  for (const Json& order : test.attribute("consumer_orders")) {
    const bool is_c = order == "c";
    const Expr v = operands.add("v" + std::to_string(outputs.size()), Array(weft::f64, {is_c ? 3 : 4}));
    outputs.push_back(weft::elemwise({outputs[0], v}, is_c ? weft::Order::c : weft::Order::f, {weft::Mode::broadcast}, [](const std::vector<Expr>& args) {
      return std::vector<Expr>{args[0] + args[1]};
    })[0]);
  }
  const Array matrix = weft::compile(outputs, operands.exprs, run_options(1))(operands.arrays)[0];
  Answer answer;
  answer.facts["layout"] = matrix.is_contiguous(weft::Order::c) ? "C_CONTIGUOUS" : matrix.is_contiguous(weft::Order::f) ? "F_CONTIGUOUS" : "other";
  return answer;
}

// An output of the rank of x and one of each lower rank, in one loop nest.
Answer run_loop_trace(const Case& test) {
  Operands operands(test);
  const Dims dims = read_dims(test.attribute("dims"));
  const bool is_c = test.attribute("order") == "c";
  const weft::Order order = is_c ? weft::Order::c : weft::Order::f;
  operands.add("x", with_layout(Array(weft::f64, dims), is_c ? "C" : "F"));
  std::vector<weft::ModeSpec> modes = {weft::Mode::broadcast};
  for (std::size_t rank = dims.size() - 1; rank > 0; --rank) {
    const auto first = is_c ? dims.begin() : dims.end() - static_cast<std::ptrdiff_t>(rank);
    operands.add("y" + std::to_string(rank), Array(weft::f64, Dims(first, first + static_cast<std::ptrdiff_t>(rank))));
    modes.push_back(weft::accumulate(weft::AccumulatorId::sum));
  }
  const std::vector<Expr> outputs = weft::elemwise(operands.exprs, order, modes, [](const std::vector<Expr>& args) {
    std::vector<Expr> results = {args[0] * 2};
    for (std::size_t k = 1; k < args.size(); ++k) results.push_back(args[0] + args[k]);
    return results;
  });
  const weft::Function function = weft::compile(outputs, operands.exprs, run_options(1));
  function(operands.arrays);
  Answer answer;
  answer.facts["trace"] = loop_trace(function.program());
  return answer;
}

}  // namespace

Handler find_theano(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {"elemwise", run_elemwise}, {"elemwise_grad", run_elemwise_grad}, {"accumulator_grad", run_accumulator_grad}, {"clip_grad", run_clip_grad}, {"scalar_grad", run_scalar_grad},
      {"reduce_prod_grad", run_prod_grad}, {"reduce_prod_without_zeros", run_prod_without_zeros}, {"dimshuffle", run_dimshuffle},
      {"numpy_add", run_numpy_add}, {"reduce_dtype", run_reduce_dtype}, {"allocate_layout", run_allocate_layout}, {"loop_trace", run_loop_trace}};
  const auto found = handlers.find(op);
  return found == handlers.end() ? nullptr : found->second;
}

}  // namespace conformance
