// A pass changes graphs, and no bit of what they compute.
#pragma once
#include "bits.h"

inline void same_bits_after(weft::Graph (*pass)(const weft::Graph&), const weft::Graph& graph, const std::vector<weft::Array>& arrays) {
  const weft::Graph after = pass(graph);
  const std::vector<weft::Array> expected = interpret(graph, graph.outputs, graph.inputs, arrays), got = interpret(after, after.outputs, after.inputs, arrays);
  CHECK(to_text(after) != to_text(graph));
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
}

// Of %x: f32[n,m] and %b: f32[m], with special values in them.
template <std::size_t count> void same_bits_after(weft::Graph (*pass)(const weft::Graph&), const char* const (&texts)[count]) {
  for (const char* text : texts)
    for (const weft::Dims& shape : {weft::Dims{5, 9}, weft::Dims{3, 40}, weft::Dims{4, 2}}) {
      CAPTURE(text);
      const std::vector<weft::Array> arrays{special(weft::f32, shape, 1), special(weft::f32, {shape[1]}, 2)};
      same_bits_after(pass, weft::parse(text), arrays);
      same_bits(compile(weft::parse(text), checked()), arrays);
    }
}
