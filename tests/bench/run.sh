#!/bin/sh
# Builds the benchmarks in build-bench/ and prints the table: weft, hand-written loops, Eigen. Arguments go to weft_bench:
#   --table (the default), --filter=TEXT, or Google Benchmark's own flags without --table.
cd "$(dirname "$0")/../.." || exit 1
. tests/setup.sh
weft_setup
generator=
if [ ! -f build-bench/CMakeCache.txt ] && command -v ninja >/dev/null; then generator="-G Ninja"; fi
mkdir -p build-bench
# shellcheck disable=SC2086
if ! { cmake $generator -S . -B build-bench -DCMAKE_BUILD_TYPE=Release -DWEFT_BENCH=ON -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF -DWEFT_COMMAND=OFF &&
       cmake --build build-bench --parallel "$(nproc)" --target weft_bench; } >build-bench/run.log 2>&1; then
  tail -n 40 build-bench/run.log
  exit 1
fi
[ $# -gt 0 ] || set -- --table
exec build-bench/tests/bench/weft_bench "$@"
