#include "neighbours.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include <weft/compiled_math.h>
#include <weft/interpret.h>

#include "race.h"

namespace bench {
namespace {

using weft::Array;

// Operations on elements, as the graph counts them: a function or a division as eight sums or products, an f64 as two f32.
double operations(const weft::Graph& graph, const weft::Bindings& sizes) {
  double total = 0;
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const weft::Node& node = graph.node(weft::id_of(k));
    if (node.kind != weft::Kind::apply) continue;
    const bool dear = weft::info(node.op).rule == weft::DTypeRule::floating || node.op == weft::Op::power;
    total += static_cast<double>(weft::element_count(evaluate(node.domain, sizes)) * weft::item_bytes(node.dtype)) * (dear ? 2 : 0.25);
  }
  return total;
}

// What has to be read and written, once: of elements, and of the cache lines these are in.
struct Amount {
  double bytes = 0, lines = 0, operations = 0;
};

// A member of a family, ready to be called.
struct Contestant {
  weft::Function function;
  Arrays data;
  weft::Call call;
  Amount amount;
};

Amount amount_of(const weft::Function& function, const Arrays& data, const Setup& setup) {
  Amount amount;
  for (const auto* group : {&data.inputs, &data.outputs})
    for (const Array& each : *group) {
      const auto [first, last] = each.byte_range();
      amount.bytes += static_cast<double>(each.size() * weft::item_bytes(each.dtype()));
      amount.lines += static_cast<double>(last - first);
    }
  amount.operations = operations(function.final_graph(data.inputs), bindings(setup));
  return amount;
}

Contestant contestant(const Family& family, const Setup& setup, const weft::Options& options) {
  const weft::Function function = compile(family, setup, options);
  const Arrays data = arrays(function, setup);
  return {function, data, function.bind(data.inputs, data.outputs), amount_of(function, data, setup)};
}

// The function that is measured, on few elements of the same layout: every bit of the interpreter.
bool is_right(const weft::Function& function, const Setup& setup) {
  const Arrays data = arrays(function, setup);
  function.run(data.inputs, data.outputs);
  const weft::Graph& graph = function.final_graph(data.inputs);
  const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, data.inputs, {}, weft::compiled_math);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Array result = data.outputs[k].copy();
    if (std::memcmp(result.data(), expected[k].data(), static_cast<std::size_t>(result.size()) * weft::size_of(result.dtype())) != 0) return false;
  }
  return true;
}

struct Row {
  std::string family, variation;
  double sibling = 0, neighbour = 0;                     // ns for each byte
  double by_bytes = 0, by_lines = 0, by_operations = 0;  // how many times the sibling's time
  std::string sibling_loops, neighbour_loops;
};

Row measure(const Family& family, const Variation& variation, const Contestant& sibling, const Contestant& neighbour, int threads) {
  const auto times = race({[&] { sibling.call(); }, [&] { neighbour.call(); }}, threads, 0.2);
  const double slower = times[1] / times[0];
  const Amount &a = sibling.amount, &b = neighbour.amount;
  return {family.name, variation.name, times[0] * 1e9 / a.bytes, times[1] * 1e9 / b.bytes,
          slower * a.bytes / b.bytes, slower * a.lines / b.lines, slower * a.operations / b.operations,
          sibling.function.schedule(), neighbour.function.schedule()};
}

std::string name(const Row& row) { return row.family + ": " + row.variation; }

void print(const Row& row) {
  std::printf("| %s | %.4f | %.4f | %.2f | %.2f | %.2f |\n", name(row).c_str(), row.sibling, row.neighbour, row.by_bytes, row.by_lines, row.by_operations);
}

void print_csv(const Row& row, int threads) {
  // Names may hold commas; the numbers do not.
  std::printf("%s,%d,%.5g,%.5g,%.4g,%.4g,%.4g\n", name(row).c_str(), threads, row.sibling, row.neighbour, row.by_bytes, row.by_lines, row.by_operations);
  std::fflush(stdout);
}

constexpr double allowed = 1.25;

// Why they are slow is mostly to be seen: other loops than the sibling's, or the same ones over other steps in memory.
void print_worst(const Row& row, std::size_t place) {
  std::printf("%zu. %s: %.2f (by cache lines %.2f, by operations %.2f); ", place, name(row).c_str(), row.by_bytes, row.by_lines, row.by_operations);
  if (row.neighbour_loops == row.sibling_loops) std::printf("the sibling's loops:\n%s", row.neighbour_loops.c_str());
  else std::printf("the sibling's loops and its own:\n%s%s", row.sibling_loops.c_str(), row.neighbour_loops.c_str());
}

void print_table(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.by_bytes > b.by_bytes; });
  std::printf("| neighbour | sibling ns/byte | ns/byte | ratio | by cache lines | by operations |\n|---|---|---|---|---|---|\n");
  for (const Row& row : rows) print(row);
  const auto count = [&](const auto& within) { return static_cast<long>(std::count_if(rows.begin(), rows.end(), within)); };
  std::printf("%zu neighbours; within %.2f times their siblings: %ld by bytes, %ld by bytes, cache lines or operations. The worst by bytes:\n", rows.size(), allowed,
              count([](const Row& row) { return row.by_bytes <= allowed; }),
              count([](const Row& row) { return std::min({row.by_bytes, row.by_lines, row.by_operations}) <= allowed; }));
  for (std::size_t k = 0; k < std::min<std::size_t>(rows.size(), 10); ++k) print_worst(rows[k], k + 1);
}

}  // namespace

int neighbours(std::string_view filter, bool csv, const weft::Options& options) {
  std::vector<Row> rows;
  bool right = true;
  if (csv) std::printf("neighbour,threads,sibling_ns_per_byte,ns_per_byte,ratio,by_lines,by_operations\n");
  for (const Family& family : families()) {
    std::unique_ptr<Contestant> cached;                    // the sibling of all but the huge
    for (const Variation& variation : variations()) {
      if ((family.name + ": " + variation.name).find(filter) == std::string::npos || !variation.applies(family)) continue;
      const auto changed = [&](Setup setup) { variation.change(family, setup); return setup; };
      if (!variation.large && !cached) cached = std::make_unique<Contestant>(contestant(family, sibling(family), options));
      const Contestant beside = variation.large ? contestant(family, large_sibling(family), options) : *cached;
      const Contestant neighbour = contestant(family, changed(variation.large ? large_sibling(family) : sibling(family)), options);
      rows.push_back(measure(family, variation, beside, neighbour, options.threads));
      if (csv) print_csv(rows.back(), options.threads);
      if (is_right(neighbour.function, changed(small_sibling(family)))) continue;
      right = false;
      std::fprintf(stderr, "%s differs from the interpreter\n", name(rows.back()).c_str());
    }
  }
  if (!csv) print_table(rows);
  if (!right) std::fprintf(stderr, "SOME RESULTS DIFFER.\n");
  return right ? 0 : 1;
}

}  // namespace bench
