// Bytes as decisions of the random graph generator: the compiled function must do what the interpreter does.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "compiled_property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  ByteSource random(std::span(bytes, size));
  const RandomCase random_graph = random_case(random, Recipe());
  const std::string failure = check_compiled(random_graph.graph, random_graph.inputs, 1);
  if (!failure.empty()) {
    std::fprintf(stderr, "%s\n%s", failure.c_str(), weft::to_text(random_graph.graph).c_str());
    std::abort();
  }
  return 0;
}
