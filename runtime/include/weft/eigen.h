// Eigen matrices as weft arrays and back, without copying.
//
//   Eigen::MatrixXf m(3, 4);
//   Array a = as_array(m);                   // [3, 4], strides [1, 3]: m's own memory, m must outlive a
//   Array b = as_array(m.block(1, 0, 2, 4)); // any expression with direct access: Map, Block, Transpose, col(), ..
//   as_eigen<float>(a) *= 2;                 // a Map over any strides; writes go to m
//   Array c = array_from(m * 2);             // a copy of any expression
//
// A vector at compile time becomes rank 1, everything else rank 2. Const expressions give read-only arrays.
// The elements stay Eigen's: the caller keeps them alive while the array is used. Cost: O(1), no allocation of elements.
// Not included by any other weft header.
#pragma once
#include <Eigen/Core>

#include <weft/array.h>

namespace weft {

namespace detail {

// A temporary Block is constant to C++ although its elements are not: Eigen's lvalue bit is what counts, and for a
// Matrix (which owns its elements) the constness of the object.
template <class Expression> inline constexpr bool is_writable_eigen =
    (Eigen::internal::traits<std::remove_const_t<Expression>>::Flags & Eigen::LvalueBit) != 0 &&
    (!std::is_const_v<Expression> ||
     !std::is_base_of_v<Eigen::PlainObjectBase<std::remove_const_t<Expression>>, std::remove_const_t<Expression>>);

template <class Expression> View view_of_eigen(Expression& expression) {
  using Plain = std::remove_const_t<Expression>;
  static_assert((Eigen::internal::traits<Plain>::Flags & Eigen::DirectAccessBit) != 0,
                "as_array needs an expression with its own memory (Matrix, Map, Block, ..): use array_from to copy");
  using T = typename Plain::Scalar;
  void* data = const_cast<T*>(static_cast<const T*>(expression.data()));
  constexpr bool writable = is_writable_eigen<Expression>;
  if constexpr (Plain::IsVectorAtCompileTime)
    return View(data, dtype_of<T>(), {expression.size()}, {expression.innerStride()}, writable);
  else
    return View(data, dtype_of<T>(), {expression.rows(), expression.cols()},
                {expression.rowStride(), expression.colStride()}, writable);
}

}  // namespace detail

// The elements of an lvalue: a Matrix, Array, Map, Ref or Block held by the caller.
template <class Expression>
  requires std::is_base_of_v<Eigen::DenseBase<std::remove_const_t<Expression>>, std::remove_const_t<Expression>>
Array as_array(Expression& expression) {
  return Array::borrow(detail::view_of_eigen(expression));
}
// The elements behind a temporary Map or Block. A temporary Matrix would dangle: array_from copies it.
template <class Expression>
  requires(!std::is_lvalue_reference_v<Expression> &&
           std::is_base_of_v<Eigen::DenseBase<std::remove_const_t<Expression>>, std::remove_const_t<Expression>>)
Array as_array(Expression&& expression) {
  using Plain = std::remove_const_t<Expression>;
  static_assert(!std::is_base_of_v<Eigen::PlainObjectBase<Plain>, Plain>,
                "as_array of a temporary matrix would dangle: name it, or use array_from to copy");
  return Array::borrow(detail::view_of_eigen(expression));
}

// A copy: the storage order of the result is that of the expression.
template <class Derived> Array array_from(const Eigen::DenseBase<Derived>& expression) {
  using T = typename Derived::Scalar;
  constexpr int options = Derived::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor;
  if constexpr (Derived::IsVectorAtCompileTime) {
    Array result = Array::empty(dtype_of<T>(), {expression.size()});
    Eigen::Map<typename Derived::PlainObject>(result.data<T>(), expression.rows(), expression.cols()) = expression;
    return result;
  } else {
    Array result = Array::empty(dtype_of<T>(), {expression.rows(), expression.cols()},
                                Derived::IsRowMajor ? Order::c : Order::f);
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, options>>(
        result.data<T>(), expression.rows(), expression.cols()) = expression.derived().array();
    return result;
  }
}
template <class Expression> requires requires { typename Expression::PlainObject; }
Array Array::from(const Expression& expression) { return array_from(expression); }

template <class T> using MatrixMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>,
                                  const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>,
                                  Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>>,
               Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
template <class T> using VectorMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>,
                                  Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>>,
               Eigen::Unaligned, Eigen::InnerStride<Eigen::Dynamic>>;

// A rank 2 array as an Eigen matrix over the same elements; as_eigen<const T> for read-only ones.
template <class T> MatrixMap<T> as_eigen(const View& view) {
  WEFT_REQUIRE(view.rank() == 2, shape, "as_eigen: expected rank 2, got ", to_text(view.shape()),
               "\n  use as_eigen_vector for rank 1, or reshape_view first");
  return MatrixMap<T>(view.data<T>(), view.shape()[0], view.shape()[1], {view.strides()[1], view.strides()[0]});
}
// A rank 1 array as an Eigen column vector over the same elements.
template <class T> VectorMap<T> as_eigen_vector(const View& view) {
  WEFT_REQUIRE(view.rank() == 1, shape, "as_eigen_vector: expected rank 1, got ", to_text(view.shape()),
               "\n  use as_eigen for rank 2, or reshape_view first");
  return VectorMap<T>(view.data<T>(), view.shape()[0], Eigen::InnerStride<Eigen::Dynamic>(view.strides()[0]));
}

}  // namespace weft
