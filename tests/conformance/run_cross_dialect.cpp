// One pair of shapes under every rule system: expect.per_dialect holds a verdict for each mode.
//
// The words of a key, split at anything but letters and digits, say which rule is meant:
//   array_api, numpy, onnx (multidirectional)      add;  with inplace, assign, setitem or unidirectional: into the first shape
//   xla                                            add without dimensions;  numbers in the key are broadcast_dimensions
//   openvino, ov + numpy, bidirectional, pdpd      data of the first shape to the second as target (pdpd: the other way round)
//            + explicit                            axes_mapping: numbers in the key, trailing or suffix, otherwise the first axes
//   theano + c or f, + broadcast or accumulate     elemwise of both
//   tml + arithmetic, relational, logical, bitwise, assign
// A verdict is {shape}, a shape, {error}, null, false, true (any shape) or a word (an error).
#include <algorithm>
#include <set>

#include <weft/elemwise.h>
#include <weft/tml.h>
#include <weft/xla.h>

#include "evaluate.h"
#include "registry.h"

namespace conformance {
namespace {

struct Pair {
  weft::Shape a, b;
};

class Words {
 public:
  explicit Words(const std::string& key) {
    std::string word;
    for (const char letter : key + " ") {
      if (std::isalnum(static_cast<unsigned char>(letter))) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      } else if (!word.empty()) {
        if (word.find_first_not_of("0123456789") == std::string::npos) numbers.push_back(std::stoll(word));
        words_.insert(word);
        word.clear();
      }
    }
  }
  // Is there a word that starts with one of these?
  bool any(std::initializer_list<const char*> starts) const {
    return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
      return std::any_of(starts.begin(), starts.end(), [&](const char* start) { return word.rfind(start, 0) == 0; });
    });
  }
  bool has(const char* word) const { return words_.count(word) != 0; }
  std::vector<Index> numbers;

 private:
  std::set<std::string> words_;
};

// One graph for one verdict.
struct Operation {
  explicit Operation(const Pair& pair, DType dtype = weft::f64) : a(graph.input("a", dtype, pair.a)), b(graph.input("b", dtype, pair.b)) {}
  weft::Graph graph;
  Expr a, b;
};

weft::Shape array_api_shape(const Words& words, const Pair& pair) {
  const Operation on(pair);
  const bool one_way = words.any({"inplace", "assign", "setitem", "unidirectional"}) || (words.has("in") && words.has("place"));
  return one_way ? weft::assign(on.a, on.b).shape() : weft::add(on.a, on.b).shape();
}

weft::Shape openvino_shape(const Words& words, const Pair& pair) {
  const Operation on(pair);
  if (words.any({"pdpd"})) return weft::elementwise_pdpd(weft::Op::add, on.a, on.b).shape();
  if (words.any({"bidi"})) return weft::broadcast(on.a, pair.b, weft::BroadcastMode::bidirectional).shape();
  if (!words.any({"explicit"})) return weft::broadcast(on.a, pair.b, weft::BroadcastMode::numpy).shape();
  std::vector<Index> axes = words.numbers;
  const Index first = words.any({"trailing", "suffix"}) ? static_cast<Index>(pair.b.size()) - static_cast<Index>(pair.a.size()) : 0;
  if (axes.empty()) {
    for (std::size_t k = 0; k < pair.a.size(); ++k) axes.push_back(first + static_cast<Index>(k));
  }
  return weft::broadcast(on.a, pair.b, weft::BroadcastMode::explicit_axes, axes).shape();
}

weft::Shape theano_shape(const Words& words, const Pair& pair) {
  const Operation on(pair);
  const weft::Order order = words.has("f") || words.any({"orderf"}) ? weft::Order::f : weft::Order::c;
  const weft::ModeSpec mode = words.any({"acc", "sum"}) ? weft::accumulate(weft::AccumulatorId::sum) : weft::ModeSpec(weft::Mode::broadcast);
  return weft::elemwise({on.a, on.b}, order, {mode}, [](const std::vector<Expr>& args) { return std::vector<Expr>{args[0] + args[1]}; })[0].shape();
}

weft::Shape tml_shape(const Words& words, const Pair& pair) {
  const bool is_logical = words.any({"log"}), is_bitwise = words.any({"bit"});
  Operation on(pair, is_logical ? weft::bool_ : is_bitwise ? weft::u64 : weft::f64);
  const weft::tml::Tensor a(on.a), b(on.b);
  if (words.any({"assign"})) return weft::tml::assign(a, b).expr().shape();
  const weft::Op op = is_logical ? weft::Op::logical_and : is_bitwise ? weft::Op::bitwise_and : words.any({"rel", "comp"}) ? weft::Op::less : weft::Op::add;
  return weft::tml::elementwise(op, a, b).expr().shape();
}

using Rule = weft::Shape (*)(const Words&, const Pair&);
Rule find_rule(const Words& words) {
  if (words.any({"tml"})) return tml_shape;
  if (words.any({"theano"}) || words.has("th")) return theano_shape;
  if (words.any({"openvino"}) || words.has("ov")) return openvino_shape;
  if (words.any({"xla"})) return [](const Words& each, const Pair& pair) { return weft::xla::binary_shape(pair.a, pair.b, each.numbers); };
  const bool is_array_api = words.any({"array", "numpy", "onnx", "arrayapi"}) || words.has("aa") || words.has("np");
  return is_array_api ? array_api_shape : nullptr;
}

// The verdict of weft as JSON: {"shape": [..]} or {"error": text}.
Json verdict_of(Rule rule, const Words& words, const Pair& pair) {
  try {
    Json shape = Json::array();
    for (const weft::Extent& extent : rule(words, pair)) shape.push_back(*extent.number());
    return {{"shape", shape}};
  } catch (const weft::Error& error) {
    return {{"error", error.what()}};
  }
}

bool agrees(const Json& expected, const Json& verdict) {
  const bool refused = verdict.contains("error");
  if (expected.is_array()) return !refused && expected == verdict["shape"];
  if (expected.is_boolean()) return expected.get<bool>() != refused;
  if (expected.is_null() || expected.is_string()) return refused;
  if (expected.is_object() && expected.contains("shape") && !expected["shape"].is_null()) return !refused && expected["shape"] == verdict["shape"];
  if (expected.is_object() && (expected.contains("error") || expected.contains("shape"))) return refused;
  throw BadCase("unknown verdict " + expected.dump());
}

weft::Shape shape_of(const Case& test, std::size_t k) {
  Dims dims;
  const char* const keys[] = {"lhs", "rhs", "a", "b"};
  if (k < test.inputs.size()) dims = test.inputs[k].shape;
  else if (test.has("shapes")) dims = read_dims(test.attrs["shapes"].at(k));
  else if (test.has(keys[k])) dims = read_dims(test.attrs[keys[k]]);
  else dims = read_dims(test.attribute(keys[k + 2]));
  return {dims.begin(), dims.end()};
}

Answer run_per_dialect(const Case& test) {
  const Pair pair{shape_of(test, 0), shape_of(test, 1)};
  std::string wrong;
  for (const auto& [key, expected] : test.expect["per_dialect"].items()) {
    const Words words(key);
    const Rule rule = find_rule(words);
    if (!rule) throw Failure("unknown mode '" + key + "'");
    const Json verdict = verdict_of(rule, words, pair);
    if (!agrees(expected, verdict)) wrong += (wrong.empty() ? "" : "; ") + key + ": expected " + expected.dump() + ", got " + verdict.dump();
  }
  if (!wrong.empty()) throw Failure(wrong);
  Answer answer;
  answer.facts["per_dialect"] = test.expect["per_dialect"];
  return answer;
}

}  // namespace

Handler find_cross_dialect(const Case& test) { return test.expect.contains("per_dialect") ? run_per_dialect : nullptr; }

}  // namespace conformance
