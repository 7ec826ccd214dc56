// A pass on texts.
#pragma once
#include <string>
#include <vector>

#include <weft/text.h>
#include <weft/verify.h>

// What the pass makes of the graph, which must be valid.
inline std::string text_after(weft::Graph (*pass)(const weft::Graph&), const std::string& text) {
  const weft::Graph graph = pass(weft::parse(text));
  verify(graph);
  return to_text(graph);
}

// Which of the texts the pass changes.
inline std::vector<std::string> changed_by(weft::Graph (*pass)(const weft::Graph&), const std::vector<std::string>& texts) {
  std::vector<std::string> changed;
  for (const std::string& text : texts)
    if (text_after(pass, text) != text) changed.push_back(text);
  return changed;
}
