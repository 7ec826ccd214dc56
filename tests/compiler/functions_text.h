// A graph as text with one nest for each function of one or two float operands that is wanted.
#pragma once
#include <weft/weft.h>

template <class Wanted> std::string functions_text(weft::DType dtype, Wanted wanted) {
  std::string text, outputs, name = to_text(dtype);
  int id = 0;
  for (const weft::OpInfo& row : weft::op_table()) {
    if (!wanted(row)) continue;
    text += weft::concat("%", id, ": ", name, "[i:n] = ", row.name, row.arity == 1 ? "(%x[i])\n" : "(%x[i], %y[i])\n");
    outputs += weft::concat(id ? ", %" : "%", id);
    ++id;
  }
  return weft::concat("graph functions(%x: ", name, "[n], %y: ", name, "[n]) -> (", outputs, ") {\n", text, "}");
}
