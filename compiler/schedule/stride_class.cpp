#include "stride_class.h"

#include <algorithm>
#include <cstdlib>

namespace weft {

std::vector<StrideClass> stride_classes(const Dims& strides, const Dims& shape) {
  Index fastest = longest_step;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && strides[d] != 0) fastest = std::min(fastest, std::abs(strides[d]));
  const auto follows_fastest = [&](Index stride) {
    for (std::size_t d = shape.size(); d-- > 0;)
      if (shape[d] > 1 && strides[d] == 1) return stride == shape[d];
    return false;
  };
  const auto class_of = [&](Index stride) {
    if (stride >= -fastest && stride <= fastest) return static_cast<StrideClass>(stride);
    return follows_fastest(stride) ? StrideClass::joined : StrideClass::other;
  };
  std::vector<StrideClass> classes;
  for (std::size_t d = 0; d < shape.size(); ++d) classes.push_back(shape[d] <= 1 ? StrideClass::unit : class_of(strides[d]));
  return classes;
}

StrideClass times(StrideClass stride, Index factor) {
  if (stride == StrideClass::zero || factor == 1) return stride;
  if (!is_known(stride) || factor < -longest_step || factor > longest_step) return StrideClass::other;
  const Index step = step_of(stride) * factor;
  return step >= -longest_step && step <= longest_step ? static_cast<StrideClass>(step) : StrideClass::other;
}

char letter_of(StrideClass stride) { return "DCBrzubcd*j"[static_cast<int>(stride) + longest_step]; }

}  // namespace weft
