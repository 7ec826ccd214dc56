// Every accumulator over every subset of the axes of an array of rank 5, in every dtype and in several layouts, against the
// interpreter bit for bit.
#include <algorithm>

#include <weft/function.h>

#include "compiled.h"

using namespace weft;

namespace {

constexpr DType dtypes[] = {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
const Dims extents{3, 2, 5, 4, 17};

Array transposed(DType dtype, const Dims& shape) {
  return Array(dtype, {shape[3], shape[0], shape[4], shape[1], shape[2]}).permute({1, 3, 4, 0, 2});
}
// Every axis sliced with a step, axes 1, 2 and 4 backwards.
Array sliced(DType dtype, const Dims& shape) {
  Dims larger = shape;
  for (Index& extent : larger) extent = 2 * extent + 1;
  Array view(dtype, larger);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) view = view.slice(static_cast<int>(axis), 1, shape[axis], 2);
  return view.flip(1).flip(2).flip(4);
}
// Values that no layout changes, in fresh memory of each layout.
struct Layout {
  const char* name;
  Array (*memory)(DType dtype, const Dims& shape);
};
constexpr Layout layouts[] = {{"c", [](DType dtype, const Dims& shape) { return Array(dtype, shape); }},
                              {"f", [](DType dtype, const Dims& shape) { return Array(dtype, shape, Order::f); }},
                              {"transposed", transposed},
                              {"sliced, backwards", sliced}};

std::vector<int> axes_of(int subset) {
  std::vector<int> axes;
  for (int axis = 0; axis < 5; ++axis)
    if (subset >> axis & 1) axes.push_back(axis);
  return axes;
}

// The other functions of a dtype that a test of sums is not about; each on its turn.
std::vector<Expr (*)(const Expr&, const Axes&)> functions_of(DType dtype) {
  std::vector<Expr (*)(const Expr&, const Axes&)> list{[](const Expr& x, const Axes& axes) { return any(x, axes); },
                                                       [](const Expr& x, const Axes& axes) { return all(x, axes); },
                                                       [](const Expr& x, const Axes& axes) { return argmax(x, axes); },
                                                       [](const Expr& x, const Axes& axes) { return argmin(x, axes); },
                                                       [](const Expr& x, const Axes& axes) { return var(x, axes); }};
  if (!is_boolean(dtype)) {
    list.push_back([](const Expr& x, const Axes& axes) { return max(x, axes); });
    list.push_back([](const Expr& x, const Axes& axes) { return min(x, axes); });
    list.push_back([](const Expr& x, const Axes& axes) { return prod(x, axes); });
  }
  return list;
}

// One program for every third dtype, another third on each turn, so that every subset meets every dtype in one of the layouts:
// `make` builds the outputs of each input.
template <class Make> void check_layout(const Layout& layout, std::size_t turn, const Make& make) {
  CAPTURE(std::string(layout.name));
  Graph g;
  std::vector<Expr> inputs, outputs;
  std::vector<Array> arrays;
  for (std::size_t k = turn % 3; k < std::size(dtypes); k += 3) {
    const DType dtype = dtypes[k];
    inputs.push_back(g.input(std::string(to_text(dtype)), dtype, Shape(extents.begin(), extents.end())));
    for (Expr& output : make(inputs.back())) outputs.push_back(std::move(output));
    Array memory = layout.memory(dtype, extents);
    copy_elements(special(dtype, extents, static_cast<std::uint64_t>(dtype) + 1), memory);
    arrays.push_back(std::move(memory));
  }
  const Function f = compile(outputs, inputs, checked());
  check_call(f, arrays);
}

}  // namespace

TEST_CASE("a sum over any subset of five axes has the interpreter's bits, in every dtype and layout") {
  for (std::size_t k = 0; k < std::size(layouts); ++k)
    for (int subset = 0; subset < 32; ++subset) {
      CAPTURE(subset);
      check_layout(layouts[k], k + static_cast<std::size_t>(subset), [&](const Expr& x) { return std::vector<Expr>{sum(x, axes_of(subset))}; });
    }
}

TEST_CASE("every other function over any subset of five axes has the interpreter's bits") {
  std::size_t turn = 0;
  for (std::size_t k = 0; k < std::size(layouts); ++k)
    for (int subset = 1; subset < 32; ++subset) {
      CAPTURE(subset);
      check_layout(layouts[k], k + static_cast<std::size_t>(subset), [&](const Expr& x) {
        const auto functions = functions_of(x.dtype());
        return std::vector<Expr>{functions[turn++ % functions.size()](x, axes_of(subset))};
      });
    }
}
