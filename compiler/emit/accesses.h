// What a vector loop reads and writes: addresses made before it, what it fetches ahead, and which results it stores past the caches.
#pragma once
#include <map>

#include "emit.h"
#include "folds.h"

namespace weft {

class Accesses : protected Folds {
 protected:
  Accesses(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, const CodeOptions& options)
      : Folds(module, program, classes, plan, options.lanes, options.machine, options.fast_math), stream_(options.stream) {}

  void open_accesses(const Loop& loop);
  void fetch_ahead(const Loop& loop, bool beside_stores);
  std::pair<LaneAccess, LaneAccess> others_access(const Others& item, int lanes);

  // stream.cpp
  bool past_caches() const { return begin_lines(stream_); }
  bool comes_from_memory(const Load& load) const { return stream_ != PastCaches::no || lies_in_memory(load.buffer, load.at); }      // of loads with masks it comes slowly
  bool walks_rows_of_memory(const Loop& loop) const;
  static bool is_one_row(const Store& store, int axis);
  bool is_only_written(const Store& store, int axis) const;
  bool streams(const Store& store, int axis, int lanes = lane_count) const;
  bool is_joined(const Store& store, const Loop& lanes) const;
  void finish_streams();

  // combined_rows.cpp
  void find_combined_rows();
  bool combines_rows() const { return !combined_rows_.empty(); }
  void open_combined_rows(const Loop& loop);
  void close_combined_rows(const Loop& loop);
  void finish_combined_rows();

  const PastCaches stream_;
  std::unordered_map<const void*, std::vector<std::pair<LaneAccess, LaneAccess>>> others_accesses_;   // by Others: of each element along its row

 private:
  void open_others(const Others& item, int lanes);
  bool streams_joined(const Store& store, int few, int axis) const;

  struct CombinedRow {
    const Store* store;
    Extent row;                                 // bytes
    Extent state, memory;                       // where they are in scratch
  };
  using StoresOfBuffers = std::map<int, std::vector<std::pair<const Store*, const Loop*>>>;      // with no loop: it does not write whole rows
  void find_stores(const Loop& loop, bool is_part, StoresOfBuffers& stores) const;
  bool goes_by_lines(const Store& store, const Loop& loop) const;
  Value* combined_end(const CombinedRow& combined);
  template <class Body> void each_combined_row(const Loop& loop, Body body) {
    for (const CombinedRow& combined : combined_rows_)
      for (const Item& item : loop.body)
        if (std::get_if<Store>(&item) == combined.store) body(combined, accesses_.at(&item));
  }

  std::vector<CombinedRow> combined_rows_;
};

}  // namespace weft
