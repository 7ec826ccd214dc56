#include <weft/array.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include <weft/memory.h>

namespace weft {

namespace {

// How far, in elements, the lowest and the highest element lie from element [0, .., 0]. Not for empty arrays.
std::pair<Index, Index> reach(const View& view) {
  Index low = 0;
  Index high = 0;
  for (int axis = 0; axis < view.rank(); ++axis) {
    const Index step = (view.shape()[axis] - 1) * view.strides()[axis];
    (step < 0 ? low : high) += step;
  }
  return {low, high};
}

}  // namespace

View::View() : shape_{0}, strides_{1} {}

View::View(void* data, DType dtype, Dims shape, Dims strides, bool writable)
    : data_(data), dtype_(dtype), writable_(writable), shape_(std::move(shape)), strides_(std::move(strides)) {
  check();
}
View::View(const void* data, DType dtype, Dims shape, Dims strides)
    : View(const_cast<void*>(data), dtype, std::move(shape), std::move(strides), false) {}
View::View(void* data, DType dtype, Dims shape, Order order, bool writable)
    : data_(data), dtype_(dtype), writable_(writable), shape_(std::move(shape)) {
  size_ = element_count(shape_);
  strides_ = contiguous_strides(shape_, order);
  check();
}
View::View(const void* data, DType dtype, Dims shape, Order order)
    : View(const_cast<void*>(data), dtype, std::move(shape), order, false) {}

void View::check() {
  WEFT_REQUIRE(shape_.size() == strides_.size(), shape, "expected one stride per axis, got shape ",
               weft::to_text(shape_), " and strides ", weft::to_text(strides_));
  size_ = element_count(shape_);
  WEFT_REQUIRE(data_ != nullptr || size_ == 0, usage, "an array of shape ", weft::to_text(shape_),
               " needs memory, got a null address");
}

void View::check_access(DType wanted, bool write) const {
  WEFT_REQUIRE(wanted == dtype_, dtype, "the elements are ", dtype_, ", asked for as ", wanted);
  WEFT_REQUIRE(!write || writable_, usage, "the array is read-only\n  use data<const T>() or at<const T>() to read, ",
               "copy() to get one to write to");
}

Index View::offset(const Index* index, std::size_t count) const {
  const auto text = [&] { return weft::to_text(Dims(index, index + count)); };
  WEFT_REQUIRE(count == shape_.size(), shape, "an array of shape ", weft::to_text(shape_), " needs ", rank(),
               rank() == 1 ? " index, got " : " indices, got ", text());
  Index result = 0;
  for (std::size_t axis = 0; axis < count; ++axis) {
    WEFT_REQUIRE(index[axis] >= 0 && index[axis] < shape_[axis], shape, "index ", text(), " is outside of shape ",
                 weft::to_text(shape_));
    result += index[axis] * strides_[axis];
  }
  return result;
}

int View::axis_of(const char* what, int axis, int rank) const {
  const int result = axis < 0 ? axis + rank : axis;
  WEFT_REQUIRE(result >= 0 && result < rank, shape, what, ": axis ", axis, " is not an axis of shape ",
               weft::to_text(shape_), ", expected ", -rank, " to ", rank - 1);
  return result;
}

bool View::is_contiguous(Order order) const {
  if (size_ == 0) return true;
  const Dims expected = contiguous_strides(shape_, order);
  for (int axis = 0; axis < rank(); ++axis)
    if (shape_[axis] > 1 && strides_[axis] != expected[axis]) return false;
  return true;
}

std::pair<const std::byte*, const std::byte*> View::byte_range() const {
  const auto* origin = static_cast<const std::byte*>(data_);
  if (size_ == 0) return {origin, origin};
  const auto [low, high] = reach(*this);
  const auto bytes = item_bytes(dtype_);
  return {origin + low * bytes, origin + (high + 1) * bytes};
}

bool View::overlaps(const View& other) const {
  if (size_ == 0 || other.size_ == 0) return false;
  const auto [first, last] = byte_range();
  const auto [other_first, other_last] = other.byte_range();
  if (last <= other_first || other_last <= first) return false;
  // Elements start at data + multiples of the common divisor of all strides: two arrays that sit at different
  // remainders, such as the even and the odd columns, never meet.
  Index divisor = 0;
  for (const View* view : {this, &other})
    for (int axis = 0; axis < view->rank(); ++axis)
      if (view->shape_[axis] > 1)
        divisor = std::gcd(divisor, view->strides_[axis] * item_bytes(view->dtype_));
  if (divisor == 0) return true;
  const auto address = [](const View& view) { return reinterpret_cast<std::intptr_t>(view.data_); };
  const auto distance = static_cast<Index>(address(other) - address(*this));
  const Index remainder = ((distance % divisor) + divisor) % divisor;
  return remainder < item_bytes(dtype_) ||
         divisor - remainder < item_bytes(other.dtype_);
}

bool View::is_self_overlapping() const {
  if (size_ <= 1) return false;
  std::vector<std::pair<Index, Index>> axes;  // |stride|, extent
  for (int axis = 0; axis < rank(); ++axis)
    if (shape_[axis] > 1) axes.emplace_back(std::abs(strides_[axis]), shape_[axis]);
  std::sort(axes.begin(), axes.end());
  // Like the digits of a number: each stride must exceed what all smaller ones can reach together.
  Index below = 0;
  for (const auto& [stride, extent] : axes) {
    if (stride <= below) return true;
    below += stride * (extent - 1);
  }
  return false;
}

View View::transpose() const {
  View result = *this;
  std::reverse(result.shape_.begin(), result.shape_.end());
  std::reverse(result.strides_.begin(), result.strides_.end());
  return result;
}

View View::permute(const std::vector<int>& axes) const {
  const auto text = [&] { return weft::to_text(Dims(axes.begin(), axes.end())); };
  WEFT_REQUIRE(axes.size() == shape_.size(), shape, "permute: expected each of the ", rank(), " axes of shape ",
               weft::to_text(shape_), " once, got ", text());
  View result = *this;
  std::vector<bool> seen(axes.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of("permute", axes[i], rank());
    WEFT_REQUIRE(!seen[axis], shape, "permute: expected each of the ", rank(), " axes of shape ",
                 weft::to_text(shape_), " once, got ", text());
    seen[axis] = true;
    result.shape_[i] = shape_[axis];
    result.strides_[i] = strides_[axis];
  }
  return result;
}

View View::slice(int axis, Index start, Index extent, Index step) const {
  axis = axis_of("slice", axis, rank());
  WEFT_REQUIRE(step != 0, usage, "slice: the step must not be 0\n  use broadcast_to to repeat elements");
  WEFT_REQUIRE(extent >= 0, shape, "slice: the extent must not be negative, got ", extent);
  const Index dim = shape_[axis];
  // Bounds without computing start + (extent - 1) * step, which may overflow.
  const Index distance = step > 0 ? step : (step == INT64_MIN ? INT64_MAX : -step);
  const auto stays = [&] { return extent - 1 <= (step > 0 ? dim - 1 - start : start) / distance; };
  const bool fits = start >= 0 && (extent == 0 ? start <= dim : start < dim && stays());
  WEFT_REQUIRE(fits, shape, "slice: ", extent, " indices from ", start, " in steps of ", step, " leave axis ", axis,
               " of shape ", weft::to_text(shape_));
  View result = *this;
  const Index skipped = extent > 0 ? start * strides_[axis] * item_bytes(dtype_) : 0;
  result.data_ = static_cast<std::byte*>(data_) + skipped;
  result.shape_[axis] = extent;
  result.strides_[axis] = extent > 1 ? strides_[axis] * step : strides_[axis];
  result.size_ = element_count(result.shape_);
  return result;
}

View View::flip(int axis) const {
  axis = axis_of("flip", axis, rank());
  return slice(axis, std::max<Index>(shape_[axis] - 1, 0), shape_[axis], -1);
}

View View::broadcast_to(const Dims& shape) const {
  const auto reject = [&] {
    fail(ErrorKind::shape, concat("broadcast_to: shape ", weft::to_text(shape_), " does not broadcast to ",
                                  weft::to_text(shape), "\n  aligned at the last axes, extents must agree or be 1"));
  };
  if (shape.size() < shape_.size()) reject();
  const std::size_t added = shape.size() - shape_.size();
  Dims strides(shape.size(), 0);
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    if (shape_[axis] == shape[added + axis]) strides[added + axis] = strides_[axis];
    else if (shape_[axis] != 1) reject();
  }
  return View(data_, dtype_, shape, std::move(strides), false);
}

View View::expand_dims(int axis) const {
  axis = axis_of("expand_dims", axis, rank() + 1);
  View result = *this;
  result.shape_.insert(result.shape_.begin() + axis, 1);
  result.strides_.insert(result.strides_.begin() + axis, 0);
  return result;
}

View View::squeeze() const {
  View result = *this;
  for (int axis = rank() - 1; axis >= 0; --axis)
    if (shape_[axis] == 1) result = result.squeeze(axis);
  return result;
}

View View::squeeze(int axis) const {
  axis = axis_of("squeeze", axis, rank());
  WEFT_REQUIRE(shape_[axis] == 1, shape, "squeeze: axis ", axis, " of shape ", weft::to_text(shape_),
               " has extent ", shape_[axis], ", expected 1");
  View result = *this;
  result.shape_.erase(result.shape_.begin() + axis);
  result.strides_.erase(result.strides_.begin() + axis);
  return result;
}

View View::reshape_view(const Dims& shape) const {
  const Index count = element_count(shape);
  WEFT_REQUIRE(count == size_, shape, "reshape_view: shape ", weft::to_text(shape_), " has ", size_,
               " elements but ", weft::to_text(shape), " has ", count);
  WEFT_REQUIRE(is_contiguous(Order::c), usage, "reshape_view: the array of shape ", weft::to_text(shape_),
               " and strides ", weft::to_text(strides_), " is not contiguous\n  copy(Order::c) it first");
  return View(data_, dtype_, shape, contiguous_strides(shape, Order::c), writable_);
}

View View::read_only() const {
  View result = *this;
  result.writable_ = false;
  return result;
}

Scalar View::get(const Dims& index) const {
  const Index position = offset(index.data(), index.size());
  return Scalar::load(dtype_, static_cast<const std::byte*>(data_) + position * item_bytes(dtype_));
}

void View::set(const Dims& index, const Scalar& value) const {
  check_access(dtype_, true);
  const Index position = offset(index.data(), index.size());
  value.cast(dtype_).store(static_cast<std::byte*>(data_) + position * item_bytes(dtype_));
}

Array View::copy(Order order) const {
  Array result = Array::empty(dtype_, shape_, order);
  copy_elements(*this, result);
  return result;
}

Array Array::empty(DType dtype, const Dims& shape, Order order) {
  Index bytes = 0;
  WEFT_REQUIRE(!__builtin_mul_overflow(element_count(shape), item_bytes(dtype), &bytes), shape,
               "the bytes of an array ", dtype, weft::to_text(shape), " do not fit 64 bits");
  std::shared_ptr<void> memory = allocate(static_cast<std::size_t>(bytes));
  View view(memory.get(), dtype, shape, order);
  return Array(std::move(view), std::move(memory));
}

Array::Array(DType dtype, const Dims& shape, Order order) : Array(empty(dtype, shape, order)) {
  if (size() > 0) std::memset(View::data(), 0, static_cast<std::size_t>(size()) * size_of(dtype));
}

Array Array::scalar(const Scalar& value) {
  Array result = empty(value.dtype(), {});
  value.store(result.View::data());
  return result;
}

void check_value_count(std::size_t count, const Dims& shape) {
  WEFT_REQUIRE(static_cast<Index>(count) == element_count(shape), shape, "shape ", to_text(shape), " needs ",
               element_count(shape), " values, got ", count);
}

}  // namespace weft
