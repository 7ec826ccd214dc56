// Quotients and square roots in vector loops without the instructions for them, to the same bits: by a divisor that is the same for a whole loop
// (quotients.cpp), and from estimates of a reciprocal (estimates.cpp).
#pragma once
#include "values.h"

namespace weft {

class Quotients : protected Values {
 protected:
  Quotients(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, int lanes, const Machine& machine, bool fast_math)
      : Values(module, program, classes, plan, lanes, machine), fast_math_(fast_math) {}

  void forget_invariants() {                    // of a vector loop: another one begins
    spread_.clear();
    divisors_.clear();
  }
  Value* divide_by_invariant(Value* dividend, const Arg& divisor, const Bounds& bounds);      // of the dividend

  struct Estimated {
    const Compute* compute;
    bool every_second = false;                  // of the vectors side by side
  };
  std::vector<Estimated> find_estimated(const Loop& loop, int steps) const;
  Value* by_estimates(Op op, const std::vector<Value*>& operands);

  const bool fast_math_;
  std::map<std::string, InvariantDivisor> divisors_;   // by argument, made before the current vector loop
  std::vector<Estimated> estimated_;            // in the vector loop: roots and quotients that are made from estimates

 private:
  const InvariantDivisor& invariant_divisor(const Arg& divisor);
  bool is_always_inside(const Bounds& dividend, const Arg& divisor) const;
  Value* outside(Value* dividend, const InvariantDivisor& d, bool unit);
  Value* root_by_estimate(Value* number);
  Value* quotient_by_estimate(Value* dividend, Value* divisor);
};

}  // namespace weft
