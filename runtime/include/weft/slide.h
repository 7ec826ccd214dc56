// Stages that slide along an axis together. Strip after strip of the last one's units, each of the others makes what those after it read next, so
// that what they pass to each other stays in the caches of one thread: arrays between them become buffers of some lines, of which only
// those are kept that are still read. A stencil of a stencil reads its input and writes its result once. (Halide's names are sliding windows and
// storage folding; where every stage is a step in time it is time skewing.)
//
//   K6 a slice that begins amid the axis makes again what lies before its first strip: two threads may write the same bits to a result
//
// Values are the same bits, as every unit of a stage is the same code on the same operands. Plain numbers, made where a call is bound.
#pragma once
#include <vector>

#include <weft/kernel.h>

namespace weft {

struct Slide {
  // Elements [b, e) of a stage's axis touch bytes [stride * b + first, stride * (e - 1) + beyond) of an array. stride > 0.
  struct Use {
    Index stride = 1, first = 0, beyond = 0;
  };
  struct Buffer {                         // of an array that one stage makes and others read
    int slot = -1;
    Use made;
    bool is_whole = false;                // it is the array itself: a result, or something else reads it too
    Index capacity = 0;                   // else the bytes of it that are kept at a time
  };
  struct Read {
    int buffer = -1;
    Use use;
  };
  struct Step {
    Stage stage;
    Index extent = 0, unit = 1, units = 0;   // elements of the axis, of a unit, and units
    std::vector<int> makes;               // buffers
    std::vector<Read> reads;
    bool is_whole = false;                // all of its units run: there are arrays among what it makes
  };

  std::vector<Step> steps;                // the last one is whole: strips and slices are of its units
  std::vector<Buffer> buffers;
  Index strip = 1;
  Index lead_strips = 0;                  // that a slice begins with: they make what its first strip reads
  Index slots = 0;                        // of the call
  Index stage_scratch = 0;                // the most that a stage needs

  Index units() const { return steps.back().units; }
  Index buffer_bytes() const;
  void run(void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) const;      // a slice: units of the last step
  Index scratch_bytes() const;            // for all of it
  Index lead() const;                     // units of the last step's time that a slice spends on making lines again
  void set_strip(Index units);            // and the capacities that it needs
};

}  // namespace weft
