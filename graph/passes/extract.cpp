#include <algorithm>

#include <weft/passes.h>

#include "needed.h"
#include "rebuild.h"

namespace weft {
namespace {

std::string describe(const Graph& graph, NodeId id) { return Expr(const_cast<Graph&>(graph), id).name(); }

std::vector<NodeId> ids_of(const Graph& graph, const std::vector<Expr>& exprs, const char* what) {
  std::vector<NodeId> ids;
  for (const Expr& expr : exprs) {
    WEFT_REQUIRE(!expr.is_empty(), usage, "compile: an ", what, " is an empty Expr");
    WEFT_REQUIRE(&expr.graph() == &graph, usage, "compile: ", what, " ", expr.name(), " belongs to graph \"", expr.graph().name,
                 "\", not to \"", graph.name, "\"");
    ids.push_back(expr.id());
  }
  return ids;
}

std::vector<NodeId> input_ids(const Graph& graph, const std::vector<Expr>& inputs) {
  std::vector<NodeId> ids = ids_of(graph, inputs, "input");
  std::vector<NodeId> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  for (NodeId id : ids)
    WEFT_REQUIRE(graph.node(id).kind == Kind::input, usage, "compile: ", describe(graph, id), " is listed as an input but it is computed");
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) fail(ErrorKind::usage, "compile: input " + describe(graph, *twice) + " is listed twice");
  return ids;
}

}  // namespace

Graph extract(const Graph& graph, const std::vector<Expr>& inputs, const std::vector<Expr>& outputs) {
  Rebuild rebuild(graph, input_ids(graph, inputs));
  const std::vector<NodeId> wanted = ids_of(graph, outputs, "output");
  const std::vector<bool> needed = needed_by(graph, wanted);
  for (std::size_t k = graph.size(); k-- > 0;)
    WEFT_REQUIRE(!needed[k] || graph.node(id_of(k)).kind != Kind::input || rebuild.has(id_of(k)), usage, "compile: the outputs need input ", describe(graph, id_of(k)),
                 ", which is not listed\n  add it to the inputs");
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (needed[k]) rebuild.copy(id_of(k));
  return rebuild.finish(wanted);
}

}  // namespace weft
