// What vector loops fetch ahead of their reading: the next row or block of rows, and what lies ahead of loops that store past the caches.
#pragma once
#include "addresses.h"
#include "schedule/machine.h"

namespace weft {

class Fetches : protected Addresses {
 protected:
  Fetches(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, int lanes, const Machine& machine)
      : Addresses(module, program, classes, plan, lanes), machine_(machine) {}

  void find_accesses();                         // of the program: before any is emitted
  bool is_written(int buffer) const { return is_written_[static_cast<std::size_t>(buffer)]; }
  void fetch_next(const Load& load, LaneAccess& access, Index side_by_side);           // rows that are units
  void fetch_beside(const LaneAccess& access, DType dtype, Value* first, int step);
  bool reads_on(const Loop& loop, const Load& load) const;
  bool follows_closely(const Load& load, const Load& other) const;
  bool folds_from_memory(const Loop& loop) const;
  bool lies_in_memory(int buffer, const std::vector<Subscript>& at) const;
  bool falls_behind(const Load& load) const;    // the processor's own fetching, of so much
  bool reads_rows_of_memory(const Loop& lanes) const;
  double bytes_of_array(int buffer, const std::vector<Subscript>& at) const;
  Index near_ahead(Index streams) const;        // how far each fetches into the first level; 0: it has no room for them

  const Machine machine_;

 private:
  struct Reader {                               // a load and the loop that it is in
    const Load* load;
    const Loop* loop;
    unsigned next_steps = 0;                    // which of its vectors side by side fetch the next row, a bit for each
  };
  const Loop* loop_of_rows() const;
  void fetch_rows_of_fold(const Load& load, LaneAccess& access);
  void find_accesses(const Loop& loop);
  void note_written(int buffer, const std::vector<Subscript>& at);
  void share_next_row(std::vector<Reader>& readers) const;
  double near_room() const;                     // bytes of the first level for what is fetched
  double near_room_of_rows() const;
  bool fetches_next_unit(const Load& load, const Loop& loop) const;
  int walked_down_by_runs(const Load& load, const Loop& loop) const;
  Index units_ahead(const std::vector<Reader>& readers, const Reader& reader) const;
  double bytes_of_row(int buffer, const std::vector<Subscript>& at) const;

  std::vector<std::vector<Reader>> readers_;    // by buffer, in the order of the program: they fetch what comes next
  std::vector<bool> is_written_;                // by buffer
  bool writes_to_memory_ = false;               // arrays that the caches do not hold
};

}  // namespace weft
