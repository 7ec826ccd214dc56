#!/bin/sh
# Installs what is missing, builds weft and its tests in build/, runs everything.
# The last line is "N passed, N failed": test cases of the doctest binaries, and one for each other check.
# The exit status is 0 only if everything was built and nothing failed.
cd "$(dirname "$0")/.." || exit 1
. tests/setup.sh

passed=0
failed=0
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}

# step name command...: stops everything if the command fails, showing the end of what it said.
step() {
  name=$1
  shift
  echo "== $name"
  if ! "$@" >"build/$name.log" 2>&1; then
    grep -E "error|Error|FAILED" "build/$name.log" | head -n 20
    tail -n 30 "build/$name.log"
    echo "$name failed"
    failed=1
    finish
  fi
}

weft_setup
mkdir -p build
generator=
[ -f build/CMakeCache.txt ] || generator="-G Ninja"
# shellcheck disable=SC2086
step configure cmake $generator -S . -B build -DWEFT_WERROR=ON -DWEFT_TESTS=ON -DWEFT_EXAMPLES=OFF
step build cmake --build build --parallel "$(nproc)"

# ctest knows the tests, and which must be alone; the others run side by side. Each line of test 3 begins with "3: ".
ctest --test-dir build -V --parallel "$(nproc)" >build/tests.log 2>&1
ctest --test-dir build -N | sed -n 's/^ *Test *#\([0-9]*\): */\1 /p' >build/tests.list
# A doctest binary reports its own number of test cases.
while read -r number name; do
  log=build/test_$name.log
  sed -n "s/^$number: //p; / Test *#$number: $name /p" build/tests.log >"$log"
  counts=$(sed -n 's/.*\[doctest\] test cases: *[0-9]* *| *\([0-9]*\) passed *| *\([0-9]*\) failed.*/\1 \2/p' "$log" | tail -n 1)
  if grep -q " Test *#$number: $name .* Passed " build/tests.log; then
    counts=${counts:-1 0}
  elif [ -z "$counts" ]; then
    counts="0 1"
  elif [ "${counts#* }" -eq 0 ]; then
    counts="${counts% *} 1"  # it failed outside of any test case
  fi
  echo "== $name: ${counts% *} passed, ${counts#* } failed"
  [ "${counts#* }" -eq 0 ] || tail -n 80 "$log"
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
done <build/tests.list
finish
