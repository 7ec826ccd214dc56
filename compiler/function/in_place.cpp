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
  const auto holds = [&](int buffer, NodeId node) { return home->buffers[static_cast<std::size_t>(buffer)].node == node; };
  for (const auto& [written, store] : accesses.stores)
    if (holds(store->buffer, output))
      return std::all_of(accesses.loads.begin(), accesses.loads.end(), [&, at = written, to = store](const auto& access) {
        const auto& [read, load] = access;
        return !holds(load->buffer, input) || (read < at && !load->guarded && load->at == to->at);
      });
  return false;
}

}  // namespace weft
