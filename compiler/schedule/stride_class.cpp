#include "stride_class.h"

#include <algorithm>
#include <cstdlib>

namespace weft {

std::vector<StrideClass> stride_classes(const Dims& strides, const Dims& shape) {
  Index fastest = longest_step;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && strides[d] != 0) fastest = std::min(fastest, std::abs(strides[d]));
  const auto elements_behind = [&](Index stride) {               // of the last dimension of that stride, with what lies inside; 0 if there is none
    for (std::size_t d = shape.size(); d-- > 0;)
      if (shape[d] > 1 && strides[d] == stride) return stride * shape[d];
    return Index{0};
  };
  const Index row = elements_behind(1), block = row > 0 ? elements_behind(row) : 0;
  const auto class_of = [&](Index stride) {
    if (stride >= -fastest && stride <= fastest) return static_cast<StrideClass>(stride);
    return stride == row ? StrideClass::joined : stride == block ? StrideClass::stacked : StrideClass::other;
  };
  // Strides of what has no element say nothing, a result may have any. Code for such a call is not that of other calls.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return std::vector<StrideClass>(shape.size(), StrideClass::unit);
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

char letter_of(StrideClass stride) {
  if (is_known(stride)) return "DCBrzubcd"[static_cast<int>(stride) + longest_step];
  return stride == StrideClass::joined ? 'j' : stride == StrideClass::stacked ? 's' : '*';
}

}  // namespace weft
