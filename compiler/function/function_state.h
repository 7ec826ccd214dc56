// What a Function holds: the graph after all passes, and the variants compiled from it so far. Calls of several threads share it.
#pragma once
#include <map>
#include <mutex>
#include <optional>

#include <weft/binding.h>
#include <weft/function.h>
#include <weft/memory.h>

#include "recent_calls.h"
#include "variant_key.h"
#include "variants.h"
#include "schedule/thin_extents.h"

namespace weft {

struct Function::State {
  Graph graph;
  Options options;
  Machine machine;
  std::shared_ptr<Executor> executor;
  std::vector<NodeId> checked;                                     // nodes whose sense depends on sizes
  Graph given;                                                     // before the passes, if it has such nodes: of a slice of a slice
  std::vector<NodeId> checked_given;                               // absorb_copies makes one, which may reach elements that the first left out
  struct Reshaped {
    NodeId node;
    std::size_t input;
  };
  std::vector<Reshaped> reshaped;                                  // of inputs: arguments of their own, over memory that is row-major
  std::vector<NodeId> results;                                     // by output: what its array holds, in whose shape it is written
  BufferPool pool;
  double pass_seconds = 0;

  mutable std::mutex compiling;                                    // one variant at a time, while calls that have theirs go on; locked before the next
  mutable std::mutex mutex;                                        // of what follows
  mutable std::map<std::string, Variants> variants;                // by key
  mutable std::shared_ptr<const Variant> latest;
  RecentCalls recent;                                              // that depend on no more than layouts; of those settled too

  // A graph with broadcasts that a call decides is not compiled itself: one is compiled for each way in which they turn out. So it is
  // for thin axes; calls without them use the graph itself.
  bool decided_by_calls = false;
  std::optional<ThinExtents> thin_extents;
  Bindings thin;                                                   // of a settled graph: the extents that are numbers in it
  mutable std::map<std::string, std::shared_ptr<State>> settled;
  mutable std::shared_ptr<State> latest_settled;                   // null: the last call used the graph itself
  std::shared_ptr<State> settled_for(const Bindings& bindings) const;   // null: use the graph itself
  struct Settling {
    bool is_known = false;                                         // `state` is what to use; otherwise one is to be made for `thin`, and kept under `key`
    std::shared_ptr<State> state;
    std::string key;
    Bindings thin;
  };
  Settling settling_for(const Bindings& bindings) const;           // the caller holds the mutex

  // Of results in the shape in which they are written.
  std::shared_ptr<const Variant> variant_for(const Bindings& bindings, const std::vector<Array>& inputs, const std::vector<Array>& outputs) const;
  std::shared_ptr<const Variant> shown() const;
  double compile_seconds() const;
  CacheLimit cache_limit() const { return {options.cache_bytes, machine, executor->threads()}; }
  std::vector<Array> make_outputs(const Bindings& bindings);
};

}  // namespace weft
