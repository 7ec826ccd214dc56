// Extents out of text, as to_text writes them.
#include <algorithm>
#include <cctype>
#include <string>

#include <weft/error.h>
#include <weft/extent.h>

#include "names.h"

namespace weft {
namespace {

// extent = ["-"] term { ("+" | "-") term };  term = factor { ("*" factor) | ("/" number) };  factor = number | name | name "[" number "]" |
// "common(" extent "," extent ")" | "(" extent ")"
class ExtentParser {
 public:
  explicit ExtentParser(std::string_view text) : text_(text) {}
  Extent whole() {
    Extent value = sum();
    WEFT_REQUIRE(at_ == text_.size(), text, "extent: unexpected \"", text_.substr(at_), "\" in \"", text_, "\"");
    return value;
  }

 private:
  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Extent sum() {
    Extent value = take('-') ? Extent(-1) * term() : term();
    for (;;) {
      if (take('+')) value = value + term();
      else if (take('-')) value = value - term();
      else return value;
    }
  }
  Extent term() {
    Extent value = factor();
    for (;;) {
      if (take('*')) value = value * factor();
      else if (take('/')) {
        Extent divisor = factor();
        WEFT_REQUIRE(divisor.is_number(), text, "extent: expected a number after / in \"", text_, "\"");
        value = floor_div(value, divisor.constant());
      } else return value;
    }
  }
  Extent factor() {
    WEFT_REQUIRE(++depth_ <= deepest, text, "extent: more than ", deepest, " brackets within each other");
    Extent value = bracket_or_word();
    --depth_;
    return value;
  }
  Extent bracket_or_word() {
    if (take('(')) {
      Extent value = sum();
      WEFT_REQUIRE(take(')'), text, "extent: expected ) in \"", text_, "\"");
      return value;
    }
    std::size_t end = at_;
    while (end < text_.size() && is_word_character(text_[end])) ++end;
    std::string word(text_.substr(at_, end - at_));
    WEFT_REQUIRE(!word.empty(), text, "extent: expected a number or a name in \"", text_, "\"");
    at_ = end;
    if (word == "common" && take('(')) {
      const Extent first = sum();
      WEFT_REQUIRE(take(','), text, "extent: expected , in \"", text_, "\"");
      const Extent second = sum();
      WEFT_REQUIRE(take(')'), text, "extent: expected ) in \"", text_, "\"");
      return common_extent(first, second);
    }
    if (!std::isdigit(static_cast<unsigned char>(word[0]))) {
      if (at_ < text_.size() && text_[at_] == '[') {
        const std::size_t close = std::min(text_.find(']', at_), text_.size() - 1);
        word += text_.substr(at_, close + 1 - at_);
        at_ = close + 1;
      }
      return Extent(word);
    }
    WEFT_REQUIRE(std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); }), text, "extent: expected a number, got \"", word, "\"");
    WEFT_REQUIRE(word.size() < 19, text, "extent: expected a number below 10^18, got ", word);
    return Extent(std::stoll(word));
  }
  static constexpr int deepest = 500;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Extent parse_extent(std::string_view text) { return ExtentParser(text).whole(); }

}  // namespace weft
