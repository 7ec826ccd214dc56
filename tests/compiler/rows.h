// Graphs over the rows of a matrix, compiled as if the caches were of some size.
#pragma once
#include "bits.h"
#include "function/compile_for.h"

// Called on so many rows of so many floats, with the bits of the interpreter; arrays of more bytes are in memory.
inline weft::Function on_rows(const weft::Expr& result, const weft::Expr& x, weft::Index rows, weft::Index length, double cache_bytes) {
  weft::Machine machine;
  machine.third_level_bytes = cache_bytes;
  const weft::Function f = compile_for(machine, {result}, {x}, checked());
  same_bits(f, {uneven(weft::f32, {rows, length})});
  return f;
}

// A value of each row, beside its elements.
inline weft::Expr of_row(const weft::Expr& value) { return expand_dims(value, 1); }
