#include <weft/text.h>

#include <algorithm>
#include <boost/graph/graphviz.hpp>
#include <sstream>

#include "print.h"
#include "storage.h"

namespace weft {

std::string to_dot(const Graph& graph) {
  const Printer printer(graph);
  const auto& list = graph.storage().list;
  const auto vertex = [&](std::ostream& out, std::size_t v) {
    const NodeId id = id_of(v);
    out << "[label=" << boost::escape_dot_string(printer.line(id).text) << ", shape=" << (graph.node(id).kind == Kind::apply ? "box" : "ellipse")
        << (std::find(graph.outputs.begin(), graph.outputs.end(), id) == graph.outputs.end() ? "" : ", peripheries=2") << "]";
  };
  const auto edge = [&](std::ostream& out, const auto& e) { out << "[label=" << list[e].position << "]"; };
  const auto whole = [](std::ostream& out) { out << "rankdir=TB;\nnode [fontname=monospace];\n"; };
  std::ostringstream out;
  boost::write_graphviz(out, list, vertex, edge, whole);
  return out.str();
}

}  // namespace weft
