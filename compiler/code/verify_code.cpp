#include "verify_code.h"

#include <algorithm>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#include <weft/error.h>

namespace weft {
namespace {

using llvm::Intrinsic::ID;

// Exactly defined on floats, element by element, or only moving them.
bool is_exact(ID id) {
  using namespace llvm::Intrinsic;
  constexpr ID exact[] = {fma, sqrt, fabs, copysign, floor, trunc, roundeven, masked_load, masked_store, masked_gather, masked_scatter,
                          x86_avx512_mask_scalef_ps_128, x86_avx512_mask_scalef_ps_256, x86_avx512_mask_scalef_ps_512, x86_avx512_mask_scalef_pd_128,
                          x86_avx512_mask_scalef_pd_256, x86_avx512_mask_scalef_pd_512, x86_avx512_mask_getexp_ps_128, x86_avx512_mask_getexp_ps_256,
                          x86_avx512_mask_getexp_ps_512, x86_avx512_mask_getexp_pd_128, x86_avx512_mask_getexp_pd_256, x86_avx512_mask_getexp_pd_512,
                          x86_avx512_mask_getmant_ps_128, x86_avx512_mask_getmant_ps_256, x86_avx512_mask_getmant_ps_512, x86_avx512_mask_getmant_pd_128,
                          x86_avx512_mask_getmant_pd_256, x86_avx512_mask_getmant_pd_512, x86_avx512_mask_range_ps_128, x86_avx512_mask_range_ps_256,
                          x86_avx512_mask_range_ps_512, x86_avx512_mask_range_pd_128, x86_avx512_mask_range_pd_256, x86_avx512_mask_range_pd_512,
                          x86_avx512_mask_fixupimm_ps_128, x86_avx512_mask_fixupimm_ps_256, x86_avx512_mask_fixupimm_ps_512, x86_avx512_mask_fixupimm_pd_128,
                          x86_avx512_mask_fixupimm_pd_256, x86_avx512_mask_fixupimm_pd_512,
                          x86_avx512_rsqrt14_ps_512, x86_avx512_rsqrt14_pd_512, x86_avx512_rcp14_pd_512,   // what is made of them does not depend on their bits
                          x86_avx2_permps, x86_avx512_permvar_sf_512, x86_avx512_permvar_df_512,
                          x86_avx512_vpermi2var_ps_512, x86_avx512_vpermi2var_pd_512};
  return std::find(std::begin(exact), std::end(exact), id) != std::end(exact);
}

bool handles_floats(const llvm::CallInst& call) {
  const auto is_float = [](const llvm::Value* value) { return value->getType()->isFPOrFPVectorTy(); };
  return is_float(&call) || std::any_of(call.arg_begin(), call.arg_end(), [&](const llvm::Use& use) { return is_float(use.get()); });
}

std::string text_of(const llvm::Instruction& instruction) {
  std::string text;
  llvm::raw_string_ostream(text) << instruction;
  return text;
}

}  // namespace

void verify(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* math = llvm::dyn_cast<llvm::FPMathOperator>(&instruction);
      WEFT_ASSERT(!math || !math->getFastMathFlags().any(), "an instruction of ", function.getName().str(), " is relaxed:", text_of(instruction));
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      WEFT_ASSERT(!call || !handles_floats(*call) || is_exact(call->getIntrinsicID()), "an instruction of ", function.getName().str(), " is not exactly defined:",
                  text_of(instruction));
    }
}

}  // namespace weft
