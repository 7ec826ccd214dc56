// The entry point of every test binary. Goldens are those of the default machine, whatever was measured on this one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>

#include <doctest/doctest.h>

int main(int count, char** words) {
  setenv("WEFT_MACHINE", "", 1);
  return doctest::Context(count, words).run();
}
