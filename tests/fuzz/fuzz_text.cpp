// Any bytes as graph text: parsed or refused with weft::Error. What is parsed prints to text that reads back as the same graph, and runs or is
// refused when called: the sanitizers watch what the interpreter reads.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <weft/binding.h>
#include <weft/error.h>
#include <weft/interpret.h>
#include <weft/text.h>

namespace {

using namespace weft;

constexpr Index symbol = 3, most_elements = 20000;

// Whether all loops of all nodes are short, if every symbol is 3.
bool is_small(const Graph& graph, const Bindings& bindings) {
  double elements = 0;
  for (std::size_t k = 0; k < graph.size(); ++k) {
    double own = 1;
    for (const Extent& extent : graph.node(id_of(k)).domain) own *= static_cast<double>(std::max<Index>(1, extent.evaluate(bindings)));
    elements += own;
  }
  return elements <= static_cast<double>(most_elements);
}

void call(const Graph& graph) {
  std::vector<std::string> symbols;
  for (NodeId id : graph.inputs)
    for (const Extent& extent : graph.node(id).domain) extent.collect_symbols(symbols);
  for (const ElementSymbol& element : graph.element_symbols()) symbols.push_back(element.symbol);
  Bindings bindings;
  for (const std::string& name : symbols) bindings[name] = symbol;
  if (!is_small(graph, bindings)) return;
  std::vector<Array> arrays;
  for (NodeId id : graph.inputs) {
    arrays.emplace_back(graph.node(id).dtype, evaluate(graph.node(id).shape(), bindings));
    if (is_integer(arrays.back().dtype())) arrays.back().fill(Scalar(symbol));
  }
  interpret(graph, graph.outputs, graph.inputs, arrays);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const Graph graph = parse({reinterpret_cast<const char*>(bytes), size});
    const std::string text = to_text(graph);
    const Graph again = parse(text);
    if (!same(again, graph) || to_text(again) != text) std::abort();
    call(graph);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
  return 0;
}
