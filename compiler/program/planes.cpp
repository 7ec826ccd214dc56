#include "planes.h"

#include <algorithm>
#include <map>
#include <utility>

#include <weft/op.h>

#include "loop_choices.h"
#include "visit.h"

namespace weft {
namespace {

constexpr Index most_planes = 16;

// Of one plane: what is stored, and the load that gives it, perhaps converted.
struct Copy {
  LoopVar var;
  Load from;
  std::vector<DType> casts;
  Store to;
};

// What is known of values while the index of a loop, or of several, is.
class Planes {
 public:
  explicit Planes(const Program& program) : program_(program) {}

  // Whether the loop does nothing but copy, for each of its elements; then all the copies are in `copies`.
  bool take(const Loop& loop) {
    const Extent& extent = program_.axis(loop.var.axis).extent;
    if (loop.mark != Mark::serial || loop.var.part != Part::element || !loop.folds.empty() || !extent.is_number() || extent.constant() < 1 || extent.constant() > most_planes) return false;
    for (Index element = 0; element < extent.constant(); ++element) {
      indices_[loop.var.axis] = element;
      for (const Item& item : loop.body)
        if (!take(item)) return false;
    }
    indices_.erase(loop.var.axis);
    return copies.size() <= 2 * static_cast<std::size_t>(most_planes);
  }

  std::vector<Copy> copies;

 private:
  struct Copied {
    Load from;
    std::vector<DType> casts;
  };
  bool take(const Item& item) {
    if (const auto* load = std::get_if<Load>(&item)) return take_index(*load);
    if (const auto* compute = std::get_if<Compute>(&item)) return take_known(*compute);
    const auto* loop = std::get_if<Loop>(&item);
    return loop && (loop->mark == Mark::lanes ? take_copy(*loop) : take(*loop));
  }

  bool take_index(const Load& load) {
    if (program_.buffer(load.buffer).place != Place::index) return false;
    const auto index = indices_.find(load.at[0].axis);
    if (index == indices_.end() || !load.at[0].start.is_number() || !load.at[0].is_linear()) return false;
    known_[load.result] = {-1, Scalar::of(program_.dtype_of(load.result), load.at[0].start.constant() + load.at[0].step * index->second)};
    return true;
  }

  // What stands for an operand.
  Arg resolved(const Arg& arg) const {
    const auto found = arg.constant ? known_.end() : known_.find(arg.value);
    return found == known_.end() ? arg : found->second;
  }
  bool take_known(const Compute& compute) {
    std::vector<Arg> args;
    for (const Arg& arg : compute.args) args.push_back(resolved(arg));
    if (compute.op == Op::where && args[0].constant) {
      known_[compute.result] = args[args[0].constant->integer() != 0 ? 1 : 2];
    } else if (compute.op == Op::copy) {
      known_[compute.result] = args[0];
    } else {
      std::vector<Scalar> operands;
      for (const Arg& arg : args)
        if (arg.constant) operands.push_back(*arg.constant);
      if (operands.size() != args.size()) return false;
      known_[compute.result] = {-1, evaluate(compute.op, operands, program_.dtype_of(compute.result))};
    }
    return true;
  }

  std::vector<Subscript> fixed(std::vector<Subscript> at) const {
    for (Subscript& s : at)
      if (const auto index = indices_.find(s.axis); index != indices_.end()) s = {.start = s.start + Extent(s.step * index->second)};
    return at;
  }
  bool take_copy(const Loop& lanes) {
    if (!lanes.folds.empty() || !lanes.parts.empty()) return false;
    std::map<int, Copied> values;               // by result
    for (const Item& item : lanes.body) {
      if (const auto* load = std::get_if<Load>(&item)) {
        if (load->guarded || !is_linear(load->at)) return false;
        if (take_index(*load)) continue;
        if (program_.buffer(load->buffer).place == Place::index) return false;
        known_.erase(load->result);
        values[load->result] = {{load->result, load->buffer, fixed(load->at)}, {}};
      } else if (const auto* compute = std::get_if<Compute>(&item)) {
        const Arg operand = resolved(compute->args[0]);
        if (const auto cast = operand.constant ? values.end() : values.find(operand.value); compute->op == Op::cast && cast != values.end()) {
          known_.erase(compute->result);
          values[compute->result] = cast->second;
          values[compute->result].casts.push_back(program_.dtype_of(compute->result));
        } else if (!take_known(*compute)) {
          return false;
        }
      } else if (const auto* store = std::get_if<Store>(&item)) {
        const Arg value = resolved(store->value);
        const auto copied = value.constant ? values.end() : values.find(value.value);
        if (copied == values.end() || !is_linear(store->at)) return false;
        copies.push_back({lanes.var, copied->second.from, copied->second.casts, {store->buffer, fixed(store->at), value}});
      } else {
        return false;
      }
    }
    return true;
  }

  const Program& program_;
  std::map<int, Index> indices_;                // by axis
  std::map<int, Arg> known_;                    // by value
};

class Writer {
 public:
  Writer(Program& program, const StrideClasses& classes, const std::string& features) : program_(program), choices_(program, classes, features) {}

  void visit(Loop& parent) {
    for (std::size_t k = 0; k < parent.body.size(); ++k) {
      const auto* loop = std::get_if<Loop>(&parent.body[k]);
      Planes planes(program_);
      if (!loop || !planes.take(*loop)) continue;
      const auto makers = makers_of(parent, k, planes.copies);
      if (makers.empty()) continue;
      for (std::size_t c = 0; c < makers.size(); ++c) {
        const Copy& copy = planes.copies[c];
        auto [maker, made] = makers[c];
        if (!is_row(copy.from.buffer)) made = loaded_in(*maker, copy.from);
        for (const DType dtype : copy.casts) made = cast_in(*maker, made, dtype);
        maker->body.emplace_back(Store{copy.to.buffer, copy.to.at, made});
        copied_.push_back(copy.from.buffer);
      }
      parent.body.erase(parent.body.begin() + static_cast<std::ptrdiff_t>(k--));
    }
    for (Item& item : parent.body)
      if (auto* inner = std::get_if<Loop>(&item); inner && inner->mark != Mark::lanes) visit(*inner);
  }

  // Rows that nothing reads any more are not written.
  void drop_copied() {
    std::erase_if(copied_, [&](int row) { return reads_of(program_.root, row) > 0; });
    if (!copied_.empty()) drop_copied(program_.root);
  }

 private:
  struct Maker {
    Loop* loop;
    Arg made;                                   // there; of an array's elements, what loads them
  };
  // Of each copy, the loop that makes the row; those of given arrays go where rows are made. None if one has none.
  std::vector<Maker> makers_of(Loop& parent, std::size_t k, const std::vector<Copy>& copies) const {
    std::vector<Maker> makers;
    Loop* any = nullptr;
    for (const Copy& copy : copies) {
      if (!is_only_written(copy)) return {};
      const auto maker = is_row(copy.from.buffer) ? maker_of(parent, k, copy) : is_given(copy) ? std::optional(Maker{nullptr, {}}) : std::nullopt;
      if (!maker) return {};
      makers.push_back(*maker);
      if (maker->loop) any = maker->loop;
    }
    for (Maker& maker : makers) if (!maker.loop) maker.loop = any;
    return any ? makers : std::vector<Maker>();
  }
  bool is_row(int buffer) const { return program_.buffer(buffer).place == Place::row; }
  bool is_given(const Copy& copy) const {
    return program_.buffer(copy.from.buffer).place == Place::argument && writes_of(program_.root, copy.from.buffer) == 0 && choices_.lies_along(copy.from.buffer, copy.from.at, copy.var.axis);
  }

  Arg loaded_in(Loop& loop, const Load& load) {
    for (const Item& item : loop.body)
      if (const auto* own = std::get_if<Load>(&item); own && own->buffer == load.buffer && own->at == load.at && !own->guarded) return {own->result, {}};
    const auto result = static_cast<int>(program_.values.size());
    program_.values.push_back(program_.buffer(load.buffer).dtype);
    loop.body.emplace_back(Load{result, load.buffer, load.at});
    loop.weight += 1;
    return {result, {}};
  }
  Arg cast_in(Loop& loop, const Arg& value, DType dtype) {
    const auto result = static_cast<int>(program_.values.size());
    program_.values.push_back(dtype);
    loop.body.emplace_back(Compute{result, Op::cast, {value}, {}});
    loop.weight += op_cost(Op::cast);
    return {result, {}};
  }

  bool is_folded(int row) const {
    return std::any_of(program_.folds.begin(), program_.folds.end(), [&](const Fold& fold) { return fold.row == row; });
  }
  // An array that nothing reads, or a row that is put together there alone.
  bool is_only_written(const Copy& copy) const {
    const Place place = program_.buffer(copy.to.buffer).place;
    const bool is_own_row = place == Place::row && !is_folded(copy.to.buffer) && writes_of(program_.root, copy.to.buffer) == 1;
    const bool is_array = (place == Place::result || place == Place::temporary) && reads_of(program_.root, copy.to.buffer) == 0;
    return (is_own_row || is_array) && choices_.lies_along(copy.to.buffer, copy.to.at, copy.var.axis);
  }

  // Whether one store alone writes these elements of a row.
  bool is_made_once(const Load& load) const {
    int same = 0;
    bool others_apart = true;
    each_item(program_.root, [&](const Item& item, const Loop&) {
      each_access(item, [&](int buffer, const std::vector<Subscript>& at, bool is_written) {
        if (!is_written || buffer != load.buffer) return;
        if (at == load.at) ++same;
        else others_apart &= are_apart(at, load.at);
      });
    });
    return same == 1 && others_apart;
  }
  static bool are_apart(const std::vector<Subscript>& a, const std::vector<Subscript>& b) {
    for (std::size_t d = 0; d < a.size(); ++d)
      if (a[d].axis < 0 && b[d].axis < 0 && a[d].start.is_number() && b[d].start.is_number() && !(a[d].start == b[d].start)) return true;
    return false;
  }

  // The loop before item k of the body, along the same elements, that alone makes the row which is copied, and the value that it stores there.
  std::optional<Maker> maker_of(Loop& parent, std::size_t k, const Copy& copy) const {
    if (is_folded(copy.from.buffer) || !is_made_once(copy.from)) return {};
    for (std::size_t before = 0; before < k; ++before) {
      auto* loop = std::get_if<Loop>(&parent.body[before]);
      if (!loop || loop->mark != Mark::lanes || !(loop->var == copy.var) || !loop->parts.empty()) continue;
      for (const Item& item : loop->body)
        if (const auto* store = std::get_if<Store>(&item); store && store->buffer == copy.from.buffer && store->at == copy.from.at) return Maker{loop, store->value};
    }
    return {};
  }

  void drop_copied(Loop& loop) const {
    std::erase_if(loop.body, [&](const Item& item) {
      const auto* store = std::get_if<Store>(&item);
      return store && std::find(copied_.begin(), copied_.end(), store->buffer) != copied_.end();
    });
    for (Item& item : loop.body)
      if (auto* inner = std::get_if<Loop>(&item)) drop_copied(*inner);
  }

  Program& program_;
  const LoopChoices choices_;
  std::vector<int> copied_;                     // rows
};

}  // namespace

void write_planes(Program& program, const StrideClasses& classes, const std::string& features) {
  Writer writer(program, classes, features);
  writer.visit(program.root);
  writer.drop_copied();
}

}  // namespace weft
