// Scans whose steps need not wait for each other: what an accumulator has so far, where any order of elements gives the same bits.
//
//   running_accumulator(cumulative_max of f32) == max;  of i64 cumulative_sum: sum;  of f32 cumulative_sum: none
//
// They may run as vectors along their own axis (emit/emit_running.cpp).
#pragma once
#include <optional>

#include "schedule.h"

namespace weft {

// The accumulator, if a step does nothing but combine one state with what is made of the elements. Cost: nodes of the step.
std::optional<AccumulatorId> running_accumulator(const Node& node);

}  // namespace weft
