// What the vector loops of a program ask of indices: windows read backwards, and comparisons of an index with a number or another index.
//
//   IndexConditions asked(program);                     // then, walking the program: enter(loop), note(item), leave(loop)
//   for (const auto& [value, begin, end] : asked.of(loop, axis)) ..
#pragma once
#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "visit.h"

namespace weft {

// What a value says of an index: true, or there, from `begin` to before `end`, and nowhere else.
struct Condition {
  int value;
  Bound begin, end;
};
using Conditions = std::vector<Condition>;

// Of a guarded load: how many elements the window has from the start of a subscript on.
Extent elements_of_window(const Program& program, const Load& load, const Subscript& s);
// Of a guarded load: whether a subscript guards nothing, since the window has every index that the loop has.
bool has_every_index(const Program& program, const Load& load, const Subscript& s);
// What it reads where it guards nothing, by dimension: the subscripts of a plain load.
std::vector<Subscript> unguarded(const Program& program, const Load& load);

class IndexConditions {
 public:
  explicit IndexConditions(const Program& program) : program_(program) {}

  void enter(const Loop& loop);
  void leave(const Loop& loop);
  void note(const Item& item, bool outside);                     // outside: of vector loops

  // What the vector loop, which the walk has just left, asks of the index along an axis: its own or that of a loop outside.
  Conditions of(const Loop& loop, int along) const;
  const std::vector<const Compute*>& outside() const { return outside_; }      // in order

 private:
  // A value that is a number, or that after the index of one axis, or before that of another: start + plus - minus.
  struct Linear {
    Extent start;
    int plus = -1, minus = -1;
  };
  std::optional<Linear> linear_of(const Arg& arg) const;
  std::optional<Linear> sum_of(const Arg& first, const Arg& second, bool less) const;
  std::optional<Condition> condition_of(const Compute& compute, int along) const;
  std::optional<Condition> condition_of(const Load& load, int along) const;
  std::set<int> taken_by(const Loop& loop) const;
  const Buffer& buffer(int number) const { return program_.buffer(number); }
  const Extent& extent(int axis) const { return program_.axis(axis).extent; }
  static bool has_index(const Loop& loop) { return !loop.var.splits() && loop.mark != Mark::lanes; }

  const Program& program_;
  std::vector<const Compute*> outside_;
  bool asks_outside_ = false;                                    // whether one of them takes an index
  std::unordered_map<int, Linear> linear_;                       // by value
  std::vector<int> around_;                                      // axes of the loops around that have an index
};

}  // namespace weft
