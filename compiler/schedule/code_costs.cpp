// What cost_model.h says of code: how much of it, and how much of what it works on at once.
#include <algorithm>
#include <bit>
#include <numeric>

#include <weft/accumulator.h>

#include "cost_model.h"

namespace weft {

// What they leave to each other, and their results, have a part of the first level.
Index columns_of_strip(std::size_t bytes) { return std::max<Index>(Index{most_vectors} * lane_count, static_cast<Index>(std::bit_floor(static_cast<std::size_t>(first_level_share) / 4 / bytes))); }

// Rows of slots gain nothing but where rows are a large power of two apart, so that what a pass reads of them is in few sets of the first level. Sums of 48,
// 100 and 200 rows of 16 M floats .16, .16 and .15 ns an element, .11, .10 and .09 so; of 64, 512 and 1000 rows of 65536, 8192 and 3000 floats .058, .040
// and .043, and .041, .055 and .039; of products of 128 rows of 32768 floats .15 and .20. Rows of fewer than three vectors are too short for eight passes where
// there are many: 256 of 32 floats .044 and .057 (Zen 5).
// From memory a pass is as many streams as it walks through rows, too many or too short for the hardware's own fetching: of 400 rows of 520 to 5000 floats 3.4 to
// 4.1 ms for 64 MiB, rows of slots 1.7 to 2.1, of 48 to 400 rows of 100 floats 3.2 to 4.2 and 2.0 to 2.7. Of fewer and longer ones, each fetched ahead, 48 and
// 100 rows of 1000 to 5000 floats 2.7 to 3.2 ms -> 1.9 to 2.9, rows of slots 2.6 to 3.4 (Zen 4).
bool columns_pay(Index rows, Index apart, bool from_memory) {
  constexpr Index most_from_memory = 256, least_apart_in_memory = 2048;
  if (from_memory && (rows > most_from_memory || apart < least_apart_in_memory)) return false;
  constexpr Index sets = 64, ways = 8, passes = static_cast<Index>(fold_slots) / slots_of_a_pass, short_row = 3 * line_bytes;
  const Index lines = ways * (apart % line_bytes == 0 ? sets / std::gcd(std::max<Index>(1, apart / line_bytes), sets) : sets);
  return rows <= (apart < short_row ? lines / 2 : passes * lines);
}

int op_latency(Op op) {
  const int cost = op_cost(op);
  return cost >= long_function ? cost * 8 / 5 : cost >= 4 ? 14 : 3;
}

// A processor begins with the next vectors while the chain of one has not ended, as far as it looks ahead: that hides chains of `hidden`
// cycles; of longer ones a part is waited for. Black-Scholes, with two vectors side by side, takes 0.92 ns an element in one loop (chains of
// 126 cycles), 0.68 in loops of 40 and 88 (63 and 66 cycles) and 0.79 in loops of 71 and 67 (111 and 66), all in the second level (f32,
// Zen 5).
double loop_cost(int body, int latency, int rows) {
  constexpr double hidden = 82, row = 2.5, loop = 6;
  return body * std::max(1.0, latency / hidden) + row * rows + loop;
}

// Four are no faster. Two take 7 to 10 % less than one, and half as long again to compile.
int vectors_of_distributed(int body) { return body <= masked_only ? 2 : 1; }

int vectors_side_by_side(int body, const LongFunctions& functions, bool folds, int registers_each, int registers, bool runs_long) {
  constexpr int few_constants = 4;               // in registers beside one value of each vector
  constexpr int one_value = 4;                   // bodies up to this size have little more alive
  // Four values of each vector: more would leave the registers, and a processor begins with the next vectors by itself. With sixteen registers of 32
  // bytes, one vector of f64 instead of two: polynomials of degree eight 25 % less, gelu 20, logarithms 15; two of f32 instead of four: polynomials
  // 14 % less; variances of columns take 15 ms less to compile of 36 (Zen 3).
  const int in_registers = std::max(1, registers / (4 * registers_each));
  if (body <= small_body) {
    const int most = 4 * registers_each + few_constants <= registers ? 4 : 2;
    return folds || body <= one_value ? most : std::min(most, in_registers);
  }
  // One to three functions wait for their results: four vectors take 7 to 15 % less, and 1.5 to 3 ms more to compile. Shorter bodies gain
  // nothing, longer ones more, but their compile time is what a user waits for (Zen 5). Functions from tables wait the least, and other
  // ops of an eighth of their cost fill that: gelu takes .37 ns an element with two vectors, .38 with four, with its gradient .45 and .51 (Zen 4).
  const bool filled = functions.cost > 0 && functions.all_from_tables && 9 * functions.cost <= 8 * body;
  if (body >= 32 && body <= interleaved_body && 32 * registers_each <= registers && !filled) return 4;
  if (body <= long_body) return std::min(2, in_registers);
  // Two of sixteen registers' vectors reach the stack, and yet a processor has more to do meanwhile: sigmoid(x) tanh(y) takes .75 of the time, with
  // exp(-x^2) .85, Black-Scholes .75, and 4 to 7 ms more to compile. Powers and lgamma have enough to do by themselves (Zen 3).
  const bool pays = runs_long && functions.longest <= long_body;
  if (body <= masked_only) return (pays ? 8 : 16) * registers_each <= registers ? 2 : 1;
  if (functions.cost > 0) return 1;              // their rare branches are code enough
  // Chains as long as these wait for every result: an instruction takes two to four cycles, and two can begin in each. Sixteen registers hold
  // no more than four vectors of what is alive. Of thirty-two, eight vectors take two thirds of four's time, and three times as long to compile.
  return std::max(1, (registers >= 32 ? 8 : 4) / registers_each);
}

int whole_repetitions(int vectors, int repetition) {
  if (repetition > 8 || vectors == 1) return vectors;
  return repetition * std::max(1, (vectors + repetition / 2) / repetition);
}

int equal_parts(int vectors, Index total) {
  for (int part = static_cast<int>(std::min<Index>(vectors, total)); 2 * part > std::min<Index>(vectors, total); --part)
    if (total % part == 0) return part;
  return vectors;
}

bool picks_joined_rows(int count, std::size_t element_bytes, bool is_load, bool past_caches, Index apart) {
  if (past_caches) return count <= 8;
  if (apart > count) return element_bytes == 1 && apart <= longest_row;
  if (count == 4) return element_bytes == 1;
  return count <= (is_load && element_bytes > 2 ? 3 : 7);
}

bool folds_by_transposes(Index count, int arrays, int folds, std::size_t widest, std::size_t register_bytes) {
  if (std::has_single_bit(static_cast<std::uint64_t>(count)) || arrays > 2 * folds) return false;
  return count > 8 || (count > 4 && arrays == 1 && folds == 1 && widest == 4 && register_bytes < 64);
}

int elements_of_tile(int registers_each, double bytes_of_lines) {
  return registers_each > 1 && bytes_of_lines <= static_cast<double>(first_level_share) ? 8 : 16;
}

int rows_together(int registers_each, int registers) { return std::clamp(registers / (2 * registers_each), 2, 4); }

// Six rows of four vectors are no faster than four, and more code (products of 64 to 1024 square, Zen 4). Eight of two vectors are, since sums wait
// for the ones before them: 32 x 512 x 512 1.15 to 1.4 times (Zen 5). The lines of sixteen rows do not stay in the first level, unless rows are neighbours: x^T x of 1000 rows,
// 9 x 9 in one block of nine 10.8 -> 5.1 us, 15 x 15 in one of fifteen 11.3 -> 8.1 (Zen 4).
int rows_of_register_block(int registers, int registers_of_row, int sums, Index all, bool neighbours) {
  constexpr int few = 4, many = 8;
  constexpr double odd = 1.05;          // their operands are packed in pieces that overlap
  const int most = std::min((registers - 2 - registers_of_row) / (registers_of_row * sums), std::max(few, 16 / (registers_of_row * sums)));
  const auto cost = [&](Index rows) { return static_cast<double>((all + rows - 1) / rows * (rows + 1)) * (rows % few == 0 ? 1 : odd); };
  int best = std::clamp(most, 1, few);
  for (int rows = best + 1; rows <= most; ++rows)
    if ((neighbours || rows == many) && cost(rows) < cost(best)) best = rows;
  return best;
}

int vectors_of_register_block(int most, Index all) {
  const auto cost = [&](int vectors) { return static_cast<double>((all + vectors - 1) / vectors) * (vectors + 0.5); };      // the rows' own operands are loaded once for all
  int best = 1;
  for (int vectors = 2; vectors <= most; ++vectors)
    if (cost(vectors) <= cost(best)) best = vectors;
  return best;
}

Index rows_packed(Index row_bytes, Index rows_of_block) {
  constexpr Index scratch = Index{4} << 20;
  return std::clamp(scratch / std::max<Index>(1, row_bytes), rows_of_block, most_rows_packed) / rows_of_block * rows_of_block;
}

Index panels_together(Index panel_bytes, Index all) {
  constexpr Index results = Index{128} << 10;
  return std::clamp<Index>(results / std::max<Index>(1, panel_bytes), 1, std::max<Index>(1, all));
}

bool is_from_tables(Op op, DType dtype) { return dtype == f32 && (op == Op::tanh || op == Op::erf); }

bool looks_up_coefficients(Op op, DType dtype) {
  return dtype != f64 && (op == Op::tanh || op == Op::erf || op == Op::erfc || op == Op::softplus || op == Op::logaddexp);
}

DividerUse divider_use(Op op, bool is_f64) {
  switch (op) {
    case Op::sqrt: return {1, 0};
    case Op::divide: case Op::reciprocal: case Op::sigmoid: return {0, 1};
    case Op::tanh: case Op::log: case Op::log2: case Op::log10: case Op::log1p: case Op::softplus: case Op::logaddexp: return {0, is_f64 ? 1 : 0};
    default: return {};
  }
}

// On the calling thread and one more, layer_norm's first call takes 7 ms instead of 9, that of a logistic loss and its gradient 7.7 instead of 11 (Zen 4).
int code_per_piece(int code, int parts) {
  return parts == 1 ? largest_piece : std::min(largest_piece, code / parts);
}

// sqrt(x * x + 1) in the first level: .17 ns an element by the instruction, .16 from estimates, .11 half and half (Zen 4).
DividerUse halves_by_estimates(const Machine& machine, const DividerUse& use, int body, bool is_f64, bool parts) {
  const double root = machine.square_root * (is_f64 ? 2 : 1), quotient = machine.quotient * (is_f64 ? 1.6 : 1);
  const double root_steps = is_f64 ? 16 : 12, quotient_steps = 21;
  double busy = use.roots * root + use.quotients * quotient, rest = body - (use.roots + use.quotients) * op_cost(Op::sqrt);
  const int least = parts ? 1 : 2;
  const auto moves = [&](double unit, double steps) {
    unit *= least * 0.5, steps *= least * 0.5;
    if (std::max(busy - unit, rest + steps) >= std::max(busy, rest)) return false;
    busy -= unit, rest += steps;
    return true;
  };
  DividerUse moved;
  while (moved.roots < 2 * use.roots && moves(root, root_steps)) moved.roots += least;
  while (is_f64 && moved.quotients < 2 * use.quotients && moves(quotient, quotient_steps)) moved.quotients += least;
  return moved;
}

int elements_together(int body, bool ordered, Index extent, double first_level_ways) {
  if (body > 24) return 1;
  // Where sixteen rows of slots are live, eight streams beside them need more than the eight ways of most first levels: with eight, four are
  // 10 % faster (4096 x 4096 floats, Zen 4); with twelve, eight are 16 % (8192 x 1024, Zen 5).
  int elements = body > 8 || (ordered && first_level_ways < 12) ? 4 : 8;
  while (elements > 2 && extent < elements * fold_slots) elements /= 2;
  return elements;
}

}  // namespace weft
