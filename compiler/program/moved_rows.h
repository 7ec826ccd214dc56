// Rows of a few elements, each of which is one of a row in memory or none, where these follow each other without a gap: of concat({x, y}, 1), roll(x, 1, 1),
// flip(x, 0), x[:, 1:] or repeat(x, 2, 1), if x has three columns. Element k is element start + step * (k mod period) of its row.
#pragma once
#include <weft/shape.h>

namespace weft {

struct MovedRows {
  Index length;                         // of a row in memory
  Index start, step, period;            // period 0: k
  Index rows;                           // from one row to the next: 1 or -1
  Index column(Index k) const { return start + step * (period > 0 ? k % period : k); }
  bool has(Index k) const { return column(k) >= 0 && column(k) < length; }
  bool is_whole(Index count) const { return rows == 1 && period == 0 && step == 1 && start == 0 && length == count; }        // nothing moves
};

}  // namespace weft
