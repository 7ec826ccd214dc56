// Reductions by name.
#include <map>

#include "ops.h"

namespace conformance {
namespace {

const std::map<std::string, std::string>& reduction_names() {
  static const std::map<std::string, std::string> names = {
      {"add", "sum"}, {"sum", "sum"}, {"mul", "prod"}, {"multiply", "prod"}, {"prod", "prod"}, {"product", "prod"}, {"max", "max"}, {"amax", "max"},
      {"maximum", "max"}, {"min", "min"}, {"amin", "min"}, {"minimum", "min"}, {"mean", "mean"}, {"average", "mean"}, {"all", "all"}, {"any", "any"},
      {"logicaland", "all"}, {"logicalor", "any"}, {"and", "bitwise_and"}, {"or", "bitwise_or"}, {"xor", "bitwise_xor"}, {"bitand", "bitwise_and"},
      {"bitor", "bitwise_or"}, {"bitxor", "bitwise_xor"}, {"bitwiseand", "bitwise_and"}, {"bitwiseor", "bitwise_or"}, {"bitwisexor", "bitwise_xor"},
      {"var", "var"}, {"std", "std"}, {"argmax", "argmax"}, {"argmin", "argmin"}, {"logsumexp", "logsumexp"}, {"norm", "norm"}, {"l2", "norm"},
      {"l1", "l1"}, {"sumsquare", "sumsquare"}, {"logsum", "logsum"}, {"countnonzero", "count_nonzero"}};
  return names;
}

// Names that are reductions without the prefix "reduce".
bool stands_alone(const std::string& plain) {
  static const char* const names[] = {"sum", "prod", "max", "min", "amax", "amin", "mean", "average", "all", "any", "var", "std", "argmax", "argmin",
                                      "logsumexp", "norm", "countnonzero"};
  for (const char* name : names) {
    if (plain == name) return true;
  }
  return false;
}

// ONNX: an empty list means all axes unless noop_with_empty_axes is set.
weft::Axes read_axes(const Json& attrs, const std::string& dialect) {
  for (const char* key : {"axis", "axes"}) {
    if (!attrs.contains(key) || attrs[key].is_null()) continue;
    std::vector<int> axes;
    for (const Index axis : read_indices(attrs[key])) axes.push_back(static_cast<int>(axis));
    const bool means_all = dialect == "onnx" && axes.empty() && attrs.value("noop_with_empty_axes", 0) == 0;
    return means_all ? weft::all_axes : weft::Axes(axes);
  }
  return weft::all_axes;
}

bool read_flag(const Json& attrs, const char* key, bool otherwise) {
  if (!attrs.contains(key) || attrs[key].is_null()) return otherwise;
  return attrs[key].is_boolean() ? attrs[key].get<bool>() : attrs[key].get<int>() != 0;
}

// By name, with options; mean and its kin too.
using Reduce = Expr (*)(const Expr&, const weft::Axes&, const weft::ReduceOptions&);
const std::map<std::string, Reduce>& reductions() {
  static const std::map<std::string, Reduce> functions = {
      {"sum", weft::sum}, {"prod", weft::prod}, {"max", weft::max}, {"min", weft::min}, {"any", weft::any}, {"all", weft::all},
      {"bitwise_or", weft::reduce_or}, {"bitwise_and", weft::reduce_and}, {"bitwise_xor", weft::reduce_xor}, {"mean", weft::mean},
      {"norm", weft::norm}, {"count_nonzero", weft::count_nonzero}, {"logsumexp", weft::logsumexp},
      {"l1", [](const Expr& x, const weft::Axes& axes, const weft::ReduceOptions& options) { return weft::sum(weft::abs(x), axes, options); }},
      {"sumsquare", [](const Expr& x, const weft::Axes& axes, const weft::ReduceOptions& options) { return weft::sum(weft::square(x), axes, options); }},
      {"logsum", [](const Expr& x, const weft::Axes& axes, const weft::ReduceOptions& options) { return weft::log(weft::sum(x, axes, options)); }}};
  return functions;
}

}  // namespace

std::optional<std::string> find_reduction(const std::string& name) {
  const std::string plain = plain_name(name);
  const bool has_prefix = plain.rfind("reduce", 0) == 0;
  if (!has_prefix && !stands_alone(plain)) return std::nullopt;
  const auto found = reduction_names().find(has_prefix ? plain.substr(6) : plain);
  return found == reduction_names().end() ? std::nullopt : std::optional(found->second);
}

Expr apply_reduction(const std::string& reduction, const Expr& x, const Json& attrs, const std::string& dialect, const std::optional<Expr>& mask) {
  const auto has = [&](const char* key) { return attrs.contains(key) && !attrs[key].is_null(); };
  const weft::Axes axes = read_axes(attrs, dialect);
  weft::ReduceOptions options;
  options.keepdims = read_flag(attrs, "keepdims", dialect == "onnx");
  if (has("dtype")) options.dtype = read_dtype(attrs["dtype"].get<std::string>());
  if (mask) options.where = *mask;
  if (has("initial")) {
    const Json& initial = attrs["initial"];
    if (initial.is_number_integer()) options.initial = weft::Value(initial.get<std::int64_t>());
    else if (initial.is_boolean()) options.initial = weft::Value(initial.get<bool>());
    else options.initial = weft::Value(read_real(initial));
  }
  const bool is_index = reduction == "argmax" || reduction == "argmin";
  const weft::Axes index_axes = is_index && dialect == "onnx" && !has("axis") ? weft::Axes(0) : axes;
  if (reduction == "argmax") return weft::argmax(x, index_axes, options.keepdims);
  if (reduction == "argmin") return weft::argmin(x, index_axes, options.keepdims);
  const double correction = has("correction") ? read_real(attrs["correction"]) : has("ddof") ? read_real(attrs["ddof"]) : 0;
  if (reduction == "var") return weft::var(x, axes, options, correction);
  if (reduction == "std") return weft::std(x, axes, options, correction);
  const bool is_bool = weft::is_boolean(x.dtype());
  const std::string name = is_bool && reduction == "max" ? "any" : is_bool && reduction == "min" ? "all" : reduction;
  const Expr result = reductions().at(name)(x, axes, options);
  return dialect == "onnx" ? weft::cast(result, x.dtype()) : result;           // ONNX keeps the dtype
}

}  // namespace conformance
