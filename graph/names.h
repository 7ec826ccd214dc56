// What may be a name: of an input, a symbol, an accumulator.
#pragma once
#include <algorithm>
#include <cctype>
#include <string_view>

namespace weft {

inline bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
inline bool is_word(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_word_character); }
inline bool is_identifier(std::string_view text) { return is_word(text) && !std::isdigit(static_cast<unsigned char>(text[0])); }

}  // namespace weft
