// The entry point of every test binary. Goldens are those of one machine, whatever was measured on this one and whatever it is.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>

#include <doctest/doctest.h>

int main(int count, char** words) {
  setenv("WEFT_MACHINE", WEFT_TEST_DIR "/support/machine", 1);
  return doctest::Context(count, words).run();
}
