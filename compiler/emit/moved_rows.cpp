// Rows of a few elements that are others than those in memory, in their order (program/moved_rows.h), as whole vectors of sixteen rows. What lies equally far
// from its place all along a vector is loaded from there, with a mask; other vectors are picked from what they span in memory.
#include <algorithm>
#include <array>
#include <optional>

#include "emit_op.h"
#include "picks.h"
#include "vector_memory.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

namespace {

// Where the elements of one vector lie, after that of row 0 and element 0; none: there is none.
using Places = std::array<std::optional<Index>, lane_count>;

Places places_of(const MovedRows& rows, Index count, Index part) {
  Places places;
  for (Index lane = 0; lane < lane_count; ++lane) {
    const Index element = part * lane_count + lane, row = element / count, k = element % count;
    if (rows.has(k)) places[static_cast<std::size_t>(lane)] = rows.rows * row * rows.length + rows.column(k) - rows.start;
  }
  return places;
}

// How far all of them are from their lanes, if they are equally far.
std::optional<Index> distance_of(const Places& places) {
  std::optional<Index> all;
  for (std::size_t lane = 0; lane < places.size(); ++lane) {
    if (!places[lane]) continue;
    const Index own = *places[lane] - static_cast<Index>(lane);
    if (all && *all != own) return {};
    all = own;
  }
  return all;
}

template <class Holds> llvm::Constant* mask_where(llvm::IRBuilderBase& builder, Holds holds) {
  std::vector<llvm::Constant*> lanes;
  for (std::size_t lane = 0; lane < lane_count; ++lane) lanes.push_back(builder.getInt1(holds(lane)));
  return llvm::ConstantVector::get(lanes);
}

}  // namespace

// `first`: where element 0 of row 0 is, or would be. left: so many rows are there; or null. Elements that are not there are zero, and no byte is
// read outside of what the rows span.
std::vector<Value*> VectorMemory::load_moved_rows(DType dtype, Value* first, const MovedRows& rows, int count, Value* left) {
  llvm::Type *element = memory_type(context_, dtype, 1), *type = memory_type(context_, dtype, lane_count);
  Value *none = llvm::Constant::getNullValue(type), *end = nullptr;         // places of the rows that are there are below it; or not, if rows run backwards
  if (left) {
    end = b_.CreateMul(b_.CreateSub(left, number(rows.rows > 0 ? 0 : 1)), number(rows.rows * rows.length));
    end = b_.CreateVectorSplat(lane_count, b_.CreateTrunc(b_.CreateSub(end, number(rows.start)), b_.getInt32Ty()));
  }
  const auto load = [&](Index place, llvm::Constant* wanted) -> Value* {
    Value* at = after(element, first, place);
    if (wanted->isAllOnesValue() && !end) return b_.CreateAlignedLoad(type, at, llvm::Align(size_of(dtype)));
    Value* places = b_.CreateAdd(lane_numbers(32), constant_value(context_, Scalar::of(DType::i32, place), lane_count));
    Value* mask = end ? b_.CreateAnd(wanted, b_.CreateICmp(rows.rows > 0 ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_SGE, places, end)) : wanted;
    return load_part(type, at, dtype, mask, false);
  };
  std::vector<Value*> vectors;
  for (Index part = 0; part < count; ++part) {
    const Places places = places_of(rows, count, part);
    llvm::Constant* there = mask_where(b_, [&](std::size_t lane) { return places[lane].has_value(); });
    if (there->isNullValue()) {
      vectors.push_back(none);
    } else if (const auto distance = distance_of(places)) {
      vectors.push_back(load(*distance, there));
    } else {
      std::vector<Index> known;
      for (const auto& place : places) if (place) known.push_back(*place);
      const auto [lowest, highest] = std::minmax_element(known.begin(), known.end());
      std::vector<Picks> parts;
      for (Index start = *lowest; start <= *highest; start += lane_count) {
        Picks picks{load(start, mask_where(b_, [&](std::size_t lane) { return start + static_cast<Index>(lane) <= *highest; })), {}};
        for (const auto& place : places) picks.lanes.push_back(place && *place >= start && *place < start + lane_count ? static_cast<int>(*place - start) : -1);
        parts.push_back(std::move(picks));
      }
      vectors.push_back(b_.CreateSelect(there, gathered(b_, std::move(parts)), none));
    }
  }
  return vectors;
}

}  // namespace weft
