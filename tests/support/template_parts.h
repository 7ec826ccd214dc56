// What the templates of random graphs share: values to start from, their sizes, and what a template hands back.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include <weft/expr.h>

#include "random_source.h"

// Values made with one feature; tests count features to see that the generator reaches them. A target that is an argument
// is an input whose elements are symbols, bound here to what the call is to give.
struct Made {
  std::string feature;
  std::vector<weft::Expr> values = {};
  weft::Bindings elements = {};
};

class TemplateParts {
 protected:
  using Axes = weft::Axes;
  using DType = weft::DType;
  using Expr = weft::Expr;
  using Extent = weft::Extent;
  using Index = weft::Index;
  using Shape = weft::Shape;

  // smooth: f64 only, and what is made has derivatives.
  TemplateParts(RandomSource& random, const std::vector<Expr>& values, const weft::Bindings& bindings, Index max_volume, bool smooth = false)
      : random_(random), values_(values), bindings_(bindings), max_volume_(max_volume), smooth_(smooth) {}

  Index size(const Extent& extent) const { return extent.evaluate(bindings_); }
  Index size(const Expr& x, int axis) const { return size(x.shape()[static_cast<std::size_t>(axis)]); }
  bool fits(const std::vector<Shape>& shapes) const {
    Index volume = 1;
    for (const Shape& shape : shapes)
      for (const Extent& extent : shape) volume *= std::max<Index>(1, size(extent));
    return volume <= max_volume_;
  }
  bool has_elements(const Expr& x) const {
    const Shape shape = x.shape();
    return std::all_of(shape.begin(), shape.end(), [&](const Extent& extent) { return size(extent) > 0; });
  }
  int axis_of(const Expr& x) { return static_cast<int>(random_.small(static_cast<std::uint64_t>(x.rank()))); }
  Expr any_value() { return random_.pick(values_); }
  Expr any_array() {                       // of rank 1 or more, if some tries find one
    for (int tries = 0; tries < 3; ++tries)
      if (const Expr x = any_value(); x.rank() > 0) return x;
    return any_value();
  }
  // Some axes in their order, so that they may mean the axes of another array.
  std::vector<Index> some_axes(int rank) {
    std::vector<Index> axes;
    for (int k = 0; k < rank; ++k)
      if (random_.chance(50)) axes.push_back(k);
    return axes;
  }
  // x with these axes only, at index 0 of the others; Error where those have none.
  Expr along(const Expr& x, const std::vector<Index>& axes) {
    std::vector<weft::Slice> slices(static_cast<std::size_t>(x.rank()), weft::Slice(0));
    for (int k = 0; k < x.rank(); ++k) {
      if (std::find(axes.begin(), axes.end(), k) != axes.end()) slices[static_cast<std::size_t>(k)] = weft::Slice();
      else WEFT_REQUIRE(size(x, k) > 0, shape, "no element along axis ", k);
    }
    return slices.empty() ? x : x.slice(slices);
  }
  // x with some axes reduced to extent 1.
  Expr thinned(const Expr& x) {
    std::vector<weft::Slice> slices(static_cast<std::size_t>(x.rank()));
    for (int k = 0; k < x.rank(); ++k)
      if (size(x, k) > 0 && random_.chance(35)) slices[static_cast<std::size_t>(k)] = weft::Slice{0, 1};
    return slices.empty() ? x : x.slice(slices);
  }
  weft::Order any_order() { return random_.pick({weft::Order::c, weft::Order::f}); }

  RandomSource& random_;
  const std::vector<Expr>& values_;
  const weft::Bindings& bindings_;
  Index max_volume_;
  bool smooth_;
};
