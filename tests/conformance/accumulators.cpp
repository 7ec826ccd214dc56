#include "accumulators.h"

#include "language.h"
#include "ops.h"

namespace conformance {

AccumulatorText named_accumulator(const std::string& name) {
  static const std::vector<AccumulatorText> known = {
      {"sum", 0, Json::parse(R"(["add", "c", "m"])")},
      {"prod", 1, Json::parse(R"(["mul", "c", "m"])")},
      {"sub", 0, Json::parse(R"(["sub", "c", "m"])")},
      {"horner", 0, Json::parse(R"(["add", ["mul", 0.5, "c"], "m"])")},
      {"mulplus", 1, Json::parse(R"(["add", ["mul", "c", "m"], "m"])")},
      {"sumsq", 0, Json::parse(R"(["add", "c", ["sqr", "m"]])")},
      {"logsumexp", -std::numeric_limits<double>::infinity(), "log(exp(c)+exp(m))"}};
  for (const AccumulatorText& each : known) {
    if (each.name == name) return each;
  }
  throw BadCase("nothing says what the accumulator '" + name + "' is");
}

AccumulatorText read_accumulator(const Json& attrs) {
  const std::string name = attrs.value("accumulator", "accumulator");
  if (!attrs.contains("step")) return named_accumulator(name);
  return {name, attrs.contains("init") ? read_real(attrs["init"]) : 0, attrs["step"]};
}

weft::Value step_of(const AccumulatorText& text, const Expr& state, const Expr& element) {
  const std::map<std::string, Expr> names = {{"c", state}, {"m", element}};
  if (text.step.is_string() && !names.count(text.step.get<std::string>())) return parse_formula(text.step.get<std::string>(), names);
  return build_expression(text.step, [&](const std::string& name) {
    const auto found = names.find(name);
    if (found == names.end()) throw BadCase("unknown name '" + name + "' in a step");
    return found->second;
  });
}

weft::Accumulator build_accumulator(const AccumulatorText& text) {
  return weft::Accumulator::fold(text.name, text.init, [text](const Expr& state, const Expr& element) { return step_of(text, state, element).expr(); });
}

weft::Accumulator build_observed_accumulator(const AccumulatorText& text) {
  return weft::Accumulator::fold(text.name, text.init, [text](const Expr& state, const Expr& element, const Expr& added) {
    return step_of(text, state + added, element).expr();
  });
}

}  // namespace conformance
