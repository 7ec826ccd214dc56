// The element types, one row each.
//
// DType names a type at run time; dtype_of<T>() maps a C++ type to it; visit_dtype calls a generic function with the
// C++ type of a DType. weft::f32 and friends are the names users type. f16 and bf16 are Eigen's types on the host.
// A Scalar is one value with its dtype: constants, and the values of the reference interpreter.
//
// Thread-safe (pure values). Source of the promotion rules: Array API type promotion within a kind, with the choices
// for mixed kinds: integer or bool with float gives the float operand's type; f16 with bf16 gives f32; u64 with a
// signed type is an error.
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <weft/error.h>

namespace weft {

// WEFT_DTYPES(X): X(name, C++ type, kind)
#define WEFT_DTYPES(X)                          \
  X(bool_, bool, boolean)                       \
  X(i8, std::int8_t, signed_integer)            \
  X(i16, std::int16_t, signed_integer)          \
  X(i32, std::int32_t, signed_integer)          \
  X(i64, std::int64_t, signed_integer)          \
  X(u8, std::uint8_t, unsigned_integer)         \
  X(u16, std::uint16_t, unsigned_integer)       \
  X(u32, std::uint32_t, unsigned_integer)       \
  X(u64, std::uint64_t, unsigned_integer)       \
  X(f16, Eigen::half, floating)                 \
  X(bf16, Eigen::bfloat16, floating)            \
  X(f32, float, floating)                       \
  X(f64, double, floating)

enum class DTypeKind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

enum class DType : std::uint8_t {
#define WEFT_ROW(name, type, kind) name,
  WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW
};

#define WEFT_ROW(name, type, kind) inline constexpr DType name = DType::name;
WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW

template <class T> struct TypeTag { using type = T; };

// Calls f(TypeTag<T>{}) with the C++ type of `dtype`.
template <class F> decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
#define WEFT_ROW(name, type, kind) case DType::name: return f(TypeTag<type>{});
    WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW
  }
  fail(ErrorKind::internal, "unknown dtype");
}

template <class T> constexpr DType dtype_of() {
#define WEFT_ROW(name, ctype, kind) if constexpr (std::is_same_v<T, ctype>) return DType::name; else
  WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8) return DType::i64;  // long long
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return DType::u64;
  else static_assert(sizeof(T) == 0, "weft has no dtype for this C++ type");
}

constexpr DTypeKind kind_of(DType dtype) {
  constexpr DTypeKind kinds[] = {
#define WEFT_ROW(name, type, kind) DTypeKind::kind,
      WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW
  };
  return kinds[static_cast<int>(dtype)];
}
constexpr std::size_t size_of(DType dtype) {
  constexpr std::size_t sizes[] = {
#define WEFT_ROW(name, type, kind) sizeof(type),
      WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW
  };
  return sizes[static_cast<int>(dtype)];
}
constexpr std::int64_t item_bytes(DType dtype) { return static_cast<std::int64_t>(size_of(dtype)); }      // size_of among numbers of elements
constexpr bool is_floating(DType dtype) { return kind_of(dtype) == DTypeKind::floating; }
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
constexpr bool is_boolean(DType dtype) { return kind_of(dtype) == DTypeKind::boolean; }
constexpr bool is_signed_integer(DType dtype) { return kind_of(dtype) == DTypeKind::signed_integer; }
constexpr bool is_unsigned_integer(DType dtype) { return kind_of(dtype) == DTypeKind::unsigned_integer; }
constexpr bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }

const char* to_text(DType dtype);                  // "f32", "bool"
std::optional<DType> find_dtype(std::string_view text);
std::ostream& operator<<(std::ostream& out, DType dtype);

// The dtype that two operands share; none for u64 beside a signed integer.
std::optional<DType> common_dtype(DType a, DType b);
DType promote(DType a, DType b);                   // the same; throws Error(dtype) where there is none
// Whether promotion makes a `narrow` beside a `wide` a `wide`.
inline bool holds(DType wide, DType narrow) { return common_dtype(wide, narrow) == wide; }

// One value. Integers and bool live in `integer` (u64 as its bit pattern), floats in `real`.
// f16, bf16 and f32 values are exactly representable in their dtype (every constructor rounds).
class Scalar {
 public:
  Scalar() = default;
  template <class T> requires std::is_arithmetic_v<T> explicit Scalar(T value) : Scalar(of(dtype_of<T>(), value)) {}
  explicit Scalar(Eigen::half value) : Scalar(of(DType::f16, static_cast<float>(value))) {}
  explicit Scalar(Eigen::bfloat16 value) : Scalar(of(DType::bf16, static_cast<float>(value))) {}
  // `value` converted to `dtype` by the cast rules: floats round to nearest even; float to integer saturates with
  // NaN to 0; integer to integer wraps; anything to bool is "differs from zero".
  template <class T> static Scalar of(DType dtype, T value) {
    if constexpr (std::is_floating_point_v<T>) return from_real(dtype, static_cast<double>(value));
    else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) return from_unsigned(dtype, value);
    else return from_integer(dtype, static_cast<std::int64_t>(value));
  }
  static Scalar load(DType dtype, const void* from);
  void store(void* to) const;
  Scalar cast(DType to) const;

  DType dtype() const { return dtype_; }
  std::int64_t integer() const { return integer_; }                                      // valid unless floating
  std::uint64_t unsigned_integer() const { return static_cast<std::uint64_t>(integer_); }
  double real() const { return real_; }                                                  // valid if floating
  double as_double() const;                                                              // any dtype, rounded
  bool is_zero() const;                                                                  // -0.0 is zero
  // The same dtype and the same bits (NaNs compare equal to each other).
  friend bool operator==(const Scalar& a, const Scalar& b);

 private:
  static Scalar from_real(DType dtype, double value);
  static Scalar from_integer(DType dtype, std::int64_t value);
  static Scalar from_unsigned(DType dtype, std::uint64_t value);
  DType dtype_ = DType::f64;
  std::int64_t integer_ = 0;
  double real_ = 0;
};
// Shortest text that reads back to the same value: 2, -0.5, inf, nan, true.
std::string to_text(const Scalar& value);

}  // namespace weft
