// Rows of scratch in the place of arrays that lie across, and the loops that copy between them: how stage_across.h does what it decides.
#pragma once
#include "program.h"

namespace weft {

// An array at one index, and the rows that hold it.
struct Staged {
  int buffer = -1, row = -1;
  int value = -1;                               // on the way from one to the other
  std::vector<Subscript> at;
  std::vector<int> axes;                        // of the rows: the root, then those outside the vector loop, then its own
  int few = -1;                                 // the second of these, if the array runs through the root and it without a gap
  bool is_result = false;
};

class StagedRows {
 protected:
  explicit StagedRows(Program& program) : program_(program), root_axis_(program.root.var.axis) {}

  Index rows_at_once() const { return program_.block > 0 ? program_.block : lane_count; }
  void use_rows(Loop& loop);                    // for all that is staged, wherever the loop reads or writes it
  // Loops over rows, between those that fill rows and those that empty them.
  std::vector<Item> with_copies(std::vector<Item> loops);

  Program& program_;
  const int root_axis_;
  std::vector<Staged> staged_;

 private:
  int add_row(const Staged& s);
  void replace(Loop& loop);
  Loop copy_of(const Staged& s);
  int joined_axis(int few_axis);
};

}  // namespace weft
