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

// Adds the function of the nest to the module; appends its stage to plan.stages, and one that merges partial results if it has any.
void emit_program(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, const CodeOptions& options);

}  // namespace weft
