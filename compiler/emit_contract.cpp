// Multiply-adds rounded once that only Options::fast_math allows. The graph pass `contract` takes the products that one addition reads;
// here are those that others read too, and sums of products. Vector bodies and tails do the same, so that an element's bits do not
// depend on where it falls.
#include "emit_kernel.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;

// After its vectors are made. Of f16 and bf16 the product is rounded before it is added.
void KernelEmitter::remember_product(const Compute& compute) {
  const DType dtype = program_.values[static_cast<std::size_t>(compute.result)];
  const bool is_product = compute.op == Op::multiply || compute.op == Op::square;
  if (fast_math_ && is_product && (dtype == f32 || dtype == f64)) products_[compute.result] = &compute;
}

// The product that makes this value in the current lanes body, or null.
const Compute* KernelEmitter::product_of(const Arg& arg) const {
  const auto found = arg.constant ? products_.end() : products_.find(arg.value);
  return found == products_.end() ? nullptr : found->second;
}

// product + rest, or rest - product.
Value* KernelEmitter::product_plus(const Compute& product, int step, bool negative, Value* rest) {
  const Lane a{pack(product.args.front(), step), &b_}, b{pack(product.args.back(), step), &b_};
  return fma(negative ? -a : a, b, Lane{rest, &b_}).value;
}

// A sum or difference with a product, or null where there is none. One of a value and itself stays what it is: p - p is 0.
Value* KernelEmitter::contracted(const Compute& compute, int step) {
  const bool difference = compute.op == Op::subtract;
  if ((compute.op != Op::add && !difference) || (!compute.args[0].constant && compute.args[0].value == compute.args[1].value)) return nullptr;
  if (const Compute* left = product_of(compute.args[0])) {
    const Lane right{pack(compute.args[1], step), &b_};
    return product_plus(*left, step, false, (difference ? -right : right).value);
  }
  const Compute* right = product_of(compute.args[1]);
  return right ? product_plus(*right, step, difference, pack(compute.args[0], step)) : nullptr;
}

}  // namespace weft
