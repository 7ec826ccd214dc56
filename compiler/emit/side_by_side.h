// Copies of a loop's body that run side by side, for several elements of a loop outside: what they are, and what differs between them. Where nothing
// does, there is one body and no copy.
#pragma once
#include "quotients.h"

namespace weft {

class SideBySide : protected Quotients {
 protected:
  using Quotients::Quotients;

  struct FoldState {                            // of folds.h: each copy has its own
    std::vector<llvm::AllocaInst*> registers;   // folded over the lanes: one vector per interleaved step
    bool is_extreme = false;                    // of floats, in registers: see extreme.cpp
    llvm::AllocaInst* nan = nullptr;            // beside them: whether any element was; of a running one, of all lanes or none (emit_running.cpp)
    llvm::BasicBlock* started_in = nullptr;     // until the first elements come: as long as no branch does, they need not be combined with the unit
    Value* cell = nullptr;                      // no row axes: the slots, on the stack
    Value* memory = nullptr;                    // row axes: slots * elements in scratch; slot 0 is the result row
    Value* stack = nullptr;                     // the tree over leaves
    Value *elements = nullptr, *in_use = nullptr;       // of one row: all of them, and those of the current unit
    int slots = 1;
  };
  struct JamCopy {
    std::vector<Value*> axis_index, scalars;
    std::unordered_map<const void*, LaneAccess> accesses;
    std::unordered_map<int, Value*> spread;
    std::map<std::string, InvariantDivisor> divisors;
    std::vector<FoldState> folds;
  };
  struct Copies {                               // what they are, and what becomes of what they make
    int tiled_by = -1;                          // neighbours along this axis of the outer loop; operands that lie across are transposed
    int thin = 0;                               // all elements of a fold, so many
    bool along_rows = false;                    // of those, as steps of one body: a vector of sixteen whole rows each, not an element (emit_thin.cpp)
    int swept = 0;                              // tiles in blocks of so many vectors: the next ones are many tiles later
    bool rolled = false;                        // one body for all of them, one after the other
    bool down_columns = false;                  // whoever emits the body adds to the folds
    bool in_registers = false;                  // rows of a block of sums
    bool keep_windows = false;                  // what one has loaded of overlapping windows is kept for the others
    bool left_over = false;                     // one body, for what copies leave of a loop: single vectors, as code takes longer than they do
    const Loop* taker = nullptr;                // takes what they fold ..
    bool taken_past_caches = false;             // .. and stores it past the caches
  };

  void exchange(JamCopy& copy);
  template <class Body> void each_copy(Body body);
  template <class Body> void as_copies(const Copies& what, Body body);
  int copies() const { return copies_.rolled ? lane_count : std::max(1, static_cast<int>(jam_.size())); }
  bool is_first_copy() const { return jam_.empty() || jam_copy_ == 0; }
  bool is_last_copy() const { return jam_.empty() || jam_copy_ + 1 == jam_.size(); }
  int steps_of(const Loop& loop) const;         // vectors side by side

  std::vector<JamCopy> jam_;                    // empty outside such a loop
  std::size_t jam_copy_ = 0;                    // whose turn it is
  int copied_axis_ = -1;                        // whose elements they are
  Copies copies_;
  std::unordered_map<const void*, LaneAccess> accesses_;       // by item
  std::vector<FoldState> folds_;                // by fold
};

// body(), as each of the copies.
template <class Body> void SideBySide::each_copy(Body body) {
  if (jam_.empty()) return body();
  for (jam_copy_ = 0; jam_copy_ < jam_.size(); ++jam_copy_) {
    exchange(jam_[jam_copy_]);
    body();
    exchange(jam_[jam_copy_]);
  }
}

// body(), whose copies are what is said.
template <class Body> void SideBySide::as_copies(const Copies& what, Body body) {
  const Copies before = std::exchange(copies_, what);
  body();
  copies_ = before;
}

}  // namespace weft
