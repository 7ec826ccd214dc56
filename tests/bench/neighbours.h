// Neighbours of the table: each of its computations with other extents, another dtype, other layouts, along another axis. They should
// take the time per byte, or per operation, that their sibling takes, whose extents are powers of two and whose arrays are C contiguous.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/weft.h>

namespace bench {

using Extents = std::vector<std::pair<char, weft::Index>>;  // by letter, the outermost axis first

struct Source {                       // an input
  std::string axes;                   // a letter for each axis: "nd"; "" is a scalar
  double low = -2, high = 2;          // its values
  weft::DType dtype = weft::f32;      // f32 stands for the dtype of the family's floats
};

struct Family {
  std::string name;
  Extents extents;
  std::vector<Source> inputs;
  std::function<std::vector<weft::Expr>(const std::vector<weft::Expr>&, int axis)> graph;
  int axis = 1;                       // what the graph folds, or where its vectors lie
  std::vector<Source> other = {};     // inputs that fit other_axis; none: there is no such neighbour
  int other_axis = 0;
  std::string fixed = {};             // letters whose extents are numbers in the graph, others are symbols
};
std::vector<Family> families();

enum class Layout { c, inputs_f, all_f, first_f, first_strided };

// One member of a family: the sibling or a neighbour.
struct Setup {
  Extents extents;
  std::vector<Source> inputs;
  std::string fixed;
  int axis = 1;
  weft::DType floats = weft::f32;
  Layout layout = Layout::c;
};

struct Variation {
  std::string name;
  std::function<bool(const Family&)> applies;
  std::function<void(const Family&, Setup&)> change;
  bool large = false;                 // beside a sibling that leaves the caches
};
const std::vector<Variation>& variations();

Setup sibling(const Family& family);  // as the table has it, but in the third level of cache
Setup large_sibling(const Family& family);
Setup small_sibling(const Family& family);  // for the interpreter; fixed extents stay

weft::Function compile(const Family& family, const Setup& setup, const weft::Options& options);
struct Arrays {
  std::vector<weft::Array> inputs, outputs;
};
Arrays arrays(const weft::Function& function, const Setup& setup);
weft::Bindings bindings(const Setup& setup);

// Measures and prints; 1 if a result is wrong.
int neighbours(std::string_view filter, bool csv, const weft::Options& options);

}  // namespace bench
