#include "text_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft {
namespace {

// nullopt unless `text` is a value of `dtype`.
std::optional<Scalar> scalar_of(DType dtype, std::string_view text) {
  return visit_dtype(dtype, [&](auto tag) -> std::optional<Scalar> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      if (text != "true" && text != "false") return std::nullopt;
      return Scalar(text == "true");
    } else {
      std::conditional_t<std::is_arithmetic_v<T>, T, double> value{};   // f16, bf16: rounded by Scalar
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return Scalar::of(dtype, value);
    }
  });
}

// One term of an index: a step along an axis, or a part of the start.
struct Term {
  std::string text;
  bool negative = false;
};

std::vector<Term> terms_of(std::string_view text) {
  std::vector<Term> terms;
  for (std::size_t at = 0; at < text.size();) {
    Term term;
    term.negative = text[at] == '-';
    if (text[at] == '+' || term.negative) ++at;
    std::size_t end = at;
    for (int depth = 0; end < text.size() && (depth > 0 || (text[end] != '+' && text[end] != '-')); ++end)
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    term.text = text.substr(at, end - at);
    std::erase(term.text, ' ');
    terms.push_back(std::move(term));
    at = end;
  }
  return terms;
}

// "i" or "2*i" as a reference to that axis.
std::optional<AxisRef> axis_of(const Term& term, const std::vector<std::string>& letters) {
  const std::size_t star = term.text.find('*');
  const auto found = std::find(letters.begin(), letters.end(), star == std::string::npos ? term.text : term.text.substr(star + 1));
  if (found == letters.end() || found->empty()) return std::nullopt;
  AxisRef ref{static_cast<int>(found - letters.begin()), 0, 1};
  if (star != std::string::npos) {
    const auto [end, error] = std::from_chars(term.text.data(), term.text.data() + star, ref.step);
    if (error != std::errc() || end != term.text.data() + star) return std::nullopt;
  }
  if (term.negative) ref.step = -ref.step;
  return ref;
}

}  // namespace

std::string TextReader::graph_name() {
  if (!take("\"")) return std::string(expect_word("the name of the graph"));
  std::string name;
  for (std::size_t end = at();; ++end) {
    const std::string_view c = between(end, end + 1);
    if (c.empty()) fail_here("expected \" at the end of the graph's name");
    if (c == "\"") {
      move_to(end + 1);
      return name;
    }
    if (c == "\\") name += between(end + 1, end + 2) == "n" ? "\n" : std::string(between(end + 1, end + 2)), ++end;
    else name += c;
  }
}

DType TextReader::dtype() {
  const std::size_t begin = at();
  const std::string word(expect_word("a dtype"));
  if (const auto dtype = find_dtype(word)) return *dtype;
  move_to(begin);
  fail_here("expected a dtype such as f32, i64 or bool");
}

Extent TextReader::extent_in(std::size_t begin, std::string_view text) {
  try {
    return parse_extent(text);
  } catch (const Error& error) {
    std::string message = error.what();
    message.erase(0, message.find(": ") + 2);
    fail_at(begin, text.size(), message);
  }
}
Extent TextReader::extent() {
  skip_space();
  const std::size_t begin = at();
  const std::string_view text = until_separator();
  if (text.empty()) fail_here("expected an extent");
  return extent_in(begin, text);
}

WrittenAxis TextReader::axis() {
  skip_space();
  const std::size_t begin = at();
  const std::string letter(word());
  if (!letter.empty() && take(":")) return {letter, extent(), begin};
  move_to(begin);
  return {"", extent(), begin};
}

Scalar TextReader::scalar(DType dtype, std::size_t begin, std::string_view text) {
  const auto value = scalar_of(dtype, text);
  if (!value) fail_at(begin, text.size(), concat("expected a value of ", dtype, ", got \"", text, "\""));
  return *value;
}

AxisRef TextReader::index(const std::vector<std::string>& letters) {
  skip_space();
  const std::size_t begin = at();
  const std::string_view text = until_separator();
  if (text.empty()) fail_here("expected an index");
  AxisRef ref;
  std::string start;
  for (const Term& term : terms_of(text)) {
    if (term.text.empty()) fail_at(begin, text.size(), concat("expected a number, a symbol or an axis after each sign of \"", text, "\""));
    const auto axis = axis_of(term, letters);
    if (!axis) start += (term.negative ? "-" : start.empty() ? "" : "+") + term.text;
    else if (ref.axis < 0) ref = *axis;
    else fail_at(begin, text.size(), concat("an index follows one axis, got two in \"", text, "\""));
  }
  if (!start.empty()) ref.start = extent_in(begin, start);
  ref.part = !start.empty() && ref.is_direct();
  return ref;
}

}  // namespace weft
