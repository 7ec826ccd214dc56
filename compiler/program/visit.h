// Walks over the items of a program, loops within loops: one place that knows what every form of item reads, writes and takes.
//
//   each_item(program.root, [&](const Item& item, const Loop& loop) { .. });       // items that are no loops, in order
//   each_access(item, [&](int buffer, const std::vector<Subscript>& at, bool is_written) { .. });
//
// Bodies for parts of a loop (Loop::parts) hold its items again and are not walked. Loops and items may be const or not.
#pragma once
#include "program.h"

namespace weft {

// The loop, then those within it: visit(loop).
template <class ALoop, class Visit> void each_loop(ALoop& loop, const Visit& visit) {
  visit(loop);
  for (auto& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) each_loop(*inner, visit);
}

// visit(item, the loop it stands in).
template <class ALoop, class Visit> void each_item(ALoop& loop, const Visit& visit) {
  for (auto& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item)) each_item(*inner, visit);
    else visit(item, loop);
  }
}

// What an item, no loop, reads and writes of buffers.
template <class AnItem, class Visit> void each_access(AnItem& item, const Visit& visit) {
  if (auto* load = std::get_if<Load>(&item)) visit(load->buffer, load->at, false);
  if (auto* store = std::get_if<Store>(&item)) visit(store->buffer, store->at, true);
  if (auto* others = std::get_if<Others>(&item)) visit(others->from, others->from_at, false), visit(others->to, others->to_at, true);
}

// What an item, no loop, takes of values and constants.
template <class AnItem, class Take> void each_arg(AnItem& item, const Take& take) {
  if (auto* compute = std::get_if<Compute>(&item)) std::for_each(compute->args.begin(), compute->args.end(), take);
  if (auto* store = std::get_if<Store>(&item)) take(store->value);
  if (auto* write = std::get_if<WriteState>(&item)) take(write->value);
  if (auto* accumulate = std::get_if<Accumulate>(&item)) {
    take(accumulate->value);
    if (accumulate->factor) take(*accumulate->factor);
  }
}

int reads_of(const Loop& loop, int buffer);                  // how many items there read it
int writes_of(const Loop& loop, int buffer);
int uses_of(const Loop& loop, int value);                    // how often items there take it

}  // namespace weft
