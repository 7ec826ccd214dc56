// Which stages of a variant can slide together (weft/slide.h), and whether they do in a call.
//
// Nests that follow each other slide if each walks its arrays between nests from one end to the other along its root: what a unit of the
// root reads of such an array lies in some lines next to each other, which move on with it. So do stencils, and nests of the same rows that
// share no loop for another reason. What is read along another axis, or all of it for each unit, ends what slides. Products of matrices pack an
// operand for many rows at once: they do not slide.
#pragma once
#include <memory>
#include <vector>

#include <weft/slide.h>

#include "program/program.h"

namespace weft {

struct Plan;
struct Variant;

struct SlidePlan {
  struct Use {                            // as Slide::Use
    Extent stride, first, beyond;
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct Buffer {
    NodeId node;
    Use made;
    bool is_whole;
    std::size_t first_reader, last_reader;   // steps
  };
  struct Read {
    int buffer;
    Use use;
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Step {
    std::size_t stage;                    // of the variant
    std::vector<int> makes;
    std::vector<Read> reads;
    bool is_whole = false;
  };
  std::size_t first = 0;                  // program of the first step; the others follow it
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
};

// In the order of the programs, each of which is in one of them at most.
std::vector<SlidePlan> plan_slides(const Plan& plan);

struct CallSlide {
  std::size_t first_program, first_stage, last_stage;
  Slide slide;
};

// What slides in a call: nothing where all that is passed on stays near as it is, or where slices for so many threads would be short beside what each
// makes again. Many steps slide in several parts if what all of them keep would be too much. sizes: of the call, by the plan's table.
std::vector<CallSlide> slides_in(const SlidePlan& planned, const Variant& variant, const Bindings& bindings, const std::vector<Index>& sizes, int threads);

// The stages of calls of some sizes: those of the variant, but those that slide are one.
struct SlidStages {
  Bindings bindings;
  std::vector<Stage> stages;              // none: nothing slides
  std::vector<Index> sizes;               // which follow those of the plan
  std::vector<bool> is_buffer;            // by slot: there is no array
};
// Kept for calls of the same sizes. Thread-safe.
std::shared_ptr<const SlidStages> slid_stages(const Variant& variant, const Bindings& bindings, const std::vector<Index>& sizes, int threads);

}  // namespace weft
