// TML programs under test: inputs by the text of their types, values through the reference interpreter, and a second
// implementation of the rules, recursive as the source states them, on trees of scalars.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <weft/tml.h>

#include "random_data.h"
#include "random_source.h"
#include "values.h"

using Numbers = std::vector<double>;

struct Program {
  weft::Graph g;
  std::vector<weft::Expr> inputs;
  std::vector<weft::Array> arrays;

  weft::tml::Tensor given(const std::string& name, const std::string& type, const Numbers& values) {
    const weft::tml::Tensor tensor = weft::tml::input(g, name, weft::tml::type(type));
    weft::Dims dims;
    for (const weft::Extent& length : tensor.type().shape()) dims.push_back(length.constant());
    weft::Array array(tensor.dtype(), dims);
    auto* bytes = static_cast<std::byte*>(array.data());
    for (std::size_t k = 0; k < values.size(); ++k) weft::Scalar::of(tensor.dtype(), values[k]).store(bytes + k * weft::size_of(tensor.dtype()));
    inputs.push_back(tensor);
    arrays.push_back(array);
    return tensor;
  }
  Numbers operator()(const weft::tml::Tensor& output) const { return values_of(output, inputs, arrays); }
};

// A scalar, or elements in row-major order of dims.
struct Tree {
  weft::Dims dims;
  std::vector<Tree> elements;
  double scalar = 0;
  bool is_scalar() const { return elements.empty(); }
};

inline weft::Dims padded(const weft::Dims& dims, std::size_t rank) {
  weft::Dims result(rank - dims.size(), 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}
// The element at an index into a larger index space, aligned at the last dimensions, 0 where the length is 1.
inline const Tree& element_at(const Tree& tree, const weft::Dims& index) {
  const std::size_t shift = index.size() - tree.dims.size();
  weft::Index at = 0;
  for (std::size_t k = 0; k < tree.dims.size(); ++k) at = at * tree.dims[k] + (tree.dims[k] == 1 ? 0 : index[k + shift]);
  return tree.elements[static_cast<std::size_t>(at)];
}

// a + b; nullopt where it is impossible.
inline std::optional<Tree> added(const Tree& a, const Tree& b) {
  if (a.is_scalar() && b.is_scalar()) return Tree{{}, {}, a.scalar + b.scalar};
  const std::size_t rank = std::max(a.dims.size(), b.dims.size());
  const weft::Dims da = padded(a.dims, rank), db = padded(b.dims, rank);
  Tree result;
  for (std::size_t k = 0; k < rank; ++k) {
    if (da[k] != db[k] && da[k] != 1 && db[k] != 1) return std::nullopt;
    result.dims.push_back(std::max(da[k], db[k]));
  }
  bool possible = true;
  for_each_element(result.dims, [&](const weft::Dims& index) {
    const auto sum = added(a.is_scalar() ? a : element_at(a, index), b.is_scalar() ? b : element_at(b, index));
    possible &= sum.has_value();
    result.elements.push_back(sum.value_or(Tree{}));
  });
  return possible ? std::optional(result) : std::nullopt;
}

// lhs after lhs = rhs.
inline std::optional<Tree> assigned(const Tree& lhs, const Tree& rhs) {
  if (lhs.is_scalar()) return rhs.is_scalar() ? std::optional(rhs) : std::nullopt;
  if (rhs.dims.size() > lhs.dims.size()) return std::nullopt;
  const weft::Dims from = padded(rhs.dims, lhs.dims.size());
  for (std::size_t k = 0; k < from.size(); ++k)
    if (from[k] != lhs.dims[k] && from[k] != 1) return std::nullopt;
  Tree result{lhs.dims, {}, 0};
  bool possible = true;
  for_each_element(lhs.dims, [&](const weft::Dims& index) {
    const auto element = assigned(element_at(lhs, index), rhs.is_scalar() ? rhs : element_at(rhs, index));
    possible &= element.has_value();
    result.elements.push_back(element.value_or(Tree{}));
  });
  return possible ? std::optional(result) : std::nullopt;
}

// One index: the elements along the rest of the dimensions, or the element itself.
inline std::optional<Tree> indexed(const Tree& tree, weft::Index index) {
  if (tree.is_scalar()) return tree;
  const weft::Index length = tree.dims[0];
  if (length > 1 && index >= length) return std::nullopt;
  const auto count = static_cast<std::ptrdiff_t>(tree.elements.size()) / length, begin = (length == 1 ? 0 : index) * count;
  if (tree.dims.size() == 1) return tree.elements[static_cast<std::size_t>(begin)];
  return Tree{weft::Dims(tree.dims.begin() + 1, tree.dims.end()), std::vector<Tree>(tree.elements.begin() + begin, tree.elements.begin() + begin + count), 0};
}

// The tree after tree[indices..] = value, indices from `from` on.
inline std::optional<Tree> written(const Tree& tree, const std::vector<weft::Index>& indices, std::size_t from, const Tree& value) {
  if (from == indices.size() || tree.is_scalar()) return assigned(tree, value);
  const auto part = indexed(tree, indices[from]);
  const auto changed = part ? written(*part, indices, from + 1, value) : std::nullopt;
  if (!changed) return std::nullopt;
  Tree result = tree;
  const auto count = static_cast<std::ptrdiff_t>(tree.elements.size()) / tree.dims[0], begin = (tree.dims[0] == 1 ? 0 : indices[from]) * count;
  if (tree.dims.size() == 1) result.elements[static_cast<std::size_t>(begin)] = *changed;
  else std::copy(changed->elements.begin(), changed->elements.end(), result.elements.begin() + begin);
  return result;
}

inline Tree narrowed(Tree tree) {
  if (tree.is_scalar()) return tree;
  std::erase(tree.dims, 1);
  return tree.dims.empty() ? tree.elements[0] : tree;
}

inline void flatten(const Tree& tree, Numbers& into) {
  if (tree.is_scalar()) into.push_back(tree.scalar);
  for (const Tree& element : tree.elements) flatten(element, into);
}
inline Numbers flat(const Tree& tree) {
  Numbers values;
  flatten(tree, values);
  return values;
}
inline std::vector<weft::Shape> nest_of(const Tree& tree) {
  std::vector<weft::Shape> nest;
  for (const Tree* level = &tree; !level->is_scalar(); level = &level->elements[0]) nest.emplace_back(level->dims.begin(), level->dims.end());
  return nest;
}

// Up to three levels of up to three dimensions of length 1 to 3, scalars counted from `next`.
inline Tree random_tree(RandomSource& random, double& next, const std::vector<weft::Dims>& levels, std::size_t level = 0) {
  if (level == levels.size()) return Tree{{}, {}, next++};
  Tree tree{levels[level], {}, 0};
  for (weft::Index k = 0; k < weft::element_count(tree.dims); ++k) tree.elements.push_back(random_tree(random, next, levels, level + 1));
  return tree;
}
inline std::vector<weft::Dims> random_levels(RandomSource& random) {
  std::vector<weft::Dims> levels(static_cast<std::size_t>(random.between(0, 3)));
  for (weft::Dims& dims : levels) {
    const auto rank = random.between(1, levels.size() == 1 ? 3 : 2);
    for (std::int64_t k = 0; k < rank; ++k) dims.push_back(random.pick<weft::Index>({1, 1, 2, 3}));
  }
  return levels;
}
