// Derivatives in one walk over the nodes: from the ys down to the xs (cotangents), or from the xs up to the ys (tangents).
// Both use the derivative columns of ops.def: an elementwise op scales by the same number in either direction.
#pragma once
#include <optional>
#include <vector>

#include <weft/grad.h>

#include "local.h"
#include "pull_back.h"
#include "passes/stable_form.h"

namespace weft {

// What custom_gradient says about a node.
struct CustomGradient {
  std::vector<Expr> xs;
  CustomVjp vjp;
  static void attach(const Expr& y, CustomGradient rule);
};

class Sweep {
 public:
  Sweep(Graph& graph, const std::vector<NodeId>& xs);
  void add(NodeId id, Adjoint term);                         // to the cotangent, or tangent, of a node
  void run_down();                                           // reverse.cpp
  void run_up(const std::vector<NodeId>& ys);                // what they need: forward.cpp
  Expr result(NodeId id);                                    // what a node has got, as a node of its shape

 private:
  // A node of ops.def as its derivative reads it: element by element, before it is folded.
  struct Elements {
    std::vector<Operand> plain;                              // the operands
    std::vector<Local> operands;                             // the same, scalar constants as numbers
    Operand saved;                                           // the node itself
    Local y;                                                 // what the op gives for an element
  };
  Frame element_frame(NodeId id, const Node& node);
  Elements elements_of(Frame& frame, NodeId id, const Node& node);
  Frame own_frame(NodeId id);
  Expr whole(Frame& frame, Operand value);
  Local operand_local(Frame& frame, NodeId user, int position);
  void visit(NodeId id, const Node& node);
  std::optional<StableForm> stable_form_of(NodeId id) const;
  Local along_form(Frame& frame, const StableForm& form, DType dtype, const Local& passes);
  std::optional<LogSum> log_sum_of(NodeId id) const;
  Local along_log_sum(Frame& frame, const LogSum& found, const Local& passes);
  void pass_to(const Operand& at, const Local& value);       // a part of its cotangent, from loops in which it is read so
  void visit_log_sum(NodeId id, const LogSum& found);
  int power_beside(NodeId id, const Node& node, int position) const;
  int power_of(NodeId factor, NodeId id, int& nodes) const;
  void visit_recurrence(NodeId id, const Node& node);
  void visit_others(NodeId id, const Node& node);
  void visit_fit(NodeId id, const Node& node);
  void visit_reshape(NodeId id);
  template <class TakeBack> Adjoint whole_and_mask(NodeId id, const TakeBack& take_back);
  bool visit_custom(NodeId id);
  static bool mask_factor(Frame& frame, const Mask& mask, Local& factor);
  Local through_fold(Frame& frame, const Node& node, const Local& g, const Local& y, const Operand& saved);
  Local share_among_ties(Frame& frame, const Node& node, const Local& g, const Local& y, const Operand& saved);
  Local product_of_others(Frame& frame, const Node& node, const Local& y);

  std::optional<Local> moved(Frame& frame, const Operand& operand);      // the tangent of an operand, where it is read
  Adjoint tangent_of(NodeId id, const Node& node);
  Adjoint tangent_of_recurrence(NodeId id, const Node& node);
  Adjoint tangent_of_others(NodeId id, const Node& node);

  Graph& graph_;
  NumberPool numbers_;
  std::vector<bool> is_x_, on_path_;                         // one of the xs; depends on some x
  std::vector<bool> has_values_behind_;                      // a slope between it and some x depends on values: masks of its cotangent count
  std::vector<std::optional<Adjoint>> adjoints_;
};

}  // namespace weft
