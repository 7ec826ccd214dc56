// What the code of a program depends on: all but which arrays it runs on, and where these begin. Programs of the same form share their code, as the
// steps of an unrolled network do.
#pragma once
#include <vector>

#include "program.h"
#include "schedule/stride_class.h"

namespace weft {

struct CommonForm {
  Program program;                                       // without a name; nodes are numbers, from 0 in order of buffers
  std::vector<std::vector<StrideClass>> strides;         // by node, none of arrays without gaps
  friend bool operator==(const CommonForm&, const CommonForm&) = default;
};

CommonForm common_form(Program program, const StrideClasses& classes);
std::size_t hash_of(const CommonForm& form);

// By program: the first one of the same form; those that are alone have none of theirs. Linear time.
std::vector<std::optional<std::size_t>> firsts_of_forms(const std::vector<Program>& programs, const StrideClasses& classes);

}  // namespace weft
