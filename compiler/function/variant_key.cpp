#include "variant_key.h"

#include <algorithm>

#include "schedule/stride_class.h"

namespace weft {

std::string layout_key(const Dims& strides, const Dims& shape) {
  const std::vector<StrideClass> classes = stride_classes(strides, shape);
  std::string key;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    key += letter_of(classes[k]);
    // Which other axis continues this one without a gap: axes that do are walked as one.
    for (std::size_t inner = 0; inner < shape.size(); ++inner)
      if (inner != k && shape[k] > 1 && shape[inner] > 1 && strides[k] == strides[inner] * shape[inner]) key += std::to_string(inner);
  }
  return key + ' ';
}

PastCaches stores_past_caches(const std::vector<Array>& inputs, const std::vector<Array>& outputs, const CacheLimit& limit) {
  const auto bytes = [](const Array& array) { return array.size() * item_bytes(array.dtype()); };
  Index read = 0, written = 0;
  for (const Array& array : inputs) read += bytes(array);
  for (const Array& array : outputs) written += bytes(array);
  const auto begin_multiples = [&](const auto& of) {
    return std::all_of(outputs.begin(), outputs.end(), [&](const Array& array) { return reinterpret_cast<std::uintptr_t>(array.data()) % of(array) == 0; });
  };
  const double all = static_cast<double>(read + written);
  if (read + written <= limit.bytes(all, static_cast<double>(written)) || !begin_multiples([](const Array& array) { return size_of(array.dtype()); })) return PastCaches::no;
  if (!begin_multiples([](const Array&) { return static_cast<std::size_t>(line_bytes); })) return PastCaches::anywhere;
  const bool rows = std::all_of(outputs.begin(), outputs.end(), [&](const Array& array) {
    return std::all_of(array.strides().begin(), array.strides().end(), [&](Index stride) { return stride == 1 || stride * item_bytes(array.dtype()) % line_bytes == 0; });
  });
  return rows ? PastCaches::rows : PastCaches::single_rows;
}

std::string variant_key(const std::vector<Array>& inputs, const std::vector<Array>& outputs, PastCaches stream) {
  std::string key;
  for (const Array& array : inputs) key += layout_key(array.strides(), array.shape());
  for (const Array& array : outputs) key += layout_key(array.strides(), array.shape());
  switch (stream) {
    case PastCaches::no: break;
    case PastCaches::anywhere: key += "past caches from a line on"; break;
    case PastCaches::single_rows: key += "single rows past caches"; break;
    case PastCaches::rows: key += "past caches"; break;
  }
  return key;
}

}  // namespace weft
