#!/bin/sh
# Builds the benchmarks in build-bench/ and prints a table.
#   run.sh [flags]       weft, hand-written loops, Eigen. Flags go to weft_bench: --table (the default), --csv, --compare=FILE (the --csv of
#                        another build), --filter=TEXT, or Google
#                        Benchmark's own without --table. --neighbours [--threads=N]: what the table computes beside itself with odd,
#                        prime, thin and huge extents, f64, F order, steps of 2, the other axis; the ratios, and the ten worst (3 minutes).
#   run.sh math [flags]  vector functions beside libmvec, SLEEF and libm. Flags go to weft_math_bench: --csv, --seconds=S, --filter=NAME.
cd "$(dirname "$0")/../.." || exit 1
. tests/setup.sh
weft_setup
program=weft_bench
if [ "$1" = math ]; then
  program=weft_math_bench
  shift
  weft_is_installed libsleef3 || weft_install libsleef3 || echo "without SLEEF" >&2
fi
generator=
if [ ! -f build-bench/CMakeCache.txt ] && command -v ninja >/dev/null; then generator="-G Ninja"; fi
mkdir -p build-bench
# shellcheck disable=SC2086
if ! { cmake $generator -S . -B build-bench -DCMAKE_BUILD_TYPE=Release -DWEFT_BENCH=ON -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF -DWEFT_COMMAND=OFF &&
       cmake --build build-bench --parallel "$(nproc)" --target $program; } >build-bench/run.log 2>&1; then
  tail -n 40 build-bench/run.log
  exit 1
fi
[ $program = weft_math_bench ] || [ $# -gt 0 ] || set -- --table
exec build-bench/tests/bench/$program "$@"
