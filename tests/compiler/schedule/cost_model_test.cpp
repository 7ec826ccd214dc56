// The cost model: what must be dearer than what, and that results do not depend on its numbers.
#include "schedule/cost_model.h"

#include <doctest/doctest.h>

#include "compiled.h"
#include "function/compile_for.h"

using namespace weft;

namespace {

// A text compiled for a machine.
Function compile_on(const Machine& machine, const std::string& text) {
  Graph graph = parse(text);
  std::vector<Expr> inputs, outputs;
  for (NodeId id : graph.inputs) inputs.emplace_back(graph, id);
  for (NodeId id : graph.outputs) outputs.emplace_back(graph, id);
  return compile_for(machine, outputs, inputs, checked());
}

Machine odd_machine(double memory, double gather, double second_level) {
  Machine machine;
  machine.second_level_read = machine.third_level_read = machine.memory_read = memory;
  machine.second_level_write = machine.third_level_write = machine.memory_write = memory;
  machine.gather = gather;
  machine.second_level_bytes = second_level;
  machine.vector_ps = 1e6;
  return machine;
}

constexpr const char* softmax_gradient = R"(graph s(%x: f32[n,m], %y: f32[n,m]) -> (%5, %8) {
  %0: f32[i:n] = max(j:m) copy(%x[i,j])
  %1: f32[i:n,j:m] = subtract(%x[i,j], %0[i])
  %2: f32[i:n,j:m] = exp(%1[i,j])
  %3: f32[i:n] = sum(j:m) copy(%2[i,j])
  %4: f32[i:n] = reciprocal(%3[i])
  %5: f32[i:n,j:m] = multiply(%2[i,j], %4[i])
  %6: f32[i:m] = sum(j:n) multiply(%5[j,i], %y[j,i])
  %7: f32[i:n,j:m] = multiply(%5[i,j], %6[j])
  %8: f32[i:n,j:m] = subtract(%7[i,j], %y[i,j])
})";
constexpr const char* turned = R"(graph t(%x: f32[n,m], %y: f32[m,n]) -> (%0, %1) {
  %0: f32[i:m,j:n] = add(%x[j,i], %y[i,j])
  %1: f32[i:n] = sum(j:m) multiply(%x[i,j], %y[j,i])
})";

}  // namespace

TEST_CASE("costs grow with what is done: gathers, functions, memory far away, short and carried loops") {
  const Machine machine;
  AxisUse contiguous, twos, fours, joined, across, near, jumps;
  contiguous.add(1, StrideClass::unit, 1000);
  twos.add(2, times(StrideClass::unit, 2), 1000);
  fours.add(4, times(StrideClass::unit, 4), 1000);
  joined.add(3, StrideClass::joined, 1000);
  across.add(300, StrideClass::other, 1000, true);
  near.add(4, StrideClass::other, 1000);
  jumps.add(1024, StrideClass::other, 1000);
  CHECK(access_cost(machine, joined) > access_cost(machine, contiguous));
  CHECK(access_cost(machine, across) > access_cost(machine, joined));
  CHECK(access_cost(machine, near) > access_cost(machine, across));
  CHECK(access_cost(machine, twos) > access_cost(machine, contiguous));
  CHECK(access_cost(machine, fours) > access_cost(machine, twos));
  CHECK(access_cost(machine, near) > access_cost(machine, fours));
  CHECK(access_cost(machine, jumps) > access_cost(machine, near));
  CHECK(op_cost(Op::add) < op_cost(Op::divide));
  CHECK(op_cost(Op::divide) < op_cost(Op::exp));
  CHECK(op_cost(Op::exp) < op_cost(Op::power));
  MemoryCost last{0, 0};
  for (double bytes : {1e3, 1e6, 1e9}) {
    const MemoryCost cost = memory_cost(machine, bytes);
    CHECK(cost.read > last.read);
    CHECK(cost.write > last.write);
    CHECK(cost.write >= cost.read);
    last = cost;
  }
  double before = vector_axis_cost(contiguous, access_cost(machine, contiguous), 0, 100, 1, true);
  for (Index extent : {2, 4, 8, 15, 16}) {
    const double cost = vector_axis_cost(contiguous, access_cost(machine, contiguous), 0, 100, extent, true);
    CHECK(cost < before);
    before = cost;
  }
  CHECK(vector_axis_cost(contiguous, access_cost(machine, contiguous), 0, 100, 1 << 20, true) == before);
  CHECK(vector_axis_cost(contiguous, access_cost(machine, contiguous), 10, 100, 16, true) > before);
}

TEST_CASE("long functions along short rows cost more than their elements, the more so the shorter the rows are") {
  const auto cost = [&](Index extent, double functions, int folds, bool masks = true, bool known_end = false) {
    const double elements = 1e6, rows = elements / static_cast<double>(extent);
    return vector_axis_cost({.whole = elements, .folded = folds > 0, .kept_beside = folds > 0 ? rows : 0, .folds = folds, .functions = functions * elements}, elements, 0, 100, extent, masks, known_end);
  };
  const double long_row = cost(1024, 20, 2);
  double before = cost(17, 20, 2);
  for (Index extent : {20, 24, 31, 32}) {
    CHECK(cost(extent, 20, 2) < before);
    before = cost(extent, 20, 2);
  }
  CHECK(before > long_row);
  CHECK(cost(33, 20, 2) > cost(32, 20, 2));           // a part of a vector
  CHECK(cost(33, 20, 2, false) > cost(33, 20, 2));
  CHECK(cost(32, 20, 2, false) == cost(32, 20, 2));
  CHECK(cost(33, 20, 2, false, true) == long_row);    // its end is known
  CHECK(cost(33, 20, 2, true, true) == cost(33, 20, 2));
  CHECK(cost(20, 20, 3) > cost(20, 20, 2));
  CHECK(cost(20, 30, 2) > cost(20, 20, 2));
  CHECK(cost(20, 0, 2) == long_row);
  CHECK(cost(20, 20, 0) == long_row);
  CHECK(cost(65, 20, 2) == long_row);
  CHECK(vector_axis_cost({.whole = 1000, .folded = true, .kept_beside = 50, .folds = 2, .functions = 20000}, 1000, 0, 100, 20, true) == 1100);   // few rows
}

TEST_CASE("a root is poor if it is folded, thin, or the vector axis; a longer one is no poorer") {
  const AxisUse plain{}, folded{.folded = true, .kept_beside = 10}, folded_to_many{.folded = true, .kept_beside = 1e6};
  CHECK(root_cost(plain, 1000, false, 1).total() == 0);
  CHECK(root_cost(plain, 15, false, 1).total() > 0);
  CHECK(root_cost(plain, 1000, true, 1).total() > 0);
  CHECK(root_cost(folded, 1000, false, 1).total() > root_cost(folded, 1 << 20, false, 1).total());
  CHECK(root_cost(folded_to_many, 1000, false, 1).total() > root_cost(folded, 1000, false, 1).total());
  CHECK(root_cost(plain, 64, true, 2).total() > root_cost({.whole = 1}, 8, false, 2).total());
  CHECK(root_cost(plain, 64, true, 1).total() < root_cost({.whole = 1, .within_lines = true}, 8, false, 1).total());
  for (const AxisUse& use : {plain, folded, folded_to_many})
    for (bool vectors : {false, true})
      for (int threads : {1, 2, 64}) {
        double before = 100;
        for (Index extent = 1; extent < 1 << 20; extent *= 2) {
          const double cost = root_cost(use, extent, vectors, threads).total();
          CHECK(cost <= before);
          before = cost;
        }
      }
}

TEST_CASE("units are smaller where rows are long, or threads have none") {
  const double large = 1e6;
  CHECK(unit_of_vectors(0, 1024, large, 1, 10) == fold_leaf);
  CHECK(unit_of_vectors(0, 1024, large, 2, 10) == 256);
  CHECK(unit_of_vectors(0, 1000, large, 2, 10) == 256);             // the last one is shorter
  CHECK(unit_of_vectors(0, 1024, large, 64, 10) == 128);
  CHECK(unit_of_vectors(0, 1024, 2000, 2, 10) == fold_leaf);       // too little work to share
  CHECK(unit_of_vectors(0, 1 << 20, large, 8, 10) == fold_leaf);
  CHECK(unit_of_vectors(256, 1 << 20, large, 1, 10) == 64);
  CHECK(unit_of_vectors(256, 1024, large, 8, 10) == 64);
  CHECK(unit_of_vectors(256, 1 << 20, large, 1, 10000) == 512);    // the code is longer than the rows
  CHECK(unit_of_vectors(52, 1 << 20, large, 1, 10000) == 1024);    // by far
  CHECK(unit_of_vectors(52, 4096, large, 2, 10000) == 1024);
  CHECK(unit_of_vectors(52, 4096, large, 4, 10000) == 512);        // or threads had too few
}

TEST_CASE("loops whose results wait for each other cost more than two that hide it, and rows between them something") {
  CHECK(loop_cost(130, 126, 0) > loop_cost(40, 63, 0) + loop_cost(90, 66, 2));
  CHECK(loop_cost(130, 66, 0) < loop_cost(40, 63, 0) + loop_cost(90, 66, 2));
  CHECK(loop_cost(40, 60, 1) > loop_cost(40, 60, 0));
  CHECK(op_latency(Op::erf) > op_latency(Op::divide));
  CHECK(op_latency(Op::divide) > op_latency(Op::add));
  CHECK(vectors_of_distributed(130) > vectors_of_distributed(1000));
  CHECK(unit_of_vectors(28, 1 << 20, 1e6, 1, 130, strip_share) == 256);
}

TEST_CASE("one nest whose vector axis is the root serves several threads if it has tiles for all, which stay in cache") {
  Machine machine;
  machine.second_level_bytes = 1 << 20;
  const auto lose = [&](Index rows, Index columns, int threads) { return tiles_lose(machine, static_cast<double>(rows * columns * 4), columns, false, threads); };
  CHECK_FALSE(lose(512, 512, 1));
  CHECK_FALSE(lose(512, 512, 2));
  CHECK_FALSE(lose(1000, 1000, 2));
  CHECK(lose(512, 512, 8));                        // tiles for four
  CHECK(lose(3000, 100000, 2));                    // tiles of 12 MB
  CHECK_FALSE(lose(100, 100, 8));                  // too little for them
  CHECK_FALSE(tiles_lose(machine, 1.2e9, 100000, true, 2));        // each is read once
  CHECK(tiles_lose(machine, 1e6, 512, true, 8));
}

namespace {

// What the second level and the third one hold.
Machine with_levels() {
  Machine machine;
  machine.second_level_bytes = 1 << 20;
  machine.third_level_bytes = 1 << 24;
  return machine;
}

}  // namespace

TEST_CASE("scans take as much of a row as threads leave and a cache holds the state of, and no less than any loop") {
  const Machine machine = with_levels();
  const double few = 1e6, many = 1e8;              // bytes
  CHECK(unit_down_rows(machine, Down::scans, 1024, 4, few, 3000, 1) == 3072);
  CHECK(unit_down_rows(machine, Down::scans, 1024, 4, few, 100000, 1) == 4096);
  CHECK(unit_down_rows(machine, Down::scans, 1024, 1, few, 100000, 1) == 16384);
  CHECK(unit_down_rows(machine, Down::scans, 1024, 4, many, 100000, 1) == 65536);
  CHECK(unit_down_rows(machine, Down::scans, 1024, 4, many, 5000, 2) == 2560);
  CHECK(unit_down_rows(machine, Down::scans, 1024, 4, many, 100, 1) == 1024);
  CHECK(unit_down_rows(machine, Down::scans, 256, 4, many, 1024, 2) == 512);
  CHECK(unit_down_rows(machine, Down::scans, 1024, 1e6, many, 100000, 1) == 1024);
}

TEST_CASE("folds of rows in memory take as much of a row as threads leave and the second level has slots for; in the caches what any loop takes") {
  const Machine machine = with_levels();
  const double few = 1e6, many = 1e9;              // bytes
  CHECK(unit_down_rows(machine, Down::folds, 1024, 64, few, 100000, 1) == 1024);
  CHECK(unit_down_rows(machine, Down::folds, 1024, 64, many, 100000, 1) == 16384);
  CHECK(unit_down_rows(machine, Down::folds, 1024, 128, many, 100000, 1) == 8192);
  CHECK(unit_down_rows(machine, Down::folds, 1024, 64, many, 8192, 2) == 4096);
  CHECK(unit_down_rows(machine, Down::folds, 1024, 1e6, many, 100000, 1) == 1024);
  CHECK(unit_down_rows(machine, Down::folds, 1024, 64, many, 1 << 20, 1) == 1024);       // the second level holds all rows of a unit
}

TEST_CASE("sums of few rows, and of rows of which sixteen fill the first level, run along columns") {
  Machine machine;
  machine.first_level_bytes = 49152;
  machine.third_level_bytes = 1 << 24;
  for (const Index rows : {1, 16, 48}) CHECK(columns_before_rows(machine, rows, 400, 1e5, false));
  CHECK_FALSE(columns_before_rows(machine, 49, 400, 1e5, false));
  CHECK_FALSE(columns_before_rows(machine, 1000, 3072, 1e6, false));
  CHECK(columns_before_rows(machine, 1000, 3076, 1e6, false));
  CHECK_FALSE(columns_before_rows(machine, 1000, 4000, 1e7, false));             // the arrays would come from memory twice
  CHECK(columns_before_rows(machine, 16, 4000, 1e5, true));
  CHECK_FALSE(columns_before_rows(machine, 17, 4000, 1e5, true));
}

TEST_CASE("panels that go together: as many as have 128 KiB of results, and no more than there are") {
  CHECK(panels_together(8 << 10, 100) == 16);
  CHECK(panels_together(32 << 10, 100) == 4);
  CHECK(panels_together(8 << 10, 3) == 3);
  CHECK(panels_together(1 << 20, 100) == 1);
  CHECK(panels_together(8 << 10, 0) == 1);
}

TEST_CASE("larger bodies have fewer vectors side by side and fewer elements together, and at least one") {
  const LongFunctions none, tanh{30, 30, true}, sigmoid{30, 30, false};
  for (const bool folds : {false, true})
    for (const LongFunctions& functions : {none, sigmoid})
      for (int registers : {1, 2, 4, 8}) {
        int before = 100;
        for (int body : {1, 16, 17, 31, 101, 160}) {
          const int vectors = vectors_side_by_side(body, functions, folds, registers, 32);
          CHECK(vectors_side_by_side(body, functions, folds, registers, 16) <= vectors);
          CHECK(vectors >= 1);
          CHECK(vectors <= before);
          before = vectors;
        }
        CHECK(vectors_side_by_side(1000, functions, folds, registers, 16) >= 1);
      }
  // Sixteen registers hold four values of two vectors of two registers each, or of one of four; but simple bodies have fewer, and folds wait.
  for (int body : {8, 16}) {
    CHECK(vectors_side_by_side(body, none, false, 2, 16) == 2);
    CHECK(vectors_side_by_side(body, none, false, 4, 16) == 1);
    CHECK(vectors_side_by_side(body, none, true, 2, 16) == 4);
    CHECK(vectors_side_by_side(body, none, false, 1, 32) == 4);
    CHECK(vectors_side_by_side(body, none, false, 2, 32) == 4);
  }
  CHECK(vectors_side_by_side(2, none, false, 2, 16) == 4);
  CHECK(vectors_side_by_side(2, none, false, 4, 16) == 2);
  CHECK(vectors_side_by_side(30, sigmoid, false, 4, 16) == 1);
  CHECK(vectors_side_by_side(40, sigmoid, false, 1, 32) == 4);    // but for those that wait for one to three functions, where registers allow
  CHECK(vectors_side_by_side(40, sigmoid, false, 1, 16) == 2);
  CHECK(vectors_side_by_side(40, sigmoid, false, 2, 32) == 2);
  CHECK(vectors_side_by_side(90, sigmoid, false, 1, 32) == 4);
  CHECK(vectors_side_by_side(130, sigmoid, false, 1, 32) == 2);
  // Two of two registers each, out of sixteen, where that soon pays.
  const LongFunctions power{62, 62, false};
  CHECK(vectors_side_by_side(90, sigmoid, false, 2, 16) == 1);
  CHECK(vectors_side_by_side(90, sigmoid, false, 2, 16, true) == 2);
  CHECK(vectors_side_by_side(90, sigmoid, false, 4, 16, true) == 1);
  CHECK(vectors_side_by_side(62, power, false, 2, 16, true) == 1);
  CHECK(vectors_side_by_side(33, tanh, false, 1, 32) == 4);
  CHECK(vectors_side_by_side(34, tanh, false, 1, 32) == 2);       // and what other ops fill
  CHECK(vectors_side_by_side(41, none, false, 1, 32) == 4);
  CHECK(is_from_tables(Op::tanh, f32));
  for (const Op op : {Op::erf, Op::erfc, Op::softplus}) {
    CHECK(looks_up_coefficients(op, f32));
    CHECK(looks_up_coefficients(op, bf16));
    CHECK_FALSE(looks_up_coefficients(op, f64));
  }
  CHECK_FALSE(looks_up_coefficients(Op::exp, f32));
  CHECK_FALSE(is_from_tables(Op::tanh, f64));
  CHECK_FALSE(is_from_tables(Op::sigmoid, f32));
  CHECK(elements_together(4, false, 4096) > elements_together(4, true, 4096));
  CHECK(elements_together(4, true, 4096) > elements_together(25, true, 4096));
  CHECK(elements_together(4, true, 4096, 12) > elements_together(4, true, 4096, 8));
  CHECK(elements_together(25, false, 4096) == 1);
  for (const bool ordered : {false, true})
    for (const Index extent : {32, 40, 63, 64, 100, 127, 128, 1000}) CHECK(elements_together(4, ordered, extent) * 16 <= extent);
  CHECK(rows_together(1, 32) == 4);
  CHECK(rows_together(2, 16) == 4);
  CHECK(rows_together(4, 16) == 2);
  CHECK(rows_together(8, 16) == 2);
  for (int wanted : {1, 2, 4})
    for (int repetition = 1; repetition <= 8; ++repetition) {
      const int vectors = whole_repetitions(wanted, repetition);
      CHECK((wanted == 1 ? vectors == 1 : vectors % repetition == 0));
    }
  for (int wanted : {1, 2, 3, 4})
    for (Index total = 0; total <= 30; ++total) {
      const int part = equal_parts(wanted, total);
      CHECK((part >= 1 && part <= wanted));
      if (total > 0 && total <= wanted) CHECK(part == total);
    }
  CHECK(equal_parts(4, 6) == 3);
  CHECK(equal_parts(4, 7) == 4);
}

TEST_CASE("threads that sleep are woken for the longer the later they come, and as many take part as the work is worth") {
  Machine slow;
  slow.wake_ns *= 4;
  const ThreadCosts costs = thread_costs(Machine()), slower = thread_costs(slow), as_built{};
  CHECK(costs.parallel_from == as_built.parallel_from);
  CHECK(costs.worker_from == as_built.worker_from);
  CHECK(costs.slice_from == as_built.slice_from);
  CHECK(costs.wake_from == as_built.wake_from);
  CHECK(slower.wake_from == 4 * costs.wake_from);
  CHECK(slower.parallel_from == costs.parallel_from);
  CHECK(sharing_of(3, 1000, 8, costs).threads == 1);
  CHECK(sharing_of(4, 1000, 8, costs).threads == 2);
  CHECK(sharing_of(9, 1000, 8, costs).threads == 4);
  CHECK(sharing_of(1000, 1000, 8, costs).threads == 8);
  CHECK(sharing_of(1, 1000000, 8, costs).threads == 1);
  CHECK(sharing_of(1000, 1000, 1, costs).threads == 1);
}

TEST_CASE("whatever a machine costs, results are the same bits; schedules are not") {
  const Machine machines[] = {odd_machine(1e-3, 1e-3, 1), odd_machine(1e6, 1e6, 1e12)};
  for (const char* text : {softmax_gradient, turned}) {
    const std::vector<Array> inputs = [&] {
      std::vector<Array> arrays;
      const Graph graph = parse(text);
      for (NodeId id : graph.inputs) arrays.push_back(uniform(f32, evaluate(graph.node(id).shape(), {{"n", 70}, {"m", 50}}), arrays.size() + 1));
      return arrays;
    }();
    const Function usual = compile_on(Machine(), text);
    const std::vector<Array> expected = usual(inputs);
    bool differs = false;
    for (const Machine& machine : machines) {
      const Function f = compile_on(machine, text);
      const std::vector<Array> got = f(inputs);
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
      differs |= f.schedule() != usual.schedule();
    }
    CHECK(differs);
  }
}

TEST_CASE("roots and quotients come from estimates where the unit for them would hold up the rest") {
  Machine machine;
  machine.square_root = 26, machine.quotient = 20;
  const DividerUse root{1, 0}, none, all{2, 0}, half{1, 0};
  CHECK(halves_by_estimates(machine, root, 9, false, false) == all);          // an outer product's distance, one vector at a time
  CHECK(halves_by_estimates(machine, root, 9, false, true) == half);          // and several: the unit has the other half
  CHECK(halves_by_estimates(machine, root, 110, false, true) == none);        // Black-Scholes in one loop: hidden behind the rest
  CHECK(halves_by_estimates(machine, {1, 2}, 40, false, true) == all);        // its first loop of two: what is left is two quotients
  CHECK(halves_by_estimates(machine, {1, 3}, 40, true, false) == DividerUse{2, 2});
  CHECK(halves_by_estimates(machine, {0, 1}, 5, false, true) == none);
  CHECK(halves_by_estimates(machine, root, 30, true, false) == all);
  machine.square_root = 10, machine.quotient = 6;
  CHECK(halves_by_estimates(machine, root, 5, false, false) == none);
  CHECK(halves_by_estimates(machine, root, 5, false, true) == half);
  CHECK(halves_by_estimates(machine, {1, 2}, 40, false, true) == none);
  CHECK(divider_use(Op::log, true) == DividerUse{0, 1});
  CHECK(divider_use(Op::log, false) == none);
}

TEST_CASE("tiles of eight: vectors of several registers, lines that stay") {
  CHECK(elements_of_tile(1, 0) == 16);
  CHECK(elements_of_tile(2, 8192) == 8);
  CHECK(elements_of_tile(2, 1 << 20) == 16);
}

TEST_CASE("folds over rows of no power of two of elements are transposed, if few arrays are") {
  for (const std::size_t registers : {32, 64}) {
    for (const Index count : {2, 3, 4, 8, 16}) CHECK_FALSE(folds_by_transposes(count, 1, 1, 4, registers));
    for (const std::size_t widest : {2, 4, 8}) {
      CHECK(folds_by_transposes(10, 1, 1, widest, registers));
      CHECK(folds_by_transposes(15, 2, 1, widest, registers));
      CHECK_FALSE(folds_by_transposes(10, 3, 1, widest, registers));
      CHECK_FALSE(folds_by_transposes(10, 1, 0, widest, registers));
      CHECK(folds_by_transposes(7, 1, 1, widest, registers) == (widest == 4 && registers == 32));
    }
    CHECK_FALSE(folds_by_transposes(7, 2, 1, 4, registers));
    CHECK_FALSE(folds_by_transposes(7, 2, 2, 4, registers));
  }
}

TEST_CASE("blocks of sums in registers") {
  CHECK(rows_of_register_block(32, 4, 1, 1000, false) == 4);        // four vectors of floats, 512 bits
  CHECK(rows_of_register_block(32, 2, 1, 1000, false) == 8);        // two
  CHECK(rows_of_register_block(32, 1, 1, 1000, false) == 8);        // one
  CHECK(rows_of_register_block(32, 2, 1, 12, false) == 4);          // .. three times four of twelve rows
  CHECK(rows_of_register_block(32, 2, 2, 1000, false) == 4);        // two sums
  CHECK(rows_of_register_block(16, 2, 1, 1000, false) == 4);        // one, 256 bits
  CHECK(rows_of_register_block(32, 1, 1, 15, true) == 15);          // neighbours: all of a few
  CHECK(rows_of_register_block(32, 1, 1, 15, false) == 8);
  CHECK(rows_of_register_block(32, 2, 1, 17, true) == 6);           // .. or as many as leave few over
  CHECK(rows_of_register_block(32, 3, 1, 48, true) == 4);
  CHECK(rows_of_register_block(16, 8, 1, 1000, false) == 1);        // one of f64, 128 bits
  CHECK(vectors_of_register_block(4, 16) == 4);
  CHECK(vectors_of_register_block(4, 5) == 3);
  CHECK(vectors_of_register_block(4, 1) == 1);
  CHECK(rows_packed(4096, 4) == 128);
  CHECK(rows_packed(Index{1} << 30, 4) == 4);
}
