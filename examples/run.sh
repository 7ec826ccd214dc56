#!/bin/sh
# Installs what is missing, builds the examples in build/, runs them. The last one is the logistic regression.
# The exit status is 0 only if all of them reached what they promise.
cd "$(dirname "$0")/.." || exit 1
. tests/setup.sh

# step name command...: stops everything if the command fails, showing the end of what it said.
step() {
  name=$1
  shift
  echo "== $name"
  if ! "$@" >"build/examples_$name.log" 2>&1; then
    tail -n 40 "build/examples_$name.log"
    echo "$name failed"
    exit 1
  fi
}

weft_setup
mkdir -p build
generator=
if [ ! -f build/CMakeCache.txt ] && command -v ninja >/dev/null; then generator="-G Ninja"; fi
# shellcheck disable=SC2086
step configure cmake $generator -S . -B build -DCMAKE_BUILD_TYPE=Release -DWEFT_EXAMPLES=ON -DWEFT_TESTS=OFF
step build cmake --build build --parallel "$(nproc)" --target weft_examples

status=0
for name in hello accumulators image_tonemap newton logistic_regression; do
  echo
  echo "== $name"
  (cd build/examples && "./$name") || { echo "$name failed"; status=1; }
done
exit $status
