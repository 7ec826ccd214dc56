// How finished machine code is run: plain data that the runtime understands without knowing who made it.
//
// A Kernel is a list of stages, run in order. A stage is a loop over `units` of its outermost axis: unit k covers
// a fixed range of that axis which depends on extents only, never on the number of threads. Slices [begin, end) of a
// stage are independent of each other, so any number of threads may run them in any order; a reduction over the outer
// axis writes one partial result per unit to an array, and a following stage, a merge (merge.h), folds those partials
// in a fixed tree. Results are therefore the same bits for any number of threads.
//
//   K1 slices of a stage are independent       K2 stages run in order, or slide (slide.h)
//   K3 what a unit covers depends on extents only   K4 `code` keeps the machine code alive
//   K5 code is never called for no units
//
// Immutable after construction; safe to run from several threads at once with different slots and scratch.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <weft/shape.h>

// Of functions that call generated code: before it, there is none of what clang's function sanitizer looks for, and maybe no memory.
#ifdef __clang__
#define WEFT_CALLS_GENERATED_CODE __attribute__((no_sanitize("function")))
#else
#define WEFT_CALLS_GENERATED_CODE
#endif

namespace weft {

// slots: the address of element [0, .., 0] of every array; sizes: extents, strides (bytes) and derived numbers;
// scratch: `Stage::scratch` bytes private to the calling thread, 64-byte aligned.
using StageFn = void (*)(void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch);

// What a stage is given in the place of slots whose code it shares with others: the address that a slot has, so many bytes on. Without a slot the number
// itself, which is a stride then.
struct StageArray {
  int slot = -1;
  std::vector<int> offsets = {};     // indices into sizes, which are added
};

struct Merge;              // weft/merge.h
struct Slide;              // weft/slide.h
struct UnitSearch;         // weft/search.h

struct Stage {
  StageFn run = nullptr;   // null: it is a merge or a slide
  int units = -1;          // index into sizes of the number of units; -1: one unit, always serial
  int unit_work = -1;      // index into sizes of the estimated cost of a unit in nanoseconds; -1: unknown, small
  int scratch = -1;        // index into sizes of the scratch bytes a thread needs; -1: none
  std::string name;        // for reports
  Index together = 1;      // units that the code works on together: a slice that begins amid them is slower
  std::shared_ptr<const Merge> merge;      // of what the stage before left
  std::shared_ptr<const Slide> slide;      // stages in one
  Index slice_work = 0;    // nanoseconds that each slice takes beside its units, for what it makes first
  std::vector<StageArray> arrays = {};     // none: it is given the slots
  std::shared_ptr<const UnitSearch> search = nullptr;      // which units run; null: all do
};

// Units [begin, end) of the stage, on this thread; an empty range does nothing, which code of stages relies on. What executors call.
void run_units(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch);

struct Kernel {
  std::string name;
  std::vector<Stage> stages;
  std::shared_ptr<const void> code;
};

}  // namespace weft
