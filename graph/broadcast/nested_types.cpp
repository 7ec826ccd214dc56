// Types, and which of them go together. Levels are compared from the outermost on: where one operand has no more levels,
// its scalars are paired with the elements of the other, which is what recursion into the elements comes to.
#include <algorithm>
#include <ostream>

#include "text/text_reader.h"
#include "align.h"
#include "nested.h"

namespace weft::tml {
namespace {

// The roots and their order: of two in the same chain the one with the larger place is the larger. One table for both.
struct RootRow {
  DType dtype;
  std::string_view name;
  int place;                                  // 0: comparable with itself only
};
constexpr RootRow roots[] = {{bool_, "bool", 0}, {u8, "char", 0}, {u64, "uint", 1}, {i64, "int", 2}, {f64, "real", 3}};

const RootRow* find_root(DType dtype) {
  const auto* row = std::find_if(std::begin(roots), std::end(roots), [&](const RootRow& r) { return r.dtype == dtype; });
  return row == std::end(roots) ? nullptr : row;
}
int place_of(DType root) { return find_root(root)->place; }
std::string_view name_of(DType root) { return find_root(root)->name; }

bool is_ordered(DType smaller, DType larger) { return smaller == larger || (place_of(smaller) > 0 && place_of(smaller) <= place_of(larger)); }

// The dimensions of one level, missing ones on the left counted as 1.
Extent padded(const Shape& dims, std::size_t rank, std::size_t k) { return k < rank - dims.size() ? Extent(1) : dims[k - (rank - dims.size())]; }

Shape join_dims(std::string_view what, const Side& a, const Side& b, std::size_t level) {
  const Shape &da = a.type.nest()[level], &db = b.type.nest()[level];
  const std::size_t rank = std::max(da.size(), db.size());
  const std::string where = level_text(level, a.type, b.type);
  Shape dims;
  for (std::size_t k = 0; k < rank; ++k) {
    const Extent ea = padded(da, rank, k), eb = padded(db, rank, k);
    WEFT_REQUIRE(ea == eb || ea.is(1) || eb.is(1), shape, what, ": dimension ", k - (rank - da.size()), where, " of ", show(a), " has length ", ea,
                 " but dimension ", k - (rank - db.size()), where, " of ", show(b), " has ", eb, "\n  ",
                 mismatch_remedy(ea, eb, "lengths must be equal, or one of them 1"));
    dims.push_back(ea.is(1) ? eb : ea);
  }
  return dims;
}

// Why rhs may not be assigned to lhs, and what to do.
struct Refusal {
  ErrorKind kind;
  std::string reason, remedy;
};

std::optional<Refusal> refuse_level(const Type& lhs, const Type& rhs, std::size_t level) {
  const Shape &dl = lhs.nest()[level], &dr = rhs.nest()[level];
  const std::string where = level_text(level, lhs, rhs);
  if (dr.size() > dl.size())
    return Refusal{ErrorKind::shape, concat("it has ", dr.size(), " dimensions", where, ", more than ", dl.size()), "narrow or index it first"};
  for (std::size_t k = 0; k < dr.size(); ++k) {
    const Extent &el = dl[k + dl.size() - dr.size()], &er = dr[k];
    if (er == el || er.is(1)) continue;
    return Refusal{ErrorKind::shape, concat("dimension ", k, where, " has length ", er, ", expected ", el, el.is(1) ? "" : " or 1"),
                   mismatch_remedy(el, er, "the left side never grows, and only a length of 1 is repeated")};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_assignment(const Type& lhs, const Type& rhs, Mixed mixed) {
  if (!is_ordered(rhs.root(), lhs.root()))
    return Refusal{ErrorKind::dtype, concat(name_of(rhs.root()), " does not become ", name_of(lhs.root())),
                   "uint becomes int and int becomes real without a cast, nothing else"};
  if (rhs.is_scalar()) return std::nullopt;
  if (lhs.is_scalar()) return Refusal{ErrorKind::shape, "a tensor does not go into a scalar", "index it, or narrow it if all its lengths are 1"};
  if (rhs.nest().size() > lhs.nest().size())
    return Refusal{ErrorKind::shape, concat("it has ", rhs.nest().size(), " levels, more than ", lhs.nest().size()), "index it down to its elements"};
  if (mixed == Mixed::reject && rhs.nest().size() < lhs.nest().size())
    return Refusal{ErrorKind::shape, concat("it has ", rhs.nest().size(), " levels, not ", lhs.nest().size()), "give both the same nesting"};
  for (std::size_t level = 0; level < rhs.nest().size(); ++level)
    if (auto refusal = refuse_level(lhs, rhs, level)) return refusal;
  return std::nullopt;
}

DType read_root(TextReader& reader, std::size_t begin, std::string_view word) {
  for (const RootRow& row : roots)
    if (row.name == word) return row.dtype;
  reader.fail_at(begin, word.size(), concat("expected bool, char, uint, int, real or tensor<..>, got \"", word, "\""));
}

}  // namespace

Type::Type(DType root, const Nesting& nesting) : root_(root), nest_(nesting.levels()) {
  WEFT_REQUIRE(find_root(root), dtype, "type: ", root, " is not the dtype of a root\n  roots are bool, char (u8), uint (u64), int (i64) and real (f64): cast to one of them");
  for (std::size_t level = 0; level < nest_.size(); ++level) {
    WEFT_REQUIRE(!nest_[level].empty(), shape, "type: level ", level, " has no dimensions\n  leave it out: a scalar has no levels");
    for (const Extent& length : nest_[level])
      WEFT_REQUIRE(!length.is_number() || length.constant() >= 1, shape, "type: level ", level, " of ", weft::to_text(nest_[level]), " has length ", length,
                   "\n  lengths are 1 or more");
  }
}

Shape Type::shape() const {
  Shape all;
  for (const Shape& dims : nest_) all.insert(all.end(), dims.begin(), dims.end());
  return all;
}

std::string to_text(const Type& type) {
  std::string text;
  for (std::size_t level = 0; level < type.nest().size(); ++level) text += "tensor<";
  text += name_of(type.root());
  for (auto dims = type.nest().rbegin(); dims != type.nest().rend(); ++dims) {
    for (const Extent& length : *dims) text += concat(", ", length);
    text += ">";
  }
  return text;
}
std::ostream& operator<<(std::ostream& out, const Type& type) { return out << to_text(type); }

Type type(std::string_view text) {
  TextReader reader(text);
  std::vector<Shape> levels;
  std::size_t begin = 0;
  auto next_word = [&] {
    reader.skip_space();
    begin = reader.at();
    return reader.expect_word("a type such as tensor<int, 3>");
  };
  std::string_view word = next_word();
  for (; word == "tensor"; word = next_word()) {
    reader.expect("<");
    levels.emplace_back();
  }
  const DType root = read_root(reader, begin, word);
  for (auto dims = levels.rbegin(); dims != levels.rend(); ++dims) {
    do {
      reader.expect(",");
      dims->push_back(reader.extent());
    } while (reader.peek(","));
    reader.expect(">");
  }
  if (!reader.at_end()) reader.fail_here("expected the end of the type");
  return Type(root, Nesting(std::move(levels)));
}

std::string show(const Side& side) { return side.name.empty() ? to_text(side.type) : concat(side.name, " (", side.type, ")"); }

bool is_numeric(DType root) { return place_of(root) > 0; }
DType larger_root(DType a, DType b) { return place_of(a) < place_of(b) ? b : a; }

std::string level_text(std::size_t level, const Type& a, const Type& b) {
  return a.nest().size() > 1 || b.nest().size() > 1 ? concat(" of level ", level) : "";
}

Type join_nesting(std::string_view what, const Side& a, const Side& b, DType root, Mixed mixed) {
  const std::size_t na = a.type.nest().size(), nb = b.type.nest().size();
  WEFT_REQUIRE(mixed == Mixed::recurse || na == nb || na == 0 || nb == 0, shape, what, ": ", show(a), " has ", na, " levels but ", show(b), " has ", nb,
               "\n  give both the same nesting");
  std::vector<Shape> levels;
  for (std::size_t level = 0; level < std::max(na, nb); ++level)
    levels.push_back(level >= na ? b.type.nest()[level] : level >= nb ? a.type.nest()[level] : join_dims(what, a, b, level));
  return Type(root, Nesting(std::move(levels)));
}

Type same_nesting(std::string_view what, const Side& a, const Side& b, DType root) {
  WEFT_REQUIRE(a.type.is_scalar() || b.type.is_scalar() || a.type.nest() == b.type.nest(), shape, what, ": ", show(a), " and ", show(b),
               " differ in nesting or dimensions\n  only a scalar is repeated here: assign or narrow one of them to the type of the other");
  return Type(root, Nesting(a.type.is_scalar() ? b.type.nest() : a.type.nest()));
}

void check_assignable(std::string_view what, const Side& lhs, const Side& rhs, Mixed mixed) {
  if (const auto refusal = refuse_assignment(lhs.type, rhs.type, mixed))
    fail(refusal->kind, concat(what, ": ", show(rhs), " cannot be assigned to ", show(lhs), ": ", refusal->reason, "\n  ", refusal->remedy));
}

bool assignable(const Type& lhs, const Type& rhs, Mixed mixed) { return !refuse_assignment(lhs, rhs, mixed).has_value(); }

AxisMap map_onto(const Type& from, const Type& to, int offset) {
  AxisMap map;
  std::size_t axis = static_cast<std::size_t>(offset);          // the first one of the level
  for (std::size_t level = 0; level < from.nest().size(); ++level) {
    const Shape &df = from.nest()[level], &dt = to.nest()[level];
    const std::size_t shift = dt.size() - df.size();
    for (std::size_t k = 0; k < df.size(); ++k) {
      map.emplace_back();
      if (!df[k].is(1) || dt[k + shift].is(1)) map.back().axis = static_cast<int>(axis + k + shift);
    }
    axis += dt.size();
  }
  return map;
}

}  // namespace weft::tml
