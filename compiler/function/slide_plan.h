// Which stages of a variant can slide together (weft/slide.h), and whether they do in a call.
//
// Nests that follow each other slide if each walks its arrays between nests from one end to the other along its root: what a unit of the
// root reads of such an array lies in some lines next to each other, which move on with it. So do stencils, and nests of the same rows that
// share no loop for another reason. What is read along another axis, or all of it for each unit, ends what slides. Products of matrices pack an
// operand for many rows at once: they do not slide.
#pragma once
#include <optional>
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
  };
  struct Read {
    int buffer;
    Use use;
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Step {
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

// The steps with the numbers of a call, if they slide in it: if what they pass to each other would not stay near as it is, and does as buffers,
// and slices for so many threads would be long beside what each makes again. sizes: of the call, by the plan's table.
std::optional<Slide> slide_in(const SlidePlan& slide, const Variant& variant, const Bindings& bindings, const std::vector<Index>& sizes, int threads);

// The stages of a call: those of the variant, but those that slide are one. Adds to the sizes what that one says of itself.
std::vector<Stage> stages_of_call(const Variant& variant, const std::vector<std::optional<Slide>>& slides, std::vector<Index>& sizes);

}  // namespace weft
