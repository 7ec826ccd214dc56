// Which outputs may lie exactly where an input lies: the input is read by one program only, each element in the iteration that writes it,
// or by loops before the one that does, before the write.
#include <algorithm>

#include "variant.h"
#include "program/visit.h"

namespace weft {
namespace {

// Loads and stores of a program, in order, and whether all are of one element at a time.
struct Accesses {
  std::vector<std::pair<int, const Load*>> loads;
  std::vector<std::pair<int, const Store*>> stores;
  int count = 0;
  bool elements = true;
};
Accesses accesses_of(const Program& program) {
  Accesses found;
  each_item(program.root, [&](const Item& item, const Loop&) {
    if (auto* load = std::get_if<Load>(&item)) found.loads.emplace_back(found.count++, load);
    if (auto* store = std::get_if<Store>(&item)) found.stores.emplace_back(found.count++, store);
    if (std::holds_alternative<Others>(item)) found.elements = false;
  });
  return found;
}

bool reads(const Program& program, NodeId input) {
  return std::any_of(program.buffers.begin(), program.buffers.end(), [&](const Buffer& b) { return b.place == Place::argument && b.node == input; });
}

}  // namespace

bool may_share(const std::vector<Program>& programs, NodeId input, NodeId output) {
  const Program* home = nullptr;
  for (const Program& program : programs) {
    if (reads(program, input)) {
      if (home) return false;
      home = &program;
    }
  }
  if (!home) return false;
  const Accesses accesses = accesses_of(*home);
  if (!accesses.elements || !home->folds.empty()) return false;
  const auto is = [&](int buffer, Place place, NodeId node) { return home->buffer(buffer).place == place && home->buffer(buffer).node == node; };   // rows of scratch have nodes too
  bool is_written = false;
  for (const auto& [written, store] : accesses.stores) {
    if (!is(store->buffer, Place::result, output)) continue;
    is_written = true;
    for (const auto& [read, load] : accesses.loads)
      if (is(load->buffer, Place::argument, input) && (read > written || load->guarded || load->at != store->at)) return false;
  }
  return is_written;
}

}  // namespace weft
