// How often a part is in a text, overlapping ones included.
#pragma once
#include <string>

inline int occurrences(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
