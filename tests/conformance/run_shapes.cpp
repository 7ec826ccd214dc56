// Scans and functions of shape, by their Array API and NumPy names.
#include <map>

#include "evaluate.h"
#include "ops.h"
#include "registry.h"

namespace conformance {
namespace {

Answer value(const Operands& operands, const Expr& output) {
  Answer answer;
  answer.values = evaluate(operands, {output});
  return answer;
}

// `axis` or `axes`; `otherwise` if neither is given.
std::vector<int> axes_of(const Case& test, const std::vector<int>& otherwise = {}) {
  for (const char* key : {"axis", "axes", "perm"}) {
    if (!test.has(key)) continue;
    std::vector<int> axes;
    for (const Index axis : read_indices(test.attrs[key])) axes.push_back(static_cast<int>(axis));
    return axes;
  }
  return otherwise;
}

int axis_of(const Case& test, int otherwise) {
  const std::vector<int> axes = axes_of(test, {otherwise});
  if (axes.size() != 1) throw BadCase("op " + test.op + " takes one axis");
  return axes[0];
}

using Scan = Expr (*)(const Expr&, std::optional<int>, weft::ScanOptions);
template <Scan scan> Answer run_scan(const Case& test) {
  const Operands operands(test);
  weft::ScanOptions options;
  if (test.has("dtype")) options.dtype = read_dtype(test.attrs["dtype"].get<std::string>());
  options.reverse = test.has("reverse") && test.attrs["reverse"] != 0 && test.attrs["reverse"] != false;
  options.include_initial = test.has("include_initial") && test.attrs["include_initial"] == true;
  const std::vector<int> axes = axes_of(test);
  return value(operands, scan(operands[0], axes.empty() ? std::nullopt : std::optional(axes[0]), options));
}

Answer run_permute(const Case& test) {
  const Operands operands(test);
  const std::vector<int> axes = axes_of(test);
  return value(operands, axes.empty() ? weft::transpose(operands[0]) : weft::permute_dims(operands[0], axes));
}
Answer run_flip(const Case& test) {
  const Operands operands(test);
  return value(operands, test.has("axis") || test.has("axes") ? weft::flip(operands[0], axes_of(test)) : weft::flip(operands[0]));
}
Answer run_squeeze(const Case& test) {
  const Operands operands(test);
  return value(operands, test.has("axis") || test.has("axes") ? weft::squeeze(operands[0], axes_of(test)) : weft::squeeze(operands[0]));
}
Answer run_expand_dims(const Case& test) {
  const Operands operands(test);
  return value(operands, weft::expand_dims(operands[0], axis_of(test, 0)));
}
Answer run_reshape(const Case& test) {
  const Operands operands(test);
  const Dims dims = read_indices(test.attribute("shape"));
  return value(operands, weft::reshape(operands[0], {dims.begin(), dims.end()}));
}
Answer run_concat(const Case& test) {
  const Operands operands(test);
  return value(operands, weft::concat(operands.exprs, axis_of(test, 0)));
}
Answer run_stack(const Case& test) {
  const Operands operands(test);
  return value(operands, weft::stack(operands.exprs, axis_of(test, 0)));
}

}  // namespace

Handler find_shapes(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {"cumulativesum", run_scan<weft::cumulative_sum>}, {"cumsum", run_scan<weft::cumulative_sum>}, {"cumulativeprod", run_scan<weft::cumulative_prod>},
      {"cumprod", run_scan<weft::cumulative_prod>}, {"cumulativemax", run_scan<weft::cumulative_max>}, {"cumulativemin", run_scan<weft::cumulative_min>},
      {"permutedims", run_permute}, {"transpose", run_permute}, {"flip", run_flip}, {"squeeze", run_squeeze}, {"expanddims", run_expand_dims},
      {"reshape", run_reshape}, {"concat", run_concat}, {"concatenate", run_concat}, {"stack", run_stack}};
  const auto found = handlers.find(plain_name(op));
  return found == handlers.end() ? nullptr : found->second;
}

}  // namespace conformance
