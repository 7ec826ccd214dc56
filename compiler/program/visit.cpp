#include "visit.h"

namespace weft {
namespace {

int accesses_of(const Loop& loop, int buffer, bool written) {
  int count = 0;
  each_item(loop, [&](const Item& item, const Loop&) {
    each_access(item, [&](int of, const std::vector<Subscript>&, bool is_written) { count += of == buffer && is_written == written; });
  });
  return count;
}

}  // namespace

int reads_of(const Loop& loop, int buffer) { return accesses_of(loop, buffer, false); }
int writes_of(const Loop& loop, int buffer) { return accesses_of(loop, buffer, true); }

int uses_of(const Loop& loop, int value) {
  int count = 0;
  each_item(loop, [&](const Item& item, const Loop&) {
    each_arg(item, [&](const Arg& arg) { count += !arg.constant && arg.value == value; });
  });
  return count;
}

}  // namespace weft
