// Graphs over the rows of a matrix, compiled as if the caches were of some size.
#pragma once
#include "bits.h"
#include "function/compile_for.h"

// A processor with such caches: arrays of more bytes are in memory, where long rows go one by one and fetch far ahead.
inline weft::Machine with_caches(double third_level, double first_level = 48 << 10) {
  weft::Machine machine;
  machine.first_level_bytes = first_level;
  machine.third_level_bytes = third_level;
  machine.blocks_in_memory = weft::one_by_one;
  machine.row_bytes_ahead = weft::after_next_row;
  return machine;
}

// Called on so many rows of so many floats, with the bits of the interpreter.
inline weft::Function on_rows(const weft::Expr& result, const weft::Expr& x, weft::Index rows, weft::Index length, const weft::Machine& machine) {
  const weft::Function f = compile_for(machine, {result}, {x}, checked());
  same_bits(f, {uneven(weft::f32, {rows, length})});
  return f;
}

// A value of each row, beside its elements.
inline weft::Expr of_row(const weft::Expr& value) { return expand_dims(value, 1); }
