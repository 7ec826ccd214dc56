// What a compiled variant needs at run time besides machine code: a table of sizes and a table of arrays.
//
// Kernels read every extent and stride from the sizes table, so new sizes do not recompile, unless a size is not what the
// code takes for granted. A SizeSpec says how an entry is computed when a call is bound; a Slot says which array an address belongs to.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <weft/kernel.h>
#include <weft/merge.h>
#include <weft/search.h>

#include "program/program.h"

namespace weft {

struct SizeSpec {
  Extent extent;                        // the entry's value, unless it is a stride
  Index at_least = INT64_MIN;
  int slot = -1, dim = -1;              // the stride of this array along this dimension, in bytes
  Index times = 1;                      // so many of it
};

class SizeTable {
 public:
  int add(const Extent& extent, Index at_least = INT64_MIN);
  int stride(int slot, int dim, Index times = 1);
  const std::vector<SizeSpec>& specs() const { return specs_; }

 private:
  std::vector<SizeSpec> specs_;
  std::map<std::string, int> numbers_;
};

struct Slot {
  Place place = Place::argument;
  NodeId node;
  Extent bytes;                         // temporary and partial: memory to provide for the call
};

// What a vector loop became; report() tells it.
struct LoopCode {
  int axis, outer;                      // outer: whose elements are worked on together, or -1
  int instructions;                     // of one vector
  int vectors, elements;                // side by side, and of the outer axis
  bool tiled, tables, columns;          // columns: down all elements of the outer axis, folded in registers
  bool swept, staged, rolled, takes;    // swept: tiles in blocks; staged: whose results go through scratch; rolled: by way of squares in memory; takes: what a loop before it folds, in registers
  bool in_registers;                    // sums of several elements of the outer axis at once, in registers
  int streams;                          // results that are stored past the caches
  bool searches;                        // it ends at the first index that it folds
};

struct StagePlan {
  std::string symbol;                   // of the machine code, if it has any
  std::string name;
  int units = -1, work = -1, scratch = -1;
  Index together = 1;                   // units
  Index slice_work = 0;                 // nanoseconds, once for units that run in turn
  Extent elements = 0;                  // of the outermost loop
  Index unit = 1;                       // how many of them
  std::vector<LoopCode> loops;          // in order
  std::shared_ptr<const Merge> merge;   // in place of code
  std::shared_ptr<const UnitSearch> search;     // which of its units run
  std::vector<StageArray> arrays;       // of code that numbers its arrays itself
};

// Everything of one variant but the machine code.
struct Plan {
  std::vector<Program> programs;
  SizeTable sizes;
  std::vector<Slot> slots;
  std::vector<StagePlan> stages;
  ReliedFacts relied;
  int slot_of(Place place, NodeId node);                        // by node; made on first use
  int stride(const Buffer& buffer, int slot, std::size_t dim, Index times = 1);       // its entry of the sizes table
  std::map<std::pair<NodeId, bool>, int> slot_numbers;          // (node, is a partial)
};

Extent row_elements(const Buffer& buffer);                      // of a row or partial, rounded up to whole vectors
Extent stride_between(const Buffer& buffer, std::size_t dim);   // in bytes, of a buffer without gaps

// By buffer, -1 for those that lie in no array; and what memory the call is to provide for them.
std::vector<int> slots_of(const Program& program, Plan& plan);

// Makes one of the partial results of the program's units, in a fixed tree, and brings it to its array. slots: by buffer.
StagePlan plan_merge(const Program& program, const std::vector<int>& slots, Plan& plan);     // plan_merge.cpp

// Which units of a program that searches run; null: all do.
std::shared_ptr<const UnitSearch> plan_search(const Program& program, const std::vector<int>& slots, Plan& plan);     // plan_search.cpp

}  // namespace weft
