#include "answer.h"

#include <cctype>
#include <cmath>
#include <set>

#include "compare.h"

namespace conformance {
namespace {

using Verdict = std::optional<std::string>;

Verdict differs(const std::string& what, const Json& expected, const Json& got) {
  return what + ": expected " + expected.dump() + ", got " + got.dump();
}

// JSON against JSON; floats within the tolerance of f64 or the case's own.
bool equal_facts(const Json& expected, const Json& got, const Tolerance& tolerance) {
  if (expected.is_array() && got.is_array()) {
    if (expected.size() != got.size()) return false;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (!equal_facts(expected[k], got[k], tolerance)) return false;
    }
    return true;
  }
  const auto is_real = [](const Json& json) { return json.is_number_float() || (json.is_string() && json.get<std::string>().find_first_of("nN") != std::string::npos); };
  if ((expected.is_number() || is_real(expected)) && (got.is_number() || is_real(got)) && (is_real(expected) || is_real(got))) {
    try {
      return close(read_real(expected), read_real(got), tolerance);
    } catch (const BadCase&) {                 // a word, not a number
    }
  }
  return expected == got;
}

Verdict judge_value(const Case& test, const Json& expect, const std::string& what, const Array& value, const Json& facts) {
  if (expect.contains("shape")) {
    const Json got = facts.contains("shape") ? facts["shape"] : Json(value.shape());
    if (expect["shape"] != got) return differs(what + "shape", expect["shape"], got);
  }
  if (expect.contains("dtype")) {
    const Json got = facts.contains("dtype") ? facts["dtype"] : Json(dtype_name(value.dtype(), test.dialect));
    const bool same = got == expect["dtype"] || (!facts.contains("dtype") && read_dtype(expect["dtype"].get<std::string>()) == value.dtype());
    if (!same) return differs(what + "dtype", expect["dtype"], got);
  }
  if (!expect.contains("data") || expect["data"].is_null()) return std::nullopt;
  const auto verdict = compare(expect["data"], value, tolerance_of(expect, test.attrs, value.dtype()));
  if (!verdict) return std::nullopt;
  return what + *verdict + " in " + show(value);
}

Verdict judge_list(const Case& test, const Json& expect, const char* key, const Answer& answer) {
  const Json& list = expect[key];
  if (!list.is_array()) return std::string(key) + " is not a list";
  for (std::size_t k = 0; k < list.size(); ++k) {
    Json each = list[k];
    std::size_t which = k;
    std::string what = "output " + std::to_string(k) + ": ";
    if (each.contains("wrt")) {
      what = "gradient of " + each["wrt"].dump() + ": ";
      for (which = 0; which < answer.names.size() && Json(answer.names[which]) != each["wrt"];) ++which;
    }
    if (which >= answer.values.size()) return what + "missing";
    for (const char* inherited : {"tol", "compare"}) {
      if (expect.contains(inherited) && !each.contains(inherited)) each[inherited] = expect[inherited];
    }
    if (auto verdict = judge_value(test, each, what, answer.values[which], Json::object())) return verdict;
  }
  if (std::string(key) == "outputs" && list.size() != answer.values.size()) {
    return "expected " + std::to_string(list.size()) + " outputs, got " + std::to_string(answer.values.size());
  }
  return std::nullopt;
}

bool is_about_values(const std::string& key) { return key == "shape" || key == "dtype" || key == "data"; }
bool is_about_comparing(const std::string& key) {
  static const std::set<std::string> keys = {"tol", "rtol", "tolerance", "compare", "allowed", "note", "profile", "wrt", "name"};
  return keys.count(key) != 0;
}

// Is `word` in `text` with no letter or digit beside it?
bool mentions(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto is_part = [&](std::size_t k) { return k < text.size() && std::isalnum(static_cast<unsigned char>(text[k])); };
    if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

void collect_words(const Json& json, std::set<std::string>& words) {
  if (json.is_structured()) {
    for (const Json& each : json) collect_words(each, words);
  } else if (json.is_number_integer()) {
    words.insert(json.dump());
  } else if (json.is_string()) {
    words.insert(json.get<std::string>());
  }
}

// What a message may name: extents, ranks, dtypes, numbers of the attributes. Every message about a case without any will do.
std::set<std::string> offending_values(const Case& test) {
  std::set<std::string> words;
  for (const Input& input : test.inputs) {
    for (const Index size : input.shape) words.insert(std::to_string(size));
    words.insert(std::to_string(input.shape.size()));
    const DType dtype = read_dtype(input.dtype);
    words.insert({input.dtype, weft::to_text(dtype), dtype_name(dtype, test.dialect)});
  }
  Json attrs = test.attrs;
  for (const char* other : {"dialect", "profile"}) attrs.erase(other);
  collect_words(attrs, words);
  if (test.attrs.contains("target_shape_dtype") || test.attrs.contains("axes_mapping_dtype")) {
    for (const char* key : {"target_shape_dtype", "axes_mapping_dtype"}) {
      if (test.attrs.contains(key)) words.insert(weft::to_text(read_dtype(test.attrs[key].get<std::string>())));
    }
  }
  if (test.attrs.contains("dtypes")) {
    for (const Json& dtype : test.attrs["dtypes"]) words.insert(weft::to_text(read_dtype(dtype.get<std::string>())));
  }
  return words;
}

}  // namespace

Verdict judge(const Case& test, const Json& expect, const Answer& answer) {
  if (expect.contains("error")) {
    return "expected an error (" + expect["error"].dump() + "), got " + (answer.values.empty() ? answer.facts.dump() : show(answer.values[0]));
  }
  bool expects_values = false;
  for (const auto& [key, expected] : expect.items()) {
    if (is_about_comparing(key)) continue;
    if (is_about_values(key) && !answer.values.empty()) {
      expects_values = true;
    } else if (key == "outputs" || key == "input_grads") {
      if (auto verdict = judge_list(test, expect, key.c_str(), answer)) return verdict;
    } else if (answer.facts.contains(key)) {
      if (!equal_facts(expected, answer.facts[key], tolerance_of(expect, test.attrs, weft::f64))) return differs(key, expected, answer.facts[key]);
    } else {
      return "the expectation '" + key + "' is not known for op " + test.op;
    }
  }
  if (expects_values) return judge_value(test, expect, "", answer.values[0], answer.facts);
  return std::nullopt;
}

Verdict judge_refusal(const Case& test, const Json& expect, const weft::Error& error) {
  if (!expect.contains("error")) return "expected a result, got the error: " + std::string(error.what());
  const weft::ErrorKind kind = error.kind();
  if (kind != weft::ErrorKind::shape && kind != weft::ErrorKind::dtype && kind != weft::ErrorKind::usage) {
    return "expected an error of kind shape, dtype or usage, got: " + std::string(error.what());
  }
  const std::set<std::string> words = offending_values(test);
  for (const std::string& word : words) {
    if (mentions(error.what(), word)) return std::nullopt;
  }
  return words.empty() ? Verdict() : "the message names no offending value: " + std::string(error.what());
}

}  // namespace conformance
