// How a Graph is stored: a Boost adjacency_list whose vertices carry nodes and whose edges run operand -> user.
#pragma once
#include <boost/graph/adjacency_list.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/graph.h>

namespace weft {

struct CustomGradient;

struct Use {
  int position = 0;
  AxisMap map;
};

struct Graph::Storage {
  using List = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Node, Use>;
  List list;
  std::vector<std::uint32_t> numbers;   // of each node in the graph's text: inputs and scalar constants are not counted
  std::uint32_t lines = 0;
  std::vector<ElementSymbol> element_symbols;
  std::unordered_map<std::string, NodeId> input_names;
  std::unordered_map<NodeId, std::string> labels;            // given by Expr::name
  std::unordered_map<NodeId, std::shared_ptr<const CustomGradient>> custom;   // weft/grad.h
};

}  // namespace weft
