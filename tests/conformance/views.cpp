#include "views.h"

#include <algorithm>

namespace conformance {
namespace {

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) parts.emplace_back();
    else parts.back() += letter;
  }
  return parts;
}

std::optional<Index> number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::size_t used = 0;
  Index value = 0;
  try {
    value = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size()) throw BadCase("not an index: '" + text + "'");
  return value;
}

AxisIndex parse_axis(const std::string& text) {
  const auto parts = split(text, ':');
  if (parts.size() == 1) return {number(parts[0]), {}, 1, true};
  if (parts.size() > 3) throw BadCase("not a slice: '" + text + "'");
  return {number(parts[0]), number(parts[1]), parts.size() == 3 ? number(parts[2]).value_or(1) : 1, false};
}

AxisIndex read_axis(const Json& json) {
  const auto optional = [](const Json& each) { return each.is_null() ? std::optional<Index>() : std::optional<Index>(each.get<Index>()); };
  if (json.is_null()) return {};
  if (json.is_number_integer()) return {json.get<Index>(), {}, 1, true};
  if (json.is_string()) return parse_axis(without_spaces(json.get<std::string>()));
  if (json.is_object() && json.contains("slice")) return read_axis(json["slice"]);
  if (json.is_object()) {
    const auto part = [&](const char* key) { return json.contains(key) ? optional(json[key]) : std::optional<Index>(); };
    return {part("start"), part("stop"), part("step").value_or(1), false};
  }
  if (!json.is_array() || json.size() > 3) throw BadCase("not an index: " + json.dump());
  const auto part = [&](std::size_t k) { return k < json.size() ? optional(json[k]) : std::optional<Index>(); };
  return {part(0), part(1), part(2).value_or(1), false};
}

bool is_ellipsis(const Json& json) { return json.is_string() && (json == "..." || json == "Ellipsis"); }

std::vector<int> as_axes(const Json& json, int rank) {
  std::vector<int> axes;
  for (const Index axis : read_indices(json)) axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  return axes;
}

Array flipped(Array array, const std::vector<int>& axes) {
  for (const int axis : axes) array = array.flip(axis);
  return array;
}

// Text after a name: "x.T[::-1]", ".transpose(1, 0, 2)", ".swapaxes(0, 1)", "[1:, ::2]".
Array apply_suffixes(const Array& array, const std::string& text) {
  Array result = array;
  for (std::size_t at = text.find_first_of(".["); at < text.size();) {
    const auto until = [&](char closing) {
      const std::size_t end = text.find(closing, at), open = text.find_first_of("([", at);
      if (end == std::string::npos || open > end) throw BadCase("unknown view '" + text + "'");
      at = end + 1;
      return text.substr(open + 1, end - open - 1);
    };
    const auto starts = [&](const char* word) { return text.compare(at, std::string(word).size(), word) == 0; };
    if (starts("[")) {
      result = view_of(result, parse_index(until(']'), result.rank()));
    } else if (starts(".transpose(") || starts(".permute(")) {
      const Json axes = Json::parse("[" + until(')') + "]");
      result = axes.empty() ? result.transpose() : result.permute(as_axes(axes, result.rank()));
    } else if (starts(".swapaxes(")) {
      const std::vector<int> pair = as_axes(Json::parse("[" + until(')') + "]"), result.rank());
      std::vector<int> axes(static_cast<std::size_t>(result.rank()));
      for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
      std::swap(axes.at(static_cast<std::size_t>(pair.at(0))), axes.at(static_cast<std::size_t>(pair.at(1))));
      result = result.permute(axes);
    } else if (starts(".T")) {
      result = result.transpose();
      at += 2;
    } else {
      throw BadCase("unknown view '" + text + "'");
    }
  }
  return result;
}

Array apply_word(const Array& array, const std::string& word) {
  if (word.empty() || word == "none" || word == "identity" || word == "contiguous") return array;
  if (word.find_first_of(".[") != std::string::npos) return apply_suffixes(array, word);
  if (word == "T" || word.rfind("transpose", 0) == 0) return array.transpose();
  if (word.rfind("flip", 0) == 0 || word.rfind("revers", 0) == 0) return array.rank() == 0 ? array : array.flip(0);
  if (word == "C" || word == "F" || word == "strided") return with_layout(array, word);
  throw BadCase("unknown view '" + word + "'");
}

Array apply_step(const Array& array, const Json& step) {
  if (step.is_null() || step.is_boolean()) return array;
  if (step.is_string()) return apply_word(array, without_spaces(step.get<std::string>()));
  if (!step.is_object()) throw BadCase("unknown view " + step.dump());
  Array result = array;
  for (const auto& [key, value] : step.items()) {
    const bool is_switch = value.is_null() || value.is_boolean();
    if (is_switch && value == false) continue;
    if (is_switch || value == "all") result = apply_word(result, key);
    else if (key.rfind("transpose", 0) == 0 || key == "permute" || key == "axes") result = result.permute(as_axes(value, result.rank()));
    else if (key.rfind("flip", 0) == 0 || key == "reverse") result = flipped(result, as_axes(value, result.rank()));
    else if (key == "slice" || key == "index") result = view_of(result, read_index(value, result.rank()));
    else if (key == "layout") result = with_layout(result, value.get<std::string>());
    else throw BadCase("unknown view " + step.dump());
  }
  return result;
}

Array apply_steps(const Array& array, const Json& steps) {
  if (!steps.is_array()) return apply_step(array, steps);
  Array result = array;
  for (const Json& step : steps) result = apply_step(result, step);
  return result;
}

bool names_inputs(const Case& test, const Json& views) {
  return views.is_object() && std::all_of(views.items().begin(), views.items().end(), [&](const auto& entry) {
    return std::any_of(test.inputs.begin(), test.inputs.end(), [&](const Input& input) { return input.name == entry.key(); }) ||
           entry.key().find_first_not_of("0123456789") == std::string::npos;
  });
}

}  // namespace

std::vector<AxisIndex> read_index(const Json& index, int rank) {
  if (index.is_string()) {
    const std::string text = without_spaces(index.get<std::string>());
    return parse_index(!text.empty() && text.front() == '[' ? text.substr(1, text.size() - 2) : text, rank);
  }
  const Json list = index.is_array() ? index : Json::array({index});
  std::vector<AxisIndex> result;
  const int given = static_cast<int>(std::count_if(list.begin(), list.end(), [](const Json& each) { return !is_ellipsis(each); }));
  if (given > rank) throw BadCase("index " + index.dump() + " has more axes than rank " + std::to_string(rank));
  for (const Json& each : list) {
    if (is_ellipsis(each)) result.resize(result.size() + static_cast<std::size_t>(rank - given));
    else result.push_back(read_axis(each));
  }
  result.resize(static_cast<std::size_t>(rank));
  return result;
}

std::vector<AxisIndex> parse_index(const std::string& text, int rank) {
  Json list = Json::array();
  const std::string plain = without_spaces(text);
  if (!plain.empty()) {
    for (const std::string& part : split(plain, ',')) list.push_back(part);
  }
  return read_index(list, rank);
}

Range range_of(const AxisIndex& index, Index size) {
  if (index.is_index) {
    const Index at = index.start.value_or(0), from_start = at < 0 ? at + size : at;
    if (from_start < 0 || from_start >= size) throw BadCase("index " + std::to_string(at) + " of an axis of size " + std::to_string(size));
    return {from_start, 1, 1};
  }
  if (index.step == 0) throw BadCase("a slice with step 0");
  const Index low = index.step > 0 ? 0 : -1, high = index.step > 0 ? size : size - 1;
  const auto clamp = [&](std::optional<Index> bound, Index otherwise) {
    return bound ? std::clamp(*bound < 0 ? *bound + size : *bound, low, high) : otherwise;
  };
  const Index start = clamp(index.start, index.step > 0 ? low : high), stop = clamp(index.stop, index.step > 0 ? high : low);
  const Index distance = index.step > 0 ? stop - start : start - stop, step = std::abs(index.step);
  return {start, std::max<Index>(0, (distance + step - 1) / step), index.step};
}

Array view_of(const Array& array, const std::vector<AxisIndex>& index) {
  Array result = array;
  int axis = 0;
  for (std::size_t k = 0; k < index.size(); ++k) {
    const Range range = range_of(index[k], array.shape()[k]);
    result = result.slice(axis, range.count ? range.start : 0, range.count, range.step);
    if (index[k].is_index) result = result.squeeze(axis);
    else ++axis;
  }
  return result;
}

Array apply_views(const Case& test, std::size_t input, const Array& array) {
  const char* key = test.has("views") ? "views" : test.has("view") ? "view" : nullptr;
  if (!key) return array;
  const Json& views = test.attrs[key];
  if (names_inputs(test, views)) {
    for (const std::string& name : {test.inputs[input].name, std::to_string(input)}) {
      if (views.contains(name)) return apply_steps(array, views[name]);
    }
    return array;
  }
  const bool one_each = views.is_array() && views.size() == test.inputs.size() &&
                        (views.size() > 1 || views[0].is_array() || views[0].is_null() || views[0].is_object() || views[0].is_string());
  return apply_steps(array, one_each ? views[input] : views);
}

}  // namespace conformance
