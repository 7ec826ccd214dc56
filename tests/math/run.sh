#!/bin/sh
# Measures the vector functions on all 2^32 floats and on 10^7 doubles each, and prints a table (some minutes). Arguments go to
# ulp_table: names of functions, or flags such as --points=N.
cd "$(dirname "$0")/../.." || exit 1
. tests/setup.sh
weft_setup
generator=
if [ ! -f build/CMakeCache.txt ] && command -v ninja >/dev/null; then generator="-G Ninja"; fi
mkdir -p build
# shellcheck disable=SC2086
if ! { cmake $generator -S . -B build -DWEFT_TESTS=ON -DWEFT_EXAMPLES=OFF &&
       cmake --build build --parallel "$(nproc)" --target ulp_table; } >build/math.log 2>&1; then
  tail -n 40 build/math.log
  exit 1
fi
exec build/tests/ulp_table --stride=1 --points=10000000 --samples=100000 --targets "$@"
