#include <weft/eigen.h>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

namespace {
using Floats = std::vector<float>;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::MatrixXf counting(Index rows, Index columns) {
  Eigen::MatrixXf m(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) m(i, j) = static_cast<float>(i * columns + j);
  return m;
}
}  // namespace

TEST_CASE("a matrix is an array over the same elements") {
  Eigen::MatrixXf m = counting(2, 3);
  const Array a = as_array(m);
  CHECK(a.shape() == Dims{2, 3});
  CHECK(a.strides() == Dims{1, 2});
  CHECK(a.data() == m.data());
  CHECK(a.to_vector<float>() == Floats{0, 1, 2, 3, 4, 5});
  a.at<float>({1, 0}) = 30;
  CHECK(m(1, 0) == 30);
  RowMajor r = m;
  CHECK(as_array(r).strides() == Dims{3, 1});
  CHECK(as_array(r).to_vector<float>() == a.to_vector<float>());
}

TEST_CASE("vectors become rank 1") {
  Eigen::VectorXd v(3);
  v << 1, 2, 3;
  CHECK(as_array(v).shape() == Dims{3});
  CHECK(as_array(v).dtype() == f64);
  Eigen::MatrixXf m = counting(3, 4);
  CHECK(as_array(m.col(1)).to_vector<float>() == Floats{1, 5, 9});
  CHECK(as_array(m.row(2)).to_vector<float>() == Floats{8, 9, 10, 11});
  CHECK(as_array(m.row(2)).strides() == Dims{3});
  Eigen::Array<Eigen::half, 4, 1> h = Eigen::Array<Eigen::half, 4, 1>::Constant(Eigen::half(0.5f));
  CHECK(as_array(h).get({3}) == Scalar::of(f16, 0.5));
}

TEST_CASE("blocks, maps, transposes and refs with any strides write through") {
  Eigen::MatrixXf m = counting(4, 5);
  const Array block = as_array(m.block(1, 2, 2, 3));
  CHECK(block.to_vector<float>() == Floats{7, 8, 9, 12, 13, 14});
  block.fill(Scalar(-1));
  CHECK(m(1, 2) == -1);
  CHECK(m(2, 4) == -1);
  CHECK(m.sum() == 190 - (7 + 8 + 9 + 12 + 13 + 14) - 6);
  CHECK(as_array(m.transpose()).at<float>({4, 0}) == 4);
  CHECK(as_array(m.topRows(2).leftCols(2)).to_vector<float>() == Floats{0, 1, 5, 6});
  float values[24];
  for (int i = 0; i < 24; ++i) values[i] = static_cast<float>(i);
  using Strided = Eigen::Map<RowMajor, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  Strided map(values, 3, 2, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(8, 3));
  CHECK(as_array(map).to_vector<float>() == Floats{0, 3, 8, 11, 16, 19});
  as_array(map).at<float>({2, 1}) = 7;
  CHECK(values[19] == 7);
  Eigen::Ref<Eigen::MatrixXf> ref = m;
  CHECK(as_array(ref).is_writable());
}

TEST_CASE("constant expressions are read-only") {
  const Eigen::MatrixXf m = counting(2, 2);
  CHECK_FALSE(as_array(m).is_writable());
  CHECK_FALSE(as_array(m.block(0, 0, 1, 2)).is_writable());
  CHECK_FALSE(as_array(m.col(0)).is_writable());
  CHECK_FALSE(as_array(m.transpose()).is_writable());
  CHECK_FALSE(as_array(Eigen::Map<const Eigen::VectorXf>(m.data(), 4)).is_writable());
  CHECK(as_array(m).at<const float>({1, 0}) == 2);
  CHECK(as_eigen<const float>(as_array(m)) == m);
}

TEST_CASE("expressions are copied in their own order") {
  const Eigen::MatrixXf m = counting(2, 3);
  const Array a = array_from(m * 2);
  CHECK(a.strides() == Dims{1, 2});
  CHECK(a.to_vector<float>() == Floats{0, 2, 4, 6, 8, 10});
  CHECK(array_from(RowMajor(m)).strides() == Dims{3, 1});
  CHECK(Array::from(m.row(1)).to_vector<float>() == Floats{3, 4, 5});
  CHECK(Array::from(m.array() + 1).to_vector<float>() == Floats{1, 2, 3, 4, 5, 6});
  CHECK(Array::from(m.cast<double>().colwise().sum()).to_vector<double>() == std::vector<double>{3, 5, 7});
  CHECK(Array::from((m.array() > 2).eval()).to_vector<bool>() == std::vector<bool>{false, false, false, true, true, true});
}

TEST_CASE("an array is an Eigen map over the same elements, whatever its strides") {
  const Array a = Array::from<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  CHECK(as_eigen<float>(a) == counting(2, 3));
  CHECK(as_eigen<float>(a.transpose()) == counting(2, 3).transpose());
  CHECK(as_eigen<float>(a.flip(0).flip(1)) == counting(2, 3).reverse());
  CHECK(as_eigen<const float>(a.slice(0, 1, 1).broadcast_to({4, 3})) == counting(2, 3).row(1).replicate(4, 1));
  as_eigen<float>(a.slice(1, 0, 2, 2)) *= 10;
  CHECK(a.to_vector<float>() == Floats{0, 1, 20, 30, 4, 50});
  as_eigen_vector<float>(a.slice(0, 0, 1).squeeze().flip(0)) << 7, 8, 9;
  CHECK(a.to_vector<float>() == Floats{9, 8, 7, 30, 4, 50});
  CHECK(as_array(as_eigen<float>(a.flip(1))).strides() == Dims{3, -1});
}

TEST_CASE("what a caller can get wrong with Eigen") {
  const Array a(f32, {2, 3, 4});
  CHECK(error_text([&] { as_eigen<float>(a); }) ==
        "shape: as_eigen: expected rank 2, got [2, 3, 4]\n  use as_eigen_vector for rank 1, or reshape_view first");
  CHECK(error_text([&] { as_eigen_vector<float>(a); }) ==
        "shape: as_eigen_vector: expected rank 1, got [2, 3, 4]\n  use as_eigen for rank 2, or reshape_view first");
  CHECK(error_text([&] { as_eigen<double>(a.reshape_view({6, 4})); }) == "dtype: the elements are f32, asked for as f64");
}
