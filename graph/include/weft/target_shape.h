// The OpenVINO Broadcast-3 rules: one array and the shape that it is to have.
//
//   broadcast(x, {1, 16, 50, 50})                                            // x of shape [16, 1, 1]
//   broadcast(c, {1, 16, 50, 50}, BroadcastMode::explicit_axes, {1})         // c of shape [16] along axis 1
//   broadcast(x, {1, 1, 50, 50}, BroadcastMode::bidirectional)               // [1, 16, 50, 50]
//   broadcast(x, y, broadcast_mode("numpy"))                                 // y: an i64[2], constant or input
//
// numpy          axes are aligned at the last ones; each extent of the data equals the target's or is 1; the target is the
//                shape of the result
// explicit_axes  axis k of the data follows axis axes_mapping[k] of the target, strictly increasing; the rest as above
// bidirectional  as x * ones(target) by the Array API rule: either extent may be 1, the data may have the higher rank
//
// A target holds numbers and symbols; a symbol equals itself only. A target given as an Expr has rank 1, an integer dtype
// and a length that is a number. If it depends on no input, its values are the target. If it is an input %s, the target is
// [s[0], s[1], ..]: symbols that each call (or Function::bind) binds to the values of the array, which are read on the host
// before anything runs. Whether an axis repeats is then decided, and the rule checked, at the call (weft/settle.h).
// Errors: usage (mode and axes_mapping that do not go together, an unknown mode), dtype, shape, unsupported.
// Thread-safety: building a graph is single-threaded; functions on shapes are pure. Cost: O(rank); the broadcast is part of
// the node's map and costs nothing.
// Source: OpenVINO, "Broadcast-3"; tests/README.md, requirements 109 to 131 (readings O1 to O5). PDPD: OpenVINO's broadcast rules for
// elementwise operations.
#pragma once
#include <string_view>
#include <vector>

#include <weft/graph.h>
#include <weft/partial_shape.h>

namespace weft {

enum class BroadcastMode : std::uint8_t { numpy, explicit_axes, bidirectional };
BroadcastMode broadcast_mode(std::string_view text);                     // "numpy", "explicit", "bidirectional"
std::string_view to_text(BroadcastMode mode);
std::ostream& operator<<(std::ostream& out, BroadcastMode mode);

Expr broadcast(const Expr& data, const Shape& target, BroadcastMode mode = BroadcastMode::numpy);
Expr broadcast(const Expr& data, const Shape& target, BroadcastMode mode, const std::vector<Index>& axes_mapping);
Expr broadcast(const Expr& data, const Expr& target, BroadcastMode mode = BroadcastMode::numpy);
Expr broadcast(const Expr& data, const Expr& target, BroadcastMode mode, const std::vector<Index>& axes_mapping);
Expr broadcast(const Expr& data, const Expr& target, BroadcastMode mode, const Expr& axes_mapping);   // known when building

// The shape of the result for sizes that are known in part; nothing where even its rank is unknown. Without axes_mapping in
// mode explicit_axes the data is not compared.
std::optional<PartialShape> infer_broadcast(const std::optional<PartialShape>& data, const std::optional<PartialShape>& target, BroadcastMode mode,
                                            const std::optional<std::vector<Index>>& axes_mapping = {});

// PDPD: b follows the axes of a from `axis` on (-1: the last ones); its trailing extents of 1 are dropped; its extents equal
// those of a or are 1. The result has the shape of a.
Shape broadcast_shapes_pdpd(const Shape& a, const Shape& b, Index axis = -1);
Expr elementwise_pdpd(Op op, const Expr& a, const Expr& b, Index axis = -1);       // a binary op; dtypes are promoted
Expr broadcast_pdpd(const Expr& data, const Shape& target, Index axis = -1);

}  // namespace weft
