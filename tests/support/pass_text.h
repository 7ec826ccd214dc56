// A pass on texts.
#pragma once
#include <string>

#include <weft/text.h>
#include <weft/verify.h>

// What the pass makes of the graph, which must be valid.
inline std::string text_after(weft::Graph (*pass)(const weft::Graph&), const std::string& text) {
  const weft::Graph graph = pass(weft::parse(text));
  verify(graph);
  return to_text(graph);
}
