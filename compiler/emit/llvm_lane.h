#pragma once
// `Lane`: the lane model that emits LLVM instructions. A Lane is a value of type float, double or a fixed vector of these, with
// the builder that makes more of them. Nothing here sets a fast-math flag, and a builder handed in must have none set.
//
// `rare` opens basic blocks: the builder must stand at the end of a block, and after a call that may use it, ask the builder for
// the current block instead of remembering one.
// Where the function has target features +avx512f (and vl) in its attributes, scaling, splitting and table lookup become one
// instruction. The results are the same bits on every target.
#include "vecmath/lane.h"

#include <llvm/IR/IRBuilder.h>

namespace weft {

struct LaneMask {
  llvm::Value* value;
  llvm::IRBuilderBase* builder;
};
LaneMask operator&(const LaneMask& a, const LaneMask& b);
LaneMask operator|(const LaneMask& a, const LaneMask& b);
LaneMask operator!(const LaneMask& a);

struct LaneInt {
  llvm::Value* value;
  llvm::IRBuilderBase* builder;
};
LaneInt operator+(const LaneInt& a, const LaneInt& b);
LaneInt operator-(const LaneInt& a, const LaneInt& b);
LaneInt operator&(const LaneInt& a, const LaneInt& b);
LaneInt operator|(const LaneInt& a, const LaneInt& b);
LaneInt operator^(const LaneInt& a, const LaneInt& b);
LaneInt operator<<(const LaneInt& a, int k);
LaneInt operator>>(const LaneInt& a, int k);
LaneInt shift_right_logical(const LaneInt& a, int k);
LaneMask operator<(const LaneInt& a, const LaneInt& b);
LaneMask operator>(const LaneInt& a, const LaneInt& b);
LaneMask operator==(const LaneInt& a, const LaneInt& b);
LaneInt select(const LaneMask& m, const LaneInt& a, const LaneInt& b);

struct Lane {
  using Int = LaneInt;
  using Mask = LaneMask;
  llvm::Value* value;
  llvm::IRBuilderBase* builder;

  int bits() const { return static_cast<int>(value->getType()->getScalarSizeInBits()); }
  int width() const;  // 1 for a scalar
  Lane like(double constant) const;
  LaneInt int_like(int64_t constant) const;
};
Lane operator+(const Lane& a, const Lane& b);
Lane operator-(const Lane& a, const Lane& b);
Lane operator*(const Lane& a, const Lane& b);
Lane operator/(const Lane& a, const Lane& b);
Lane operator-(const Lane& a);
LaneMask operator<(const Lane& a, const Lane& b);
LaneMask operator<=(const Lane& a, const Lane& b);
LaneMask operator>(const Lane& a, const Lane& b);
LaneMask operator>=(const Lane& a, const Lane& b);
LaneMask operator==(const Lane& a, const Lane& b);
LaneMask operator!=(const Lane& a, const Lane& b);
Lane fma(const Lane& a, const Lane& b, const Lane& c);
Lane sqrt(const Lane& a);
Lane abs(const Lane& a);
Lane copysign(const Lane& a, const Lane& sign);
Lane floor(const Lane& a);
Lane trunc(const Lane& a);
Lane round_even(const Lane& a);
Lane min_raw(const Lane& a, const Lane& b);
Lane max_raw(const Lane& a, const Lane& b);
Lane extreme_number(const Lane& a, const Lane& b, bool larger);   // +0 lies above -0; where either is NaN: anything
Lane keep_nan(const Lane& number, const Lane& source);             // NaN where the source is, else the number
Lane extreme(const Lane& a, const Lane& b, bool larger);           // +0 lies above -0, and NaN wins
Lane select(const LaneMask& m, const Lane& a, const Lane& b);
LaneInt to_bits(const Lane& a);
Lane from_bits(const LaneInt& i);
Lane table_lookup(const LaneTable& table, const LaneInt& index);
std::array<Lane, 2> lookup_pair(const LaneTable& first, const LaneTable& second, const LaneInt& index);
bool loads_pairs(const LaneInt& index);
// Within 2^-14 of 1 / sqrt(x), x normal and positive, on targets with +avx512f. Its bits depend on the processor: only for what corrects it.
Lane root_estimate(const Lane& x);
Lane reciprocal_estimate(const Lane& x);
Lane scale_by_power(const Lane& p, const Power<Lane>& power);
Lane scale_down(const Lane& p, const Power<Lane>& power);
MantissaExponent<Lane> split_power(const Lane& x, double least);

// The blocks of `rare`: between construction and the first join, code goes to the block that is seldom run.
class RareBlock {
 public:
  explicit RareBlock(const LaneMask& mask);
  explicit RareBlock(const LaneInt& bits);
  // Ends the rare block (the first call), and gives slow in the lanes of the mask when it was run, else fast.
  void leave();
  Lane join(const Lane& fast, const Lane& slow);
  const LaneMask& mask() const { return mask_; }

 private:
  void open(llvm::Value* any);

  LaneMask mask_;
  llvm::BasicBlock *before_, *rare_, *after_;
};

template <class Lanes, class Slow>
Lane rare(const Lanes& where, const Lane& fast, Slow slow) {
  RareBlock block(where);
  const Lane merged = select(block.mask(), slow(), fast);
  block.leave();
  return block.join(fast, merged);
}

template <class Lanes, size_t n, class Slow>
std::array<Lane, n> rare(const Lanes& where, std::array<Lane, n> fast, Slow slow) {
  RareBlock block(where);
  std::array<Lane, n> merged = slow();
  for (size_t k = 0; k < n; ++k) merged[k] = select(block.mask(), merged[k], fast[k]);
  block.leave();
  for (size_t k = 0; k < n; ++k) fast[k] = block.join(fast[k], merged[k]);
  return fast;
}

// Code for two registers of x, in a loop over all of them: between construction and `end` that is what is emitted.
class RegisterLoop {
 public:
  explicit RegisterLoop(const Lane& x);
  static bool pays(const Lane& x);       // x is more than two
  const Lane& part() const { return part_; }
  llvm::AllocaInst* keep(const Lane& result);
  void end();
  Lane whole(llvm::AllocaInst* kept) const;      // after the end

 private:
  llvm::AllocaInst* new_cell(llvm::Type* type);
  llvm::Value* at_part(llvm::AllocaInst* whole) const;

  llvm::SmallVector<llvm::AllocaInst*, 4> cells_;
  Lane part_;
  int lanes_;                            // of x
  llvm::BasicBlock* body_;
  llvm::PHINode* first_;                 // lane of the part
};

template <size_t n, class Slow>
std::array<Lane, n> by_registers(const Lane& x, const Slow& slow) {
  if (!RegisterLoop::pays(x)) return slow(x);
  RegisterLoop loop(x);
  std::array<Lane, n> values = slow(loop.part());
  std::array<llvm::AllocaInst*, n> kept;
  for (size_t k = 0; k < n; ++k) kept[k] = loop.keep(values[k]);
  loop.end();
  for (size_t k = 0; k < n; ++k) values[k] = loop.whole(kept[k]);
  return values;
}

template <class Lanes, size_t n, class Slow>
std::array<Lane, n> rare(const Lanes& where, const std::array<Lane, n>& fast, const Lane& x, const Slow& slow) {
  return rare(where, fast, [&] { return by_registers<n>(x, slow); });
}

template <class Lanes, class Slow>
Lane rare(const Lanes& where, const Lane& fast, const Lane& x, const Slow& slow) {
  return rare(where, std::array{fast}, x, [&](const Lane& part) { return std::array{slow(part)}; })[0];
}

}  // namespace weft
