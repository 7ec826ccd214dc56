#include "narrow_folds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "visit.h"

namespace weft {
namespace {

constexpr auto none = std::numeric_limits<std::int64_t>::max();
constexpr auto narrow_none = static_cast<std::int32_t>(most_in_32_bits);          // no index is: it is less than an extent

template <class T> T* made_by(Loop& loop, const Arg& arg) {
  for (Item& item : loop.body)
    if (auto* maker = std::get_if<T>(&item); maker && !arg.constant && maker->result == arg.value) return maker;
  return nullptr;
}

class Narrowing {
 public:
  Narrowing(Program& program, ReliedFacts& relied) : program_(program), relied_(relied) {}

  void run() {
    for (std::size_t f = 0; f < program_.folds.size(); ++f) {
      const Fold& fold = program_.folds[f];
      if (fold.start || (fold.dtype != DType::i64 && fold.dtype != DType::u64) || (fold.row >= 0 && !is_of_fold_alone(fold.row))) continue;
      if (fold.accumulator == AccumulatorId::min && fold.dtype == DType::i64) narrow_index(static_cast<int>(f));
      if (fold.accumulator == AccumulatorId::sum) narrow_count(static_cast<int>(f));
    }
  }

 private:
  // The index that a fold takes where a condition holds, and nothing elsewhere.
  struct Term {
    Loop *loop = nullptr, *index_loop = nullptr;
    Accumulate* accumulate = nullptr;
    Compute* where = nullptr;
    Load* index = nullptr;
  };

  int new_value(DType dtype) {
    program_.values.push_back(dtype);
    return static_cast<int>(program_.values.size()) - 1;
  }
  bool is_of_fold_alone(int row) {
    const bool is_stored = writes_of(program_.root, row) > 0;
    return !is_stored && std::count_if(program_.folds.begin(), program_.folds.end(), [&](const Fold& fold) { return fold.row == row; }) == 1;
  }
  // 0 .. extent - 1, and no call has more than fit.
  bool fits(const Load& load) const {
    const Buffer& buffer = program_.buffer(load.buffer);
    if (buffer.place != Place::index || buffer.dtype != DType::i64 || load.at[0].axis < 0) return false;
    const Subscript& at = load.at[0];
    return at.start.is(0) && at.step == 1 && at.is_linear() && program_.axis(at.axis).known.most <= narrow_none;
  }
  // Conditions of elements of 64 bits have as many lanes as indices of 64: narrower ones would take a conversion for each.
  bool asks_wide(const Loop& loop) const {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
      auto* load = std::get_if<Load>(&item);
      return load && program_.buffer(load->buffer).place != Place::index && size_of(program_.buffer(load->buffer).dtype) > size_of(DType::i32);
    });
  }
  // The only place where something is added to the fold; none if it is not worth it.
  Term addition_to(int fold) {
    Term term;
    int terms = 0;
    each_loop(program_.root, [&](Loop& loop) {
      for (Item& item : loop.body)
        if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && accumulate->fold == fold) term.loop = &loop, term.accumulate = accumulate, ++terms;
    });
    return terms == 1 && !term.accumulate->factor && !asks_wide(*term.loop) ? term : Term{};
  }
  Term index_of(int fold) {
    Term term = addition_to(fold);
    if (!term.accumulate) return {};
    term.where = made_by<Compute>(*term.loop, term.accumulate->value);
    if (!term.where || term.where->op != Op::where || !term.where->args[2].constant || !(*term.where->args[2].constant == Scalar::of(DType::i64, none))) return {};
    each_loop(program_.root, [&](Loop& loop) {
      if (auto* load = made_by<Load>(loop, term.where->args[1])) term.index = load, term.index_loop = &loop;
    });
    return term.index && fits(*term.index) && is_read_once(term.where->result) ? term : Term{};
  }

  int narrow_buffer(int wide) {
    const auto found = narrow_buffers_.find(wide);
    if (found != narrow_buffers_.end()) return found->second;
    Buffer buffer = program_.buffer(wide);
    buffer.dtype = DType::i32;
    program_.buffers.push_back(std::move(buffer));
    return narrow_buffers_[wide] = static_cast<int>(program_.buffers.size()) - 1;
  }
  bool is_read_once(int value) const { return uses_of(program_.root, value) == 1; }

  void narrow_index(int number) {
    const Term term = index_of(number);
    if (!term.accumulate) return;
    relied_.at_most(program_.axis(term.index->at[0].axis).extent, narrow_none);
    const Load wide = *term.index;
    const Load index{new_value(DType::i32), narrow_buffer(wide.buffer), wide.at, false};
    const bool replaces = is_read_once(wide.result);
    *term.where = Compute{new_value(DType::i32), Op::where, {term.where->args[0], {index.result, {}}, {-1, Scalar::of(DType::i32, narrow_none)}}, {}};
    term.accumulate->value.value = term.where->result;
    if (replaces) *term.index = index;
    else {
      auto& body = term.index_loop->body;
      const auto at = std::find_if(body.begin(), body.end(), [&](const Item& item) { return std::holds_alternative<Load>(item) && std::get<Load>(item).result == wide.result; });
      body.insert(at + 1, index);
    }
    make_narrow(number);
  }

  // The sum of a condition, or of casts of one, along an axis of no more elements than fit.
  void narrow_count(int number) {
    const Term term = addition_to(number);
    const NestAxis& axis = program_.axis(program_.fold(number).axis);
    if (!term.accumulate || term.accumulate->value.constant || axis.known.most > narrow_none) return;
    Arg counted = term.accumulate->value;
    while (!is_boolean(program_.dtype_of(counted))) {
      const auto* cast = counted.constant ? nullptr : made_by<Compute>(*term.loop, counted);
      if (!cast || cast->op != Op::cast || is_floating(program_.dtype_of(cast->args[0]))) return;
      counted = cast->args[0];
    }
    relied_.at_most(axis.extent, narrow_none);
    const Compute narrow{new_value(DType::i32), Op::cast, {counted}, {}};
    auto* last = made_by<Compute>(*term.loop, term.accumulate->value);
    const bool replaces = is_read_once(last->result);
    term.accumulate->value.value = narrow.result;
    if (replaces) *last = narrow;
    else {
      auto& body = term.loop->body;
      const auto at = std::find_if(body.begin(), body.end(), [&](const Item& item) { return std::holds_alternative<Accumulate>(item) && std::get<Accumulate>(item).fold == number; });
      body.insert(at, narrow);
    }
    make_narrow(number);
  }

  void make_narrow(int number) {
    Fold& fold = program_.folds[static_cast<std::size_t>(number)];
    fold.dtype = DType::i32;
    if (fold.row >= 0) program_.buffers[static_cast<std::size_t>(fold.row)].dtype = DType::i32;
    widen_results(program_.root, number);
  }

  // What reads the fold, at its end or from its row, goes on with 64 bits.
  void widen_results(Loop& loop, int number) {
    Fold& fold = program_.folds[static_cast<std::size_t>(number)];
    for (std::size_t k = 0; k < loop.body.size(); ++k) {
      int wide = -1, narrow = -1;
      if (auto* inner = std::get_if<Loop>(&loop.body[k])) {
        widen_results(*inner, number);
        const bool ends = std::find(inner->folds.begin(), inner->folds.end(), number) != inner->folds.end();
        if (ends && fold.result >= 0) wide = std::exchange(fold.result, narrow = new_value(DType::i32));
      } else if (auto* load = std::get_if<Load>(&loop.body[k]); load && fold.row >= 0 && load->buffer == fold.row) {
        wide = std::exchange(load->result, narrow = new_value(DType::i32));
      }
      if (wide < 0) continue;
      const std::vector<Item> widening = widened(fold, narrow, wide);
      loop.body.insert(loop.body.begin() + static_cast<std::ptrdiff_t>(k) + 1, widening.begin(), widening.end());
      loop.weight += static_cast<int>(widening.size());
    }
  }
  std::vector<Item> widened(const Fold& fold, int narrow, int wide) {
    if (fold.accumulator == AccumulatorId::sum) return {Compute{wide, Op::cast, {{narrow, {}}}, {}}};
    const int found = new_value(bool_), index = new_value(DType::i64);
    return {Compute{found, Op::not_equal, {{narrow, {}}, {-1, Scalar::of(DType::i32, narrow_none)}}, {}}, Compute{index, Op::cast, {{narrow, {}}}, {}},
            Compute{wide, Op::where, {{found, {}}, {index, {}}, {-1, Scalar::of(DType::i64, none)}}, {}}};
  }

  Program& program_;
  ReliedFacts& relied_;
  std::map<int, int> narrow_buffers_;
};

}  // namespace

void narrow_folds(Program& program, ReliedFacts& relied) { Narrowing(program, relied).run(); }

}  // namespace weft
