// Matrix and tensor products: which axes of the operands are one.
#include <weft/linear_algebra.h>

#include <algorithm>

#include <weft/expr.h>

#include "axes.h"
#include "broadcast/align.h"
#include "sum_of_products.h"

namespace weft {
namespace {

// Labels for the last axes, and numbers from the end for those in front of them, which broadcast.
Labels labeled_last(int rank, const Labels& last) {
  Labels labels;
  for (int axis = -rank; axis < -static_cast<int>(last.size()); ++axis) labels.push_back(std::to_string(axis));
  labels.insert(labels.end(), last.begin(), last.end());
  return labels;
}

void check_contracted(std::string_view what, const Expr& a, int a_axis, const Expr& b, int b_axis) {
  const Extent ea = a.shape()[static_cast<std::size_t>(a_axis)], eb = b.shape()[static_cast<std::size_t>(b_axis)];
  WEFT_REQUIRE(ea == eb, shape, what, ": axis ", a_axis, " of ", a.name(), " of shape ", to_text(a.shape()), " has extent ", ea, " but axis ", b_axis, " of ",
               b.name(), " of shape ", to_text(b.shape()), " has ", eb, "\n  ", mismatch_remedy(ea, eb, "axes that are summed over have one extent"));
}

void check_operands(std::string_view what, const Expr& a, const Expr& b) {
  check_one_graph(what, {a, b});
  for (const Expr& each : {a, b})
    WEFT_REQUIRE(each.rank() > 0, shape, what, ": ", each.name(), " has rank 0 and no axis to sum over\n  multiply by a scalar with *");
}

}  // namespace

Expr matmul(const Expr& a, const Expr& b) {
  check_operands("matmul", a, b);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  check_contracted("matmul", a, a.rank() - 1, b, column ? 0 : b.rank() - 2);
  Labels kept;                                               // of the one that has more axes in front of its matrices
  for (int axis = -std::max(a.rank(), b.rank()); axis < -2; ++axis) kept.push_back(std::to_string(axis));
  if (!row) kept.push_back("-2");
  if (!column) kept.push_back("-1");
  return sum_of_products("matmul", {{a, labeled_last(a.rank(), row ? Labels{"summed"} : Labels{"-2", "summed"})},
                                    {b, labeled_last(b.rank(), column ? Labels{"summed"} : Labels{"summed", "-1"})}}, kept);
}

Expr vecdot(const Expr& a, const Expr& b, int axis) {
  check_operands("vecdot", a, b);
  const int shorter = std::min(a.rank(), b.rank());
  WEFT_REQUIRE(axis < 0 && axis >= -shorter, shape, "vecdot: axis ", axis, " of ", a.name(), " of shape ", to_text(a.shape()), " and ", b.name(), " of shape ",
               to_text(b.shape()), "\n  axes are counted from the end, -", shorter, " to -1, since those in front broadcast");
  check_contracted("vecdot", a, a.rank() + axis, b, b.rank() + axis);
  const auto labels = [&](int rank) { return labeled_last(rank, {}); };
  Labels kept = labels(std::max(a.rank(), b.rank()));
  std::erase(kept, std::to_string(axis));
  return sum_of_products("vecdot", {{a, labels(a.rank())}, {b, labels(b.rank())}}, kept);
}

Expr tensordot(const Expr& a, const Expr& b, int axes) {
  check_one_graph("tensordot", {a, b});
  WEFT_REQUIRE(axes >= 0 && axes <= std::min(a.rank(), b.rank()), shape, "tensordot: ", axes, " axes of ", a.name(), " of shape ", to_text(a.shape()), " and ", b.name(),
               " of shape ", to_text(b.shape()), "\n  expected 0 to ", std::min(a.rank(), b.rank()));
  std::vector<int> last, first;
  for (int k = 0; k < axes; ++k) last.push_back(a.rank() - axes + k), first.push_back(k);
  return tensordot(a, b, last, first);
}

Expr tensordot(const Expr& a, const Expr& b, const std::vector<int>& a_axes, const std::vector<int>& b_axes) {
  check_one_graph("tensordot", {a, b});
  WEFT_REQUIRE(a_axes.size() == b_axes.size(), shape, "tensordot: ", a_axes.size(), " axes of ", a.name(), " but ", b_axes.size(), " of ", b.name(),
               "\n  name as many of each: axis k of one list goes with axis k of the other");
  normalize_axes("tensordot", a, a_axes);                    // in range, no duplicates
  normalize_axes("tensordot", b, b_axes);
  const auto labels = [](char side, int rank) {
    Labels labels;
    for (int axis = 0; axis < rank; ++axis) labels.push_back(concat(axis, " of ", side));
    return labels;
  };
  Labels of_a = labels('a', a.rank()), of_b = labels('b', b.rank());
  Labels kept = of_a;
  kept.insert(kept.end(), of_b.begin(), of_b.end());
  for (std::size_t k = 0; k < a_axes.size(); ++k) {
    const int a_axis = normalize_axis("tensordot", a, a_axes[k]), b_axis = normalize_axis("tensordot", b, b_axes[k]);
    check_contracted("tensordot", a, a_axis, b, b_axis);
    const std::string& label = of_a[static_cast<std::size_t>(a_axis)];
    std::erase(kept, label);
    std::erase(kept, of_b[static_cast<std::size_t>(b_axis)]);
    of_b[static_cast<std::size_t>(b_axis)] = label;
  }
  return sum_of_products("tensordot", {{a, of_a}, {b, of_b}}, kept);
}

}  // namespace weft
