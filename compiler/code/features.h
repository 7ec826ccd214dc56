// What this processor can do, in LLVM's words.
#pragma once
#include <string>
#include <string_view>

#include <weft/dtype.h>

namespace weft {

// The features of this CPU as LLVM writes them: "+avx2,+fma,..". Those of registers with more f32 lanes than these, if not 0,
// are switched off.
const std::string& host_features(int lanes = 0);

bool has_feature(std::string_view features, std::string_view name);        // whole names: "+avx512vbmi" is not in "+avx512vbmi2"
// Whether LLVM makes a branch for every lane of a masked load or store.
bool masks_by_branches(const std::string& features, DType dtype);

}  // namespace weft
