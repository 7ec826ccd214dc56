#include "others.h"

#include <array>

#include <weft/error.h>
#include <weft/recurrence.h>

#include "maps.h"

namespace weft {
namespace {

template <class T> void of_others(const std::byte* values, Index count, Index step, std::byte* results, Index result_step) {
  constexpr Index rows = most_others / fold_slots;             // elements of a slot
  std::array<std::array<T, rows>, fold_slots> x{}, others{};
  std::array<T, fold_slots> all{}, rest{};
  const auto length = [&](Index slot) { return slot < count ? static_cast<std::size_t>((count - slot - 1) / fold_slots + 1) : 0; };
  for (Index k = 0; k < count; ++k) x[static_cast<std::size_t>(k % fold_slots)][static_cast<std::size_t>(k / fold_slots)] = *reinterpret_cast<const T*>(values + k * step);
  for (std::size_t slot = 0; slot < fold_slots; ++slot) {
    const std::size_t own = length(static_cast<Index>(slot));
    all[slot] = rest[slot] = 1;
    T after = 1;
    for (std::size_t k = own; k-- > 0; after *= x[slot][k]) others[slot][k] = after;
    for (std::size_t k = 0; k < own; all[slot] *= x[slot][k++]) others[slot][k] = all[slot] * others[slot][k];
  }
  for (std::size_t distance = fold_slots / 2; distance > 0; distance /= 2) {
    const auto before = all;
    for (std::size_t slot = 0; slot < fold_slots; ++slot) rest[slot] *= before[slot ^ distance], all[slot] *= before[slot ^ distance];
  }
  for (Index k = 0; k < count; ++k)
    *reinterpret_cast<T*>(results + k * result_step) = others[static_cast<std::size_t>(k % fold_slots)][static_cast<std::size_t>(k / fold_slots)] * rest[static_cast<std::size_t>(k % fold_slots)];
}

// Emits the product of the elements before each one.
std::shared_ptr<const Recurrence> product_before(DType dtype) {
  auto made = std::make_shared<Recurrence>();
  made->name = "product_before";
  made->start = {Scalar::of(dtype, 1.0)};
  made->step.name = "step";
  const Expr state = made->step.input("s0", dtype, {}), x = made->step.input("x0", dtype, {});
  made->step.outputs = {(state * x).id(), state.id()};
  made->finish.name = "finish";
  made->finish.outputs = {made->finish.input("s0", dtype, {}).id()};
  return made;
}

}  // namespace

void products_of_others(DType dtype, const void* values, Index count, Index step, void* results, Index result_step) {
  WEFT_ASSERT(count <= most_others && (dtype == f32 || dtype == f64), "others: ", count, " elements of ", dtype);
  const auto run = dtype == f32 ? of_others<float> : of_others<double>;
  run(static_cast<const std::byte*>(values), count, step, static_cast<std::byte*>(results), result_step);
}

Expr product_of_others(Graph& graph, DType dtype, Shape domain, int axis, Operand element, Order order) {
  Node node;
  node.kind = Kind::others;
  node.dtype = dtype;
  node.accumulator = AccumulatorId::prod;
  node.kept = static_cast<int>(domain.size());
  node.domain = std::move(domain);
  node.order = order;
  node.payload = Along{axis};
  return Expr(graph, graph.add(std::move(node), {std::move(element)}));
}

BeforeAndAfter products_before_and_after(Graph& graph, DType dtype, const Shape& domain, const std::vector<int>& axes, const Operand& element, Order order) {
  const AxisMap flip = reversed_map(domain, axes);
  const auto what = product_before(dtype);
  return {recur_scan(graph, what, 0, domain, axes, {element}, order), recur_scan(graph, what, 0, domain, axes, {Operand{element.node, compose(element.map, flip)}}, order), flip};
}

}  // namespace weft
