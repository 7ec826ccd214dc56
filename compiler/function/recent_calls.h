// The last few layouts with which a Function was called. What follows from dtypes, shapes and strides is checked and found out once: calls with other
// arrays of the same are given their addresses, in tens of nanoseconds, where a first one takes more than a microsecond.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include <weft/array.h>
#include <weft/function.h>

namespace weft {

struct CallLayout;

struct RecentCall {
  std::shared_ptr<const CallLayout> layout;     // null: there is none
  std::shared_ptr<Function::State> settled;     // that runs it; null: the Function itself
};

class RecentCalls {
 public:
  // One of arguments like these, whose results lie upon inputs as these do, or none. Throws nothing: what is wrong with arguments is found out
  // by those who make a call of them.
  RecentCall find(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const;
  RecentCall find(const std::vector<Array>& inputs) const;                             // results will be new arrays
  void add(RecentCall call);

 private:
  std::array<RecentCall, 4> recent_;
  std::size_t next_ = 0;                        // which one is forgotten next
};

// Whether each result is the input that it is upon in the layout, and apart from all other arguments.
bool lie_alike(const CallLayout& layout, const std::vector<Array>& inputs, const std::vector<Array>& outputs);

}  // namespace weft
