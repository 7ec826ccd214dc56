// What a caller can get wrong, and how weft says so.
//
// Everything a caller gets wrong throws weft::Error before any output is written. The text names what, what was
// expected, what was got, the line of graph text where there is one, and a remedy. Kernels never throw.
//
//   WEFT_REQUIRE(cond, shape, "mul: axis j has extent ", a, " but ", b);   caller's fault: throws Error of that kind
//   WEFT_ASSERT(cond, "what must hold: ", value);                          ours: throws Error of kind internal
//
// The parts are streamed with operator<<. Thread-safe; costs nothing unless it fails.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace weft {

enum class ErrorKind { usage, shape, dtype, text, unsupported, internal };

const char* to_text(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);  // what() is "<kind>: <message>"
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// The parts, streamed one after the other.
template <class... Parts> std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

[[noreturn]] void fail(ErrorKind kind, const std::string& message);
[[noreturn]] void fail_internal(const char* file, int line, const char* condition, const std::string& message);

}  // namespace weft

#define WEFT_REQUIRE(condition, error_kind, ...) \
  (static_cast<bool>(condition) ? void(0) : ::weft::fail(::weft::ErrorKind::error_kind, ::weft::concat(__VA_ARGS__)))
#define WEFT_ASSERT(condition, ...) \
  (static_cast<bool>(condition) ? void(0) : ::weft::fail_internal(__FILE__, __LINE__, #condition, ::weft::concat(__VA_ARGS__)))
