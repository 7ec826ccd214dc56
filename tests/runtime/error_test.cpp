#include <weft/error.h>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

TEST_CASE("an error says its kind and its parts") {
  CHECK(error_text([] { WEFT_REQUIRE(1 > 2, shape, "expected ", 3, " got ", 4.5); }) == "shape: expected 3 got 4.5");
  CHECK(error_text([] { fail(ErrorKind::unsupported, "x"); }) == "unsupported: x");
  CHECK(error_text([] { WEFT_REQUIRE(true, usage, "never"); }) == "no error");
}

TEST_CASE("a broken invariant says where, and how to report it") {
  const std::string text = error_text([] { WEFT_ASSERT(1 > 2, "count ", 7); });
  const std::string line = text.substr(text.find(".cpp:") + 5, text.find(": 1 > 2") - text.find(".cpp:") - 5);
  CHECK(text == "internal: count 7\n  error_test.cpp:" + line +
                    ": 1 > 2 does not hold\n  this is a bug in weft: please report it with the graph text");
}

TEST_CASE("every kind has a name and is kept") {
  const ErrorKind kinds[] = {ErrorKind::usage, ErrorKind::shape,       ErrorKind::dtype,
                             ErrorKind::text,  ErrorKind::unsupported, ErrorKind::internal};
  std::string names;
  for (const ErrorKind kind : kinds) {
    CHECK(Error(kind, "x").kind() == kind);
    names += std::string(to_text(kind)) + " ";
  }
  CHECK(names == "usage shape dtype text unsupported internal ");
}
