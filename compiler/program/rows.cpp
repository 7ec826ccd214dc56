#include "rows.h"

#include <utility>

#include "schedule/machine.h"

namespace weft {

int add_row(Program& program, int of, std::vector<int> axes, Shape extents) {
  Buffer row;
  row.place = Place::row;
  row.node = program.buffer(of).node;
  row.dtype = program.buffer(of).dtype;
  row.axes = std::move(axes);
  row.extents = std::move(extents);
  program.buffers.push_back(std::move(row));
  return static_cast<int>(program.buffers.size()) - 1;
}

Shape apart_by_a_line(Shape extents, DType dtype) {
  extents.back() = extents.back() + Extent(line_bytes / item_bytes(dtype));
  return extents;
}

Loop copying(Program& program, int from, const std::vector<Subscript>& from_at, int to, const std::vector<Subscript>& to_at, const std::vector<LoopVar>& loops) {
  const int value = static_cast<int>(program.values.size());
  program.values.push_back(program.buffer(from).dtype);
  Loop loop;
  loop.mark = Mark::lanes;
  loop.var = loops.back();
  loop.weight = 2;
  loop.body.emplace_back(Load{value, from, from_at});
  loop.body.emplace_back(Store{to, to_at, {value, {}}});
  for (std::size_t k = loops.size() - 1; k-- > 0;) {
    Loop outer;
    outer.var = loops[k];
    outer.body.emplace_back(std::move(loop));
    loop = std::move(outer);
  }
  return loop;
}

}  // namespace weft
