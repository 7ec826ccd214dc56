#include "share_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "visit.h"

namespace weft {
namespace {

// Where a row is used: items of the root's body. It may be shared if the first use writes it and all stand directly in vector loops there.
struct Life {
  std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;
  bool may_share = false;
};

bool holds_loops(const Loop& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return std::holds_alternative<Loop>(item) || std::holds_alternative<Others>(item); });
}

std::vector<Life> lives_of(Program& program) {
  std::vector<Life> lives(program.buffers.size());
  for (std::size_t k = 0; k < program.root.body.size(); ++k) {
    auto* loop = std::get_if<Loop>(&program.root.body[k]);
    const bool shares = loop && loop->mark == Mark::lanes && !holds_loops(*loop);
    const auto use = [&](int buffer, const std::vector<Subscript>&, bool writes) {
      Life& life = lives[static_cast<std::size_t>(buffer)];
      life.may_share = shares && (life.first < k ? life.may_share : writes);
      life.first = std::min(life.first, k);
      life.last = k;
    };
    if (loop) each_item(*loop, [&](const Item& item, const Loop&) { each_access(item, use); });
    else each_access(program.root.body[k], use);
  }
  for (const Fold& fold : program.folds)
    if (fold.row >= 0) lives[static_cast<std::size_t>(fold.row)].may_share = false;
  return lives;
}

bool are_alike(const Buffer& a, const Buffer& b) { return a.dtype == b.dtype && a.axes == b.axes && a.extents == b.extents; }

}  // namespace

void share_rows(Program& program) {
  if (program.root.mark != Mark::units || !program.root.var.splits()) return;
  const std::vector<Life> lives = lives_of(program);
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < lives.size(); ++k)
    if (program.buffers[k].place == Place::row && lives[k].may_share) rows.push_back(k);
  std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return std::pair(lives[a].first, a) < std::pair(lives[b].first, b); });
  std::vector<std::size_t> same(program.buffers.size());
  for (std::size_t k = 0; k < same.size(); ++k) same[k] = k;
  std::vector<std::pair<std::size_t, std::size_t>> kept;               // a row that others may join, and the last use of its memory
  for (std::size_t row : rows) {
    const auto free = std::find_if(kept.begin(), kept.end(), [&](const auto& k) { return k.second < lives[row].first && are_alike(program.buffers[k.first], program.buffers[row]); });
    if (free == kept.end()) kept.emplace_back(row, lives[row].last);
    else same[row] = free->first, free->second = lives[row].last;
  }
  if (kept.size() == rows.size()) return;
  join_buffers(program, same);
}

void join_buffers(Program& program, const std::vector<std::size_t>& same) {
  std::vector<int> number(program.buffers.size(), -1);
  std::vector<Buffer> remaining;
  for (std::size_t k = 0; k < same.size(); ++k)
    if (same[k] == k) number[k] = static_cast<int>(remaining.size()), remaining.push_back(std::move(program.buffers[k]));
  const auto rename = [&](int& buffer) { if (buffer >= 0) buffer = number[same[static_cast<std::size_t>(buffer)]]; };
  each_item(program.root, [&](Item& item, Loop&) { each_access(item, [&](int& buffer, const std::vector<Subscript>&, bool) { rename(buffer); }); });
  for (Fold& fold : program.folds) rename(fold.row), rename(fold.partial), rename(fold.target);
  program.buffers = std::move(remaining);
}

}  // namespace weft
