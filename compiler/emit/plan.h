// What a compiled variant needs at run time besides machine code: a table of sizes and a table of arrays.
//
// Kernels read every extent and stride from the sizes table, so new sizes do not recompile, unless a size is not what the
// code takes for granted. A SizeSpec says how an entry is computed when a call is bound; a Slot says which array an address belongs to.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "program/program.h"

namespace weft {

struct SizeSpec {
  Extent extent;                        // the entry's value, unless it is a stride
  Index at_least = INT64_MIN;
  int slot = -1, dim = -1;              // the stride of this array along this dimension, in bytes
};

class SizeTable {
 public:
  int add(const Extent& extent, Index at_least = INT64_MIN);
  int stride(int slot, int dim);
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
};

struct StagePlan {
  std::string symbol;                   // of the machine code
  std::string name;
  int units = -1, work = -1, scratch = -1;
  Index together = 1;                   // units
  std::vector<LoopCode> loops;          // in order
};

// Everything of one variant but the machine code.
struct Plan {
  std::vector<Program> programs;
  SizeTable sizes;
  std::vector<Slot> slots;
  std::vector<StagePlan> stages;
  ReliedFacts relied;
  int slot_of(Place place, NodeId node);                        // by node; made on first use
  std::map<std::pair<NodeId, bool>, int> slot_numbers;          // (node, is a partial)
};

Extent row_elements(const Buffer& buffer);                      // of a row or partial, rounded up to whole vectors

}  // namespace weft
