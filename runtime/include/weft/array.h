// View borrows an n-dimensional array; Array owns one.
//
// A View is the address of element [0, .., 0], a dtype, sizes, and strides counted in elements. Strides may be
// negative or zero, so transposes, slices, flips and broadcasts are views of the same memory and cost O(rank).
// An Array is a View that also keeps its memory alive; copies of an Array share the elements (as in NumPy), and
// copy() makes new ones. Every Array is usable where a View is asked for.
//
//   Array a = Array::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
//   Array t = a.transpose();                 // [3, 2], the same memory
//   t.at<float>({2, 0}) = 7;                 // a is now 1 2 7 4 5 6
//   Array row = a.slice(0, 1, 1).flip(1);    // [1, 3]: 6 5 4
//   row.to_vector<float>();                  // logical order, last index fastest
//   std::cout << a;                          // f32[2, 3], then [[1, 2, 7], and on the next line [4, 5, 6]]
//
// Invariants: shape().size() == strides().size(); sizes are not negative and their product fits an Index; a writable
// View may still be self-overlapping only if its maker said so (broadcast_to makes views read-only).
// Constness is that of a pointer: a const View still lets one write to its elements if it is writable.
// Thread-safety: as a shared_ptr to the elements; any number of readers, or one writer. Memory is 64-byte aligned.
// Every misuse throws weft::Error.
#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/dtype.h>
#include <weft/error.h>
#include <weft/shape.h>

namespace weft {

class Array;

class View {
 public:
  View();  // no elements: f64, shape [0]
  View(void* data, DType dtype, Dims shape, Dims strides, bool writable = true);
  View(const void* data, DType dtype, Dims shape, Dims strides);  // read-only
  View(void* data, DType dtype, Dims shape, Order order = Order::c, bool writable = true);
  View(const void* data, DType dtype, Dims shape, Order order = Order::c);

  void* data() const { return data_; }  // ask is_writable() before writing through it
  // The typed address: T is the C++ type of dtype(); write data<const T>() to read a read-only view.
  template <class T> T* data() const {
    check_access(dtype_of<std::remove_const_t<T>>(), !std::is_const_v<T>);
    return static_cast<T*>(data_);
  }
  template <class T> T& at(std::initializer_list<Index> index) const {
    return data<T>()[offset(index.begin(), index.size())];
  }
  template <class T> T& at(const Dims& index) const { return data<T>()[offset(index.data(), index.size())]; }

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }  // in elements
  int rank() const { return static_cast<int>(shape_.size()); }
  Index size() const { return size_; }              // number of elements
  bool is_writable() const { return writable_; }

  // Element order in memory equals the logical order with the last (c) or first (f) index fastest, without gaps.
  // Extents of 1 do not count, and an array without elements is contiguous.
  bool is_contiguous(Order order = Order::c) const;
  // The addresses [first, last) between the lowest and the highest byte of any element; empty: {data, data}.
  std::pair<const std::byte*, const std::byte*> byte_range() const;
  // May the two share a byte? Never wrongly false; true for ranges that interlock unless strides prove otherwise.
  bool overlaps(const View& other) const;
  // May two different indices name the same element? Never wrongly false.
  bool is_self_overlapping() const;

  // Views of the same elements.
  View transpose() const;                               // axes reversed
  View permute(const std::vector<int>& axes) const;     // axis k of the result is axis axes[k] of this
  // extent indices start, start + step, ..; step may be negative but not 0.
  View slice(int axis, Index start, Index extent, Index step = 1) const;
  View flip(int axis) const;
  View broadcast_to(const Dims& shape) const;           // aligned at the last axes; read-only
  View expand_dims(int axis) const;                     // a new axis of extent 1 in front of `axis`
  View squeeze() const;                                 // without its axes of extent 1
  View squeeze(int axis) const;
  View reshape_view(const Dims& shape) const;           // only if c-contiguous: copy(Order::c) first otherwise
  View read_only() const;

  Array copy(Order order = Order::c) const;             // new memory, contiguous
  // The elements in logical order, last index fastest.
  template <class T> std::vector<T> to_vector() const;
  void fill(const Scalar& value) const;                 // cast to dtype()
  Scalar get(const Dims& index) const;                  // any dtype
  void set(const Dims& index, const Scalar& value) const;

 private:
  void check();
  void check_access(DType wanted, bool write) const;
  Index offset(const Index* index, std::size_t count) const;  // in elements; throws if out of bounds
  int axis_of(const char* what, int axis, int rank) const;    // negative axes count from the end

  void* data_ = nullptr;
  DType dtype_ = DType::f64;
  bool writable_ = false;
  Dims shape_;
  Dims strides_;
  Index size_ = 0;
};

class Array : public View {
 public:
  Array() = default;                                                   // no elements: f64, shape [0]
  Array(DType dtype, const Dims& shape, Order order = Order::c);       // zeros
  static Array empty(DType dtype, const Dims& shape, Order order = Order::c);  // elements undefined until written
  // The values in memory order of `order`; rank 1 without a shape.
  template <class T> static Array from(const std::vector<T>& values);
  template <class T> static Array from(const std::vector<T>& values, const Dims& shape, Order order = Order::c);
  template <class T> static Array from(std::initializer_list<T> values);
  template <class T> static Array from(std::initializer_list<T> values, const Dims& shape, Order order = Order::c);
  // A copy of an Eigen matrix, vector or expression: include <weft/eigen.h>.
  template <class Expression> requires requires { typename Expression::PlainObject; }
  static Array from(const Expression& expression);
  template <class T> static Array scalar(T value);
  static Array scalar(const Scalar& value);
  // The elements of `view`; `owner`, if given, keeps them alive. Without one the caller does.
  static Array borrow(View view, std::shared_ptr<void> owner = {}) { return Array(std::move(view), std::move(owner)); }
  const std::shared_ptr<void>& owner() const { return owner_; }

  // As in View, sharing ownership.
  Array transpose() const { return share(View::transpose()); }
  Array permute(const std::vector<int>& axes) const { return share(View::permute(axes)); }
  Array slice(int axis, Index start, Index extent, Index step = 1) const {
    return share(View::slice(axis, start, extent, step));
  }
  Array flip(int axis) const { return share(View::flip(axis)); }
  Array broadcast_to(const Dims& shape) const { return share(View::broadcast_to(shape)); }
  Array expand_dims(int axis) const { return share(View::expand_dims(axis)); }
  Array squeeze() const { return share(View::squeeze()); }
  Array squeeze(int axis) const { return share(View::squeeze(axis)); }
  Array reshape_view(const Dims& shape) const { return share(View::reshape_view(shape)); }
  Array read_only() const { return share(View::read_only()); }

 private:
  Array(View view, std::shared_ptr<void> owner) : View(std::move(view)), owner_(std::move(owner)) {}
  Array share(View view) const { return Array(std::move(view), owner_); }
  std::shared_ptr<void> owner_;
};

// Copies every element; both have the same dtype and shape, any strides. Overlap is allowed (as if through a copy).
void copy_elements(const View& from, const View& to);

// "f32[2, 3]" and the elements, each with the fewest digits that give it back: a line for each row, as NumPy prints them. Of more than
// a thousand elements the first and last three along each axis.
std::string to_text(const View& view);
std::ostream& operator<<(std::ostream& out, const View& view);

void check_value_count(std::size_t count, const Dims& shape);  // throws unless they agree

template <class T> std::vector<T> View::to_vector() const {
  check_access(dtype_of<T>(), false);
  std::vector<T> values(static_cast<std::size_t>(size_));
  if constexpr (std::is_same_v<T, bool>) {  // vector<bool> has no addressable elements
    const std::unique_ptr<bool[]> bytes(new bool[values.size()]);
    copy_elements(*this, View(bytes.get(), dtype_, shape_));
    values.assign(bytes.get(), bytes.get() + values.size());
  } else {
    copy_elements(*this, View(values.data(), dtype_, shape_));
  }
  return values;
}

template <class T> Array Array::from(const std::vector<T>& values, const Dims& shape, Order order) {
  check_value_count(values.size(), shape);
  Array result = empty(dtype_of<T>(), shape, order);
  std::copy(values.begin(), values.end(), static_cast<T*>(result.View::data()));
  return result;
}
template <class T> Array Array::from(const std::vector<T>& values) {
  return from(values, {static_cast<Index>(values.size())});
}
template <class T> Array Array::from(std::initializer_list<T> values, const Dims& shape, Order order) {
  return from(std::vector<T>(values), shape, order);
}
template <class T> Array Array::from(std::initializer_list<T> values) { return from(std::vector<T>(values)); }
template <class T> Array Array::scalar(T value) {
  Array result = empty(dtype_of<T>(), {});
  *static_cast<T*>(result.View::data()) = value;
  return result;
}

}  // namespace weft
