// Any bytes as graph text: parsed or refused with weft::Error, and what is parsed prints to text that reads back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <weft/error.h>
#include <weft/text.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const weft::Graph graph = weft::parse({reinterpret_cast<const char*>(bytes), size});
    const std::string text = weft::to_text(graph);
    if (weft::to_text(weft::parse(text)) != text) std::abort();
  } catch (const weft::Error& error) {
    if (error.kind() == weft::ErrorKind::internal) std::abort();
  }
  return 0;
}
