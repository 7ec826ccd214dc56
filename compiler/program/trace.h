// What a caller wants to see of the passes: Options::trace, or WEFT_TRACE in the environment.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include <weft/options.h>

namespace weft {

class Trace {
 public:
  explicit Trace(const Options& options);
  bool names(std::string_view pass) const;                     // by its name, or all
  // Prints what a pass made to stderr, if it changed something.
  static void show(std::string_view pass, const std::string& before, const std::string& after);
  // Error(usage) for a name that neither is "all" nor is known: is_known(name).
  template <class IsKnown> void check(const IsKnown& is_known) const {
    each_word([&](std::string_view word) { if (word != "all" && !is_known(word)) refuse(word); });
  }

 private:
  template <class Visit> void each_word(const Visit& visit) const {
    for (std::string_view rest = list_; !rest.empty();) {
      const auto comma = rest.find(',');
      std::string_view word = rest.substr(0, comma);
      word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
      word = word.substr(0, word.find_last_not_of(' ') + 1);
      visit(word);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
  }
  [[noreturn]] static void refuse(std::string_view word);
  std::string list_;
};

}  // namespace weft
