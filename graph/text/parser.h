// Reads graph text (weft/text.h). parse.cpp has the graph and its lines, parse_nodes.cpp the kinds of nodes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <weft/text.h>

#include "text_reader.h"

namespace weft {

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}
  Graph whole();
  const TextNames& names() const { return names_; }

 private:
  struct Literal {
    std::size_t begin = 0;
    std::string_view text;
    std::optional<DType> dtype;
  };
  struct IndexSymbol {
    std::size_t begin, length;
    std::string symbol;
  };

  template <class Item> void list(std::string_view close, const Item& item) {
    if (in_.take(close)) return;
    do item();
    while (in_.take(","));
    in_.expect(close);
  }

  Graph one();
  void define();
  Graph nested();
  void check_definition(const Recurrence& made, std::size_t begin, std::size_t length);
  std::vector<WrittenAxis> axes(Order& order);
  std::string definition();
  NodeId reference();
  void input();
  NodeId output();
  DType suffix(std::size_t begin, std::string_view text);
  NodeId constant(DType type, std::size_t begin, std::string_view text);
  void line();
  void add_axis(Node& node, WrittenAxis axis);
  void add_letter(std::string letter);
  AxisRef index();
  void check_index_symbols();

  NodeId array(const Node& node);
  NodeId iota(Node node);
  NodeId extent_node(Node node);
  NodeId reshape(Node node);
  NodeId fit(Node node, bool is_forward);
  NodeId update(Node node);
  int axis_of_result();
  NodeId others(Node node);
  NodeId recurrence(Node node, bool scans);
  NodeId apply(Node node, std::size_t begin, std::string word);
  std::vector<Operand> operands(std::optional<Op> op);
  std::optional<DType> told_by_others(Op op, std::size_t p, const std::vector<Operand>& operands, const std::vector<Literal>& literals);

  TextReader in_;
  bool is_definition_ = false;         // a graph of one
  Graph graph_;
  TextNames names_;
  std::vector<std::string> letters_;   // of the line being read, by domain position; "" where none is written
  std::unordered_map<std::string, std::shared_ptr<const Recurrence>> definitions_;
  std::unordered_set<std::string> all_letters_;
  std::vector<std::string> symbols_;   // in shapes and domains
  std::vector<IndexSymbol> index_symbols_;
};

}  // namespace weft
