// What a vector loop is made of: ranges, addresses, masks, divisors.
#pragma once
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "schedule/stride_class.h"

namespace weft {

// How far loops fetch that store past the caches: into the first level if that has room for 2048 bytes of each array, else nearer and into the second
// level. So do large folds, which compute little while lines come. Ns an element of so many arrays, at 1024 and 4096 bytes into the first level
// and at 1024 and 4096 into the second: 1 .156, .150, .171, .205; 2 .264, .278, .258, .319; 3 .434, .441, .387, .454; 5 .729, .716, .633, .698;
// sums of rows .167, .148, .129, .128 (Zen 4); 2 at 1024, 2048, 4096 .338, .327, .317 (Zen 5).
inline constexpr Index least_near_ahead = 2048, most_near_ahead = 4096, far_ahead = 1024;
// Over few elements of a row, transposed in registers: sums of rows of 4 floats .28, .25, .23 at 1024, 2048, 4096 (Emerald Rapids). Where whole rows
// are worked on there is less to do meanwhile, and 1024 into the second level are better: .125 for .152 an element (Zen 4).
inline constexpr Index thin_bytes_ahead = 4096, far_rows_ahead = 256;

// Where a load or store in a lanes loop reads: everything but the lane axis is in `base`.
struct LaneAccess {
  llvm::Value* base = nullptr;
  llvm::Value* lane_stride = nullptr;   // bytes
  llvm::Value* next_row = nullptr;      // bytes to what is fetched meanwhile, to be read or written, such as the same place in the next unit,
  unsigned next_steps = ~0u;            // in which of the vectors side by side
  bool next_is_near = false;            // into the first-level cache
  Index period = 0;                     // > 0: of so many elements, over and over
  llvm::Value *alone = nullptr, *one = nullptr;            // of these, where the first holds, one of them in all lanes
  Index each = 1;                       // > 1: each of its elements for so many of the loop
  bool beside = false;                  // and these are neighbours in memory
  StrideClass lane = StrideClass::unit;
  Index column = -1;                    // of rows as long as the step, without gaps: which element of each is read, if it is known
  bool stream = false;                  // whole vectors are stored past the caches
  bool by_lines = false;                // to memory that leaves for the array in whole lines, past the caches
  const std::vector<llvm::AllocaInst*>* cells = nullptr;   // its vectors, if they stay in registers
  bool own = false;                     // memory of this loop's own, longer than its elements: moved in whole vectors, always
  bool own_vectors = false;             // the same, as whole vectors of which each has an element: something else follows
};

inline bool lies_by_steps(const LaneAccess& access) { return is_known(access.lane) && !is_dense(access.lane) && access.lane != StrideClass::zero; }

struct Range {
  llvm::Value *begin, *end;
};

// Which lanes of each step lie inside the loop; empty: all.
using Masks = std::vector<llvm::Value*>;
inline llvm::Value* mask_of(const Masks& masks, int step) { return masks.empty() ? nullptr : masks[static_cast<std::size_t>(step)]; }

// A divisor that does not change in a lanes loop: itself, its reciprocal in two parts, and how far the bits of |dividend| may lie above
// those of 2^-90 for the fast quotient to be exact (0 if the divisor itself is out of range). With fast_math, instead, whether the
// reciprocal is no normal number. least: the bits of 2^-90, or all ones.
struct InvariantDivisor {
  llvm::Value *divisor = nullptr, *reciprocal = nullptr, *reciprocal_low = nullptr, *span = nullptr, *least = nullptr, *refused = nullptr;
};

}  // namespace weft
