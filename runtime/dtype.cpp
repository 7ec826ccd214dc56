#include <weft/dtype.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

namespace weft {

namespace {

// Rounding twice to nearest is not rounding once. Rounding to odd first keeps the information a second rounding
// to a format at least two bits narrower needs (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || (std::bit_cast<std::uint32_t>(nearest) & 1) != 0)
    return nearest;
  const float target = value > static_cast<double>(nearest) ? std::numeric_limits<float>::infinity()
                                                            : -std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, target);
}
double round_to_odd(std::uint64_t value) {
  const int dropped = static_cast<int>(std::bit_width(value)) - 53;
  if (dropped <= 0) return static_cast<double>(value);
  const std::uint64_t sticky = (value & ((std::uint64_t{1} << dropped) - 1)) != 0 ? 1 : 0;
  return static_cast<double>(((value >> dropped) | sticky) << dropped);
}

template <class T> double round_to(double value) {
  if constexpr (is_half(dtype_of<T>())) return static_cast<double>(static_cast<float>(T(round_to_odd(value))));
  else return static_cast<double>(static_cast<T>(value));
}

template <class T> std::int64_t saturate(double value) {
  if (std::isnan(value)) return 0;
  // 2^bits is exact, the largest integer of a 64-bit type is not.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= end) return static_cast<std::int64_t>(std::numeric_limits<T>::max());
  constexpr T lowest = std::numeric_limits<T>::min();
  if (value <= static_cast<double>(lowest)) return static_cast<std::int64_t>(lowest);
  return static_cast<std::int64_t>(static_cast<T>(value));
}

struct Row {
  DType dtype;
  const char* name;
};
constexpr Row rows[] = {
#define WEFT_ROW(name, type, kind) {DType::name, #name},
    WEFT_DTYPES(WEFT_ROW)
#undef WEFT_ROW
};

DType signed_of_size(std::size_t bytes) {
  return bytes == 1 ? DType::i8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
}

}  // namespace

const char* to_text(DType dtype) {
  return dtype == DType::bool_ ? "bool" : rows[static_cast<int>(dtype)].name;
}

std::optional<DType> find_dtype(std::string_view text) {
  for (const Row& row : rows)
    if (text == to_text(row.dtype)) return row.dtype;
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << to_text(dtype); }

std::optional<DType> common_dtype(DType a, DType b) {
  if (a == b || is_boolean(b)) return a;
  if (is_boolean(a)) return b;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (is_floating(a)) {
    if (size_of(a) == size_of(b)) return DType::f32;  // f16 with bf16: neither holds the other
    return size_of(a) > size_of(b) ? a : b;
  }
  if (is_signed_integer(a) == is_signed_integer(b)) return size_of(a) > size_of(b) ? a : b;
  const DType with_sign = is_signed_integer(a) ? a : b;
  const DType without = is_signed_integer(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  if (without == DType::u64) return std::nullopt;
  return signed_of_size(2 * size_of(without));
}

DType promote(DType a, DType b) {
  const auto common = common_dtype(a, b);
  WEFT_REQUIRE(common, dtype, "no integer type holds both ", to_text(a), " and ", to_text(b), "\n  cast one of them");
  return *common;
}

Scalar Scalar::from_real(DType dtype, double value) {
  Scalar result;
  result.dtype_ = dtype;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_floating(dtype_of<T>())) result.real_ = round_to<T>(value);
    else if constexpr (std::is_same_v<T, bool>) result.integer_ = value != 0;
    else result.integer_ = saturate<T>(value);
  });
  return result;
}

Scalar Scalar::from_integer(DType dtype, std::int64_t value) {
  if (!is_floating(dtype)) return from_unsigned(dtype, static_cast<std::uint64_t>(value));
  if (dtype == DType::f64) return from_real(dtype, static_cast<double>(value));
  const std::uint64_t size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return from_real(dtype, value < 0 ? -round_to_odd(size) : round_to_odd(size));
}

Scalar Scalar::from_unsigned(DType dtype, std::uint64_t value) {
  Scalar result;
  result.dtype_ = dtype;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, double>) result.real_ = static_cast<double>(value);
    else if constexpr (is_floating(dtype_of<T>())) result.real_ = round_to<T>(round_to_odd(value));
    else if constexpr (std::is_same_v<T, bool>) result.integer_ = value != 0;
    else result.integer_ = static_cast<std::int64_t>(static_cast<T>(value));
  });
  return result;
}

Scalar Scalar::load(DType dtype, const void* from) {
  Scalar result;
  result.dtype_ = dtype;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    std::memcpy(&value, from, sizeof(T));
    if constexpr (is_half(dtype_of<T>())) result.real_ = static_cast<double>(static_cast<float>(value));
    else if constexpr (is_floating(dtype_of<T>())) result.real_ = static_cast<double>(value);
    else result.integer_ = static_cast<std::int64_t>(value);
  });
  return result;
}

void Scalar::store(void* to) const {
  visit_dtype(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    if constexpr (is_half(dtype_of<T>())) value = T(static_cast<float>(real_));  // exact by construction
    else if constexpr (is_floating(dtype_of<T>())) value = static_cast<T>(real_);
    else value = static_cast<T>(integer_);
    std::memcpy(to, &value, sizeof(T));
  });
}

Scalar Scalar::cast(DType to) const {
  if (to == dtype_) return *this;
  if (is_floating(dtype_)) return from_real(to, real_);
  return dtype_ == DType::u64 ? from_unsigned(to, unsigned_integer()) : from_integer(to, integer_);
}

double Scalar::as_double() const { return cast(DType::f64).real_; }

bool Scalar::is_zero() const { return is_floating(dtype_) ? real_ == 0 : integer_ == 0; }

bool operator==(const Scalar& a, const Scalar& b) {
  if (a.dtype_ != b.dtype_) return false;
  if (!is_floating(a.dtype_)) return a.integer_ == b.integer_;
  if (std::isnan(a.real_) || std::isnan(b.real_)) return std::isnan(a.real_) && std::isnan(b.real_);
  return std::bit_cast<std::uint64_t>(a.real_) == std::bit_cast<std::uint64_t>(b.real_);
}

namespace {

// The fewest digits that round to the same f16 or bf16; std::to_chars only knows float and double.
std::string shortest_half(const Scalar& value) {
  char buffer[64];
  for (int digits = 1;; ++digits) {
    const auto end = std::to_chars(buffer, std::end(buffer), value.real(), std::chars_format::general, digits).ptr;
    double parsed = 0;
    std::from_chars(buffer, end, parsed);
    if (digits == 17 || Scalar::of(value.dtype(), parsed) == value) return std::string(buffer, std::to_chars(buffer, std::end(buffer), parsed).ptr);
  }
}

}  // namespace

std::string to_text(const Scalar& value) {
  if (is_boolean(value.dtype())) return value.integer() != 0 ? "true" : "false";
  if (value.dtype() == DType::u64) return std::to_string(value.unsigned_integer());
  if (is_integer(value.dtype())) return std::to_string(value.integer());
  const double real = value.real();
  if (std::isnan(real)) return "nan";
  if (std::isinf(real)) return real > 0 ? "inf" : "-inf";
  if (size_of(value.dtype()) == 2) return shortest_half(value);
  char buffer[64];
  const auto end = value.dtype() == DType::f32
                       ? std::to_chars(buffer, std::end(buffer), static_cast<float>(real)).ptr
                       : std::to_chars(buffer, std::end(buffer), real).ptr;
  return std::string(buffer, end);
}

}  // namespace weft
