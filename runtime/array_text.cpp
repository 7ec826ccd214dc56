// Arrays as text, for people: what NumPy shows of an array, behind its dtype and shape.
#include <algorithm>
#include <ostream>

#include <weft/array.h>

namespace weft {
namespace {

constexpr Index most_elements = 1000, edge = 3;              // of longer arrays: so many at either end of each axis

class Writer {
 public:
  explicit Writer(const View& view) : view_(view), shortened_(view.size() > most_elements), index_(view.shape().size()) {}

  void write(std::string& text, std::size_t axis = 0) {
    if (axis == index_.size()) {
      text += to_text(view_.get(index_));
      return;
    }
    text += '[';
    const Index extent = view_.shape()[axis];
    const bool skips = shortened_ && extent > 2 * edge;
    for (Index k = 0; k < extent; ++k) {
      if (k > 0) text += between(axis);
      if (skips && k == edge) text += "..", text += between(axis), k = extent - edge;
      index_[axis] = k;
      write(text, axis + 1);
    }
    text += ']';
  }

 private:
  // Rows stand under each other, matrices a line apart.
  std::string between(std::size_t axis) const {
    const std::size_t within = index_.size() - axis - 1;     // axes of what is separated
    return within == 0 ? ", " : "," + std::string(within, '\n') + std::string(axis + 1, ' ');
  }
  const View& view_;
  const bool shortened_;
  Dims index_;
};

}  // namespace

std::string to_text(const View& view) {
  std::string text = to_text(view.dtype()) + to_text(view.shape());
  if (view.size() == 0) return text + " []";
  text += view.rank() < 2 ? ' ' : '\n';
  Writer(view).write(text);
  return text;
}

std::ostream& operator<<(std::ostream& out, const View& view) { return out << to_text(view); }

}  // namespace weft
