// Prints nodes in the notation of weft/text.h, also nodes that are not in a graph yet (for the messages about them).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <weft/text.h>

#include "node_parts.h"

namespace weft {

// Whether a scalar operand at `position` needs no :dtype, because another operand tells it.
bool literal_is_inferred(Op op, std::size_t position, const std::vector<DType>& dtypes, const std::vector<bool>& is_literal);

// Inputs and scalar constants have no line of their own.
bool has_line(const Node& node);

struct Line {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> operands;         // where each stands in the text: begin, length
};

class Printer {
 public:
  explicit Printer(const Graph& graph);                              // O(graph)
  std::string name(NodeId id) const { return name_of(graph_, id); }
  std::string next_name() const;                                     // of the next node to be added
  Line line(const std::string& name, const Node& node, const std::vector<Operand>& operands) const;
  Line line(NodeId id) const;
  std::string letter(int axis) const;
  std::string definitions() const;                                   // of the accumulators that lines name, in front of them

 private:
  std::string type(const Node& node, bool with_letters) const;
  std::string index(const AxisRef& ref) const;
  std::string indices(const AxisMap& map) const;
  void add_operands(Line& line, const Node& node, const std::vector<Operand>& operands) const;
  std::string right_side(const Node& node) const;                    // of everything that is not an op
  std::string recurrence(const Node& node) const;                    // "fold(j:m) ema"
  struct Definition {
    const Recurrence* recurrence;
    std::string name;
  };
  const Graph& graph_;
  std::vector<std::string> letters_;
  std::vector<Definition> definitions_;
};

// The line of a node and a caret under one operand (-1: none), as the tail of a message: "\n  line\n    ^~~~".
std::string show(const Graph& graph, NodeId id, int operand = -1);
// The same for a node that is about to be added.
std::string show_new(const Graph& graph, const Node& node, const std::vector<Operand>& operands, int operand = -1);

}  // namespace weft
