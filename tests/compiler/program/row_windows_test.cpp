// Which loads of a loop are windows of one row, and from where each is picked.
#include "program/row_windows.h"

#include <doctest/doctest.h>

using namespace weft;

namespace {

Item load(int result, const Extent& column, const Extent& row = 0, Index step = 1, bool guarded = false) { return Load{result, 0, {{0, row}, {1, column, step}}, guarded}; }

std::string text(const std::vector<Item>& body) {
  Loop lanes;
  lanes.var.axis = 1;
  lanes.body = body;
  std::string all;
  const auto result = [](const Item* item) { return std::to_string(std::get<Load>(*item).result); };
  for (const RowWindow& window : row_windows(lanes)) all += result(window.load) + "=" + result(window.first) + "+" + std::to_string(window.ahead) + " ";
  return all;
}

}  // namespace

TEST_CASE("windows of a row are picked from where the first of them begins, in whatever order they come") {
  CHECK(text({load(0, 0), load(1, 1), load(2, 4)}) == "0=0+0 1=0+1 2=0+4 ");
  CHECK(text({load(0, 4), load(1, 0), load(2, 2)}) == "1=1+0 2=1+2 0=1+4 ");
  CHECK(text({load(0, Extent("k") + 1), load(1, Extent("k"))}) == "1=1+0 0=1+1 ");
}

TEST_CASE("rows apart, and what begins more than a vector later, have firsts of their own") {
  CHECK(text({load(0, 0), load(1, 1, 1), load(2, 1), load(3, 0, 1)}) == "0=0+0 2=0+1 3=3+0 1=3+1 ");
  CHECK(text({load(0, 0), load(1, 16), load(2, 17), load(3, 20)}) == "0=0+0 1=0+16 2=2+0 3=2+3 ");
}

TEST_CASE("one load of a row, steps, guards and starts that no number parts are no windows") {
  CHECK(text({load(0, 0), load(1, 1, 1)}) == "");
  CHECK(text({load(0, 0, 0, 2), load(1, 1, 0, 2)}) == "");
  CHECK(text({load(0, 0, 0, 1, true), load(1, 1, 0, 1, true)}) == "");
  CHECK(text({load(0, 0), load(1, "k")}) == "");
  CHECK(text({Load{0, 0, {{0}, {1}}}, Load{1, 1, {{0}, {1, 1}}}}) == "");                                                 // of two arrays
  CHECK(text({Load{0, 0, {{1}, {1}}}, Load{1, 0, {{1, 1}, {1, 1}}}}) == "");                                              // along a diagonal
}
