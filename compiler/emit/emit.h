// Program -> LLVM: one function per stage, explicit vectors of 16 lanes for every dtype.
//
// Sixteen lanes whatever the CPU: f32 is one 512-bit register or two 256-bit ones, f64 two or four. The vector width is
// then no part of the result: sums have sixteen slots, and every machine computes the same bits.
#pragma once
#include <llvm/IR/Module.h>

#include "plan.h"
#include "schedule/stride_class.h"

namespace weft {

// What of Options shapes the code.
struct CodeOptions {
  int lanes = 0;
  bool fast_math = false;
  PastCaches stream = PastCaches::no;
  bool calls = false;    // long functions are called: the same code a thousand times is compile time
  int code_per_piece = largest_piece;              // of bodies that are cut into functions (emit_outline.cpp)
  Machine machine = {};
};

// Adds the functions of the nests to the module, once of those that differ by their arrays alone; appends their stages to plan.stages, and for each that has
// partial results one that merges them.
void emit_programs(llvm::Module& module, const std::vector<Program>& programs, const StrideClasses& classes, Plan& plan, const CodeOptions& options);

}  // namespace weft
