// What this processor can do, in LLVM's words.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dtype.h>

namespace llvm {
class Module;
}

namespace weft {

// The features of this CPU as LLVM writes them: "+avx2,+fma,..". Those of registers with more f32 lanes than these, if not 0,
// are switched off.
const std::string& host_features(int lanes = 0);

// For tests of what this processor cannot run: host_features() has these too from now on, and `translate` makes of each module, when all but the
// generation of code is done, one of true_features(). Once, before anything is compiled.
using Translate = void (*)(llvm::Module&);
void pretend(const std::vector<std::string>& features, Translate translate);
const std::string& true_features();
Translate translation();                   // null if nothing is pretended

bool has_feature(std::string_view features, std::string_view name);        // whole names: "+avx512vbmi" is not in "+avx512vbmi2"
std::size_t register_bytes(std::string_view features);                     // of the widest vector registers
// Whether LLVM makes a branch for every lane of a masked load or store.
bool masks_by_branches(const std::string& features, DType dtype);
// Whether there are mask registers for it: other stores with masks may be microcode.
bool stores_by_masks(std::string_view features, DType dtype);

}  // namespace weft
