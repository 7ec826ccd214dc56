// What the passes are told of loops: metadata of the branches that close them.
#pragma once
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

namespace weft {

// So many turns that compile time is worth less; they depend on each other by sums only (overlap_turns.h).
inline constexpr const char* many_turns = "weft.many-turns";
// One or two: what is in front of an inner loop may as well be in this one (place_constants.h).
inline constexpr const char* few_turns = "weft.few-turns";

// Over the registers of a value, in code that is seldom run: the loop around it is an innermost one all the same (place_constants.h).
inline constexpr const char* over_registers = "weft.over-registers";

inline void set_hint(llvm::BranchInst& branch, const char* hint) { branch.setMetadata(hint, llvm::MDNode::get(branch.getContext(), {})); }

}  // namespace weft
