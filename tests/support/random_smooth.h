// Smooth graphs: every row of ops.def that has a derivative, at operands where differences can tell what it is.
#pragma once
#include <string_view>
#include <vector>

#include <weft/expr.h>

#include "random_source.h"

// The rows of ops.def with a derivative, and by which operands.
struct SmoothRow {
  weft::Op op;
  std::vector<int> positions;
};
inline const std::vector<SmoothRow>& smooth_rows() {
  static const std::vector<SmoothRow> rows = [] {
    std::vector<SmoothRow> list;
    const auto add = [&](weft::Op op, std::initializer_list<std::string_view> columns) {
      SmoothRow row{op, {}};
      int position = 0;
      for (std::string_view column : columns) {
        if (column != "none") row.positions.push_back(position);
        ++position;
      }
      if (!row.positions.empty()) list.push_back(row);
    };
#define WEFT_UNARY(name, rule, meaning, da) add(weft::Op::name, {#da});
#define WEFT_BINARY(name, rule, meaning, da, db) add(weft::Op::name, {#da, #db});
#define WEFT_TERNARY(name, rule, meaning, da, db, dc) add(weft::Op::name, {#da, #db, #dc});
#include <weft/ops.def>
    return list;
  }();
  return rows;
}

// x moved to where operand `position` of op has a derivative of moderate size.
inline weft::Expr into_domain(weft::Op op, int position, const weft::Expr& x, RandomSource& random) {
  using weft::Op;
  const auto inside = [&] { return 0.9 * sin(x); };
  const auto positive = [&] { return 1.5 + sin(x); };
  const auto nonzero = [&] { return random.chance(60) ? 2 + cos(x) : -1.5 - sin(x) * 0.5; };
  switch (op) {
    case Op::sqrt: case Op::rsqrt: case Op::log: case Op::log2: case Op::log10: return random.chance(50) ? positive() : 0.5 + square(x);
    case Op::lgamma: case Op::digamma: case Op::trigamma: return random.chance(70) ? positive() : -1.5 + 0.4 * sin(x);
    case Op::reciprocal: case Op::cbrt: return nonzero();
    case Op::exp: case Op::expm1: case Op::exp2: case Op::sinh: case Op::cosh: return 1.5 * sin(x);
    case Op::tan: case Op::log1p: case Op::asin: case Op::acos: case Op::atanh: return inside();
    case Op::acosh: return 2.5 + cos(x);
    case Op::where: return position == 0 ? x > 0.1 : x;
    case Op::clip: return position == 1 ? x - 1.1 : position == 2 ? x * 0.5 + 1.3 : x;
    case Op::divide: case Op::remainder: case Op::fmod: case Op::hypot: case Op::atan2: return position == 1 ? nonzero() : x;
    case Op::power: return position == 0 ? positive() : 2 * cos(x);
    case Op::xlogy: return position == 1 ? positive() : x;
    default: return x;
  }
}
