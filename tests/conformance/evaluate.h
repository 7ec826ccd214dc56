// Runs outputs of a graph through the interpreter and through compiled code, and holds them against each other.
//
// Compiled with one thread; with more than 1000 elements again with two, which must give the same bits. Compiled values may
// differ from interpreted ones by the accuracy of the vector functions only. Results are the compiled ones, each in the
// layout that was asked for. If weft refuses, it must refuse both ways: the Error is the interpreter's.
#pragma once
#include <string>
#include <vector>

#include <weft/rearrange.h>
#include <weft/recurrence.h>
#include <weft/weft.h>

#include "case.h"

namespace conformance {

using weft::Expr;
using weft::Graph;

// The inputs of a case in a graph: one input node and one array for each, in the layout that attrs.input_layouts says.
struct Operands {
  explicit Operands(const Case& test);
  Expr add(const std::string& name, const Array& array);        // one more
  Expr operator[](std::size_t k) const;                         // BadCase if there are fewer
  const Expr& named(const std::string& name) const;             // BadCase if there is none

  Graph graph;
  std::vector<Expr> exprs;
  std::vector<std::string> names;
  std::vector<Array> arrays;
};

weft::Options run_options(int threads, bool verify = false);
std::vector<Array> evaluate(const Operands& operands, const std::vector<Expr>& outputs, const std::vector<std::string>& output_layouts = {});

}  // namespace conformance
