#include <weft/error.h>

#include <cstring>

namespace weft {

const char* to_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::shape: return "shape";
    case ErrorKind::dtype: return "dtype";
    case ErrorKind::text: return "text";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::internal: return "internal";
  }
  return "?";
}

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(std::string(to_text(kind)) + ": " + message), kind_(kind) {}

void fail(ErrorKind kind, const std::string& message) { throw Error(kind, message); }

void fail_internal(const char* file, int line, const char* condition, const std::string& message) {
  const char* base = std::strrchr(file, '/');
  throw Error(ErrorKind::internal,
              concat(message, "\n  ", base ? base + 1 : file, ":", line, ": ", condition,
                     " does not hold\n  this is a bug in weft: please report it with the graph text"));
}

}  // namespace weft
