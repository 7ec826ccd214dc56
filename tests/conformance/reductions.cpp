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

weft::Axes read_axes(const Json& attrs) {
  for (const char* key : {"axis", "axes"}) {
    if (!attrs.contains(key) || attrs[key].is_null()) continue;
    std::vector<int> axes;
    for (const Index axis : read_indices(attrs[key])) axes.push_back(static_cast<int>(axis));
    return axes;
  }
  return weft::all_axes;
}

bool read_flag(const Json& attrs, const char* key, bool otherwise) {
  if (!attrs.contains(key) || attrs[key].is_null()) return otherwise;
  return attrs[key].is_boolean() ? attrs[key].get<bool>() : attrs[key].get<int>() != 0;
}

Expr plain_reduction(const std::string& name, const Expr& x, const weft::Axes& axes, bool keepdims, const Json& attrs) {
  const bool has_dtype = attrs.contains("dtype") && attrs["dtype"].is_string();
  const double correction = attrs.contains("correction") ? read_real(attrs["correction"]) : attrs.contains("ddof") ? read_real(attrs["ddof"]) : 0;
  if (name == "sum") return has_dtype ? weft::sum(x, axes, keepdims, read_dtype(attrs["dtype"])) : weft::sum(x, axes, keepdims);
  if (name == "prod") return has_dtype ? weft::prod(x, axes, keepdims, read_dtype(attrs["dtype"])) : weft::prod(x, axes, keepdims);
  if (name == "max") return weft::max(x, axes, keepdims);
  if (name == "min") return weft::min(x, axes, keepdims);
  if (name == "mean") return weft::mean(x, axes, keepdims);
  if (name == "all") return weft::all(x, axes, keepdims);
  if (name == "any") return weft::any(x, axes, keepdims);
  if (name == "var") return weft::var(x, axes, keepdims, correction);
  if (name == "std") return weft::std(x, axes, keepdims, correction);
  if (name == "logsumexp") return weft::logsumexp(x, axes, keepdims);
  if (name == "norm") return weft::norm(x, axes, keepdims);
  if (name == "l1") return weft::sum(weft::abs(x), axes, keepdims);
  if (name == "sumsquare") return weft::sum(weft::square(x), axes, keepdims);
  if (name == "logsum") return weft::log(weft::sum(x, axes, keepdims));
  if (name == "count_nonzero") return weft::count_nonzero(x, axes, keepdims);
  if (const auto accumulator = weft::find_accumulator("reduce_" + name.substr(8)); accumulator && name.rfind("bitwise_", 0) == 0) return weft::reduce(x, *accumulator, axes, keepdims);
  throw Failure("weft has no reduction " + name);
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
  const bool keepdims = read_flag(attrs, "keepdims", dialect == "onnx");
  const weft::Axes axes = read_axes(attrs);
  const bool has_initial = attrs.contains("initial") && !attrs["initial"].is_null();
  if (has_initial || mask) throw Failure("where and initial of reductions are not connected yet");
  return plain_reduction(reduction, x, axes, keepdims, attrs);
}

}  // namespace conformance
