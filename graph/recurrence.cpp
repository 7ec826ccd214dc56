#include <weft/recurrence.h>

#include <weft/text.h>

namespace weft {

bool same(const Recurrence& a, const Recurrence& b) {
  if (a.gradient.has_value() != b.gradient.has_value() || (a.gradient && !same(*a.gradient, *b.gradient))) return false;
  return a.start == b.start && same(a.step, b.step) && same(a.finish, b.finish);
}

bool operator==(const Recurring& a, const Recurring& b) {
  if (a.output != b.output || a.axes != b.axes || a.backwards != b.backwards) return false;
  return a.recurrence == b.recurrence || (a.recurrence && b.recurrence && same(*a.recurrence, *b.recurrence));
}

// ---- the scans with a name

namespace {

std::shared_ptr<const Recurrence> make_builtin(AccumulatorId acc, DType element, DType result) {
  const std::optional<Op> op = combining_op(acc);
  WEFT_REQUIRE(op, unsupported, "scan: ", name_of(acc), " has no scan");
  const DType carried = is_floating(result) && size_of(result) == 2 ? f32 : result;
  auto made = std::make_shared<Recurrence>();
  made->name = name_of(acc);
  made->start = {unit(acc, carried)};
  made->step.name = "step";
  const Expr state = made->step.input("s0", carried, {}), x = made->step.input("x0", element, {});
  const Expr next = elementwise(*op, {state, cast(cast(x, result), carried)});
  WEFT_REQUIRE(next.dtype() == carried, dtype, "scan: ", name_of(acc), " gives ", next.dtype(), ", not ", result);
  made->step.outputs = {next.id(), cast(next, result).id()};
  made->finish.name = "finish";
  const Expr last = made->finish.input("s0", carried, {});
  made->finish.outputs = {cast(last, result).id()};
  return made;
}

}  // namespace

std::shared_ptr<const Recurrence> builtin_scan(AccumulatorId acc, DType element, DType result) {
  static std::mutex mutex;
  static std::map<std::tuple<AccumulatorId, DType, DType>, std::shared_ptr<const Recurrence>> made;
  const std::lock_guard lock(mutex);
  auto& entry = made[{acc, element, result}];
  if (!entry) entry = make_builtin(acc, element, result);
  return entry;
}

}  // namespace weft
