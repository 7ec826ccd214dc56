// Reads text from left to right and reports what it did not expect, with the line and a caret. Used by parse.cpp.
#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include <weft/error.h>

#include "names.h"

namespace weft {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  std::string_view text() const { return text_; }
  void move_to(std::size_t at) { at_ = at; }
  std::string_view between(std::size_t begin, std::size_t end) const { return text_.substr(std::min(begin, text_.size()), end - begin); }

  // Spaces, line ends and comments.
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == ';') while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      else if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      else return;
    }
  }
  bool peek(std::string_view token) {
    skip_space();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail_here("expected \"" + std::string(token) + "\"");
  }
  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  // Letters, digits and _; empty if there are none.
  std::string_view word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    return between(begin, at_);
  }
  std::string_view expect_word(std::string_view what) {
    const std::string_view found = word();
    if (found.empty()) fail_here("expected " + std::string(what));
    return found;
  }
  // A number or true, false, inf, nan with its sign and exponent; empty if there is none.
  std::string_view literal() {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && (is_word_character(text_[at_]) || text_[at_] == '.' || is_exponent_sign(begin))) ++at_;
    return between(begin, at_);
  }
  // Everything up to a comma or a closing bracket outside parentheses and of no "s[0]", without surrounding spaces.
  std::string_view until_separator() {
    skip_space();
    const std::size_t begin = at_;
    int depth = 0, brackets = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n' || c == '>' || (brackets == 0 && c == ']') || (depth == 0 && (c == ',' || c == ')'))) break;
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
    }
    std::size_t end = at_;
    while (end > begin && text_[end - 1] == ' ') --end;
    return between(begin, end);
  }

  // "line 2: expected a dtype, got "f65"", the line, and a caret under the word.
  [[noreturn]] void fail_here(const std::string& message) {
    skip_space();
    std::size_t length = 0;
    while (at_ + length < text_.size() && is_word_character(text_[at_ + length])) ++length;
    if (length == 0 && at_ < text_.size())
      do ++length;
      while (at_ + length < text_.size() && (static_cast<unsigned char>(text_[at_ + length]) & 0xC0) == 0x80);      // all bytes of a character
    const std::string got = length == 0 ? "the end of the text" : "\"" + printable(text_.substr(at_, length)) + "\"";
    fail_at(at_, length, message + ", got " + got);
  }
  [[noreturn]] void fail_at(std::size_t at, std::size_t length, const std::string& message) const {
    std::size_t line = 1, begin = 0;
    for (std::size_t k = 0; k < at && k < text_.size(); ++k)
      if (text_[k] == '\n') ++line, begin = k + 1;
    std::size_t end = text_.find('\n', begin);
    if (end == std::string_view::npos) end = text_.size();
    std::string mark(at - begin, ' ');
    mark += "^" + std::string(length > 1 ? length - 1 : 0, '~');
    fail(ErrorKind::text, concat("line ", line, ": ", message, "\n  ", printable(text_.substr(begin, end - begin)), "\n  ", mark));
  }

 private:
  // Control characters would cut the message, or do worse to a terminal.
  static std::string printable(std::string_view text) {
    std::string shown(text);
    std::replace_if(shown.begin(), shown.end(), [](char c) { return c != '\t' && std::iscntrl(static_cast<unsigned char>(c)); }, '?');
    return shown;
  }
  bool is_exponent_sign(std::size_t begin) const {
    return (text_[at_] == '-' || text_[at_] == '+') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace weft
