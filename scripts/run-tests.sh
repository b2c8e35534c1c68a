#!/usr/bin/env bash
# Runs the unit tests, the fuzz corpora and the flow tests of one preset and closes with one line of sums.
#
#   scripts/run-tests.sh PRESET
#
# The flow tests find the program in $LATHE; under a sanitizer $LATHE_SLOW=1 asks them for patience.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
out=build/$preset
passed=0 failed=0 skipped=0 bad=0

. scripts/sanitizers.sh "$preset"
[ "$preset" = release ] || export LATHE_SLOW=1

# Whether a test passes is never a matter of time, but programs in tests have limits in seconds: one unit test for each
# processor, as they compute, and one flow file more, as they mostly wait.
units_at_a_time=$(nproc)
flows_at_a_time=$(($(nproc) + 1))
TIMEFORMAT='took %0R s, and %0U + %0S s of the processors'

number() { # attribute file: the first attribute="N" in a JUnit file
  sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1
}

unit() {
  local junit=$out/unit.xml
  rm -f "$junit"
  "${runner[@]}" ctest --test-dir "$out" --output-on-failure --no-tests=error --timeout 600 -j $units_at_a_time \
    --output-junit "$PWD/$junit" || bad=1
  [ -s "$junit" ] || return 0
  local tests fails skips
  tests=$(number tests "$junit") fails=$(number failures "$junit") skips=$(number skipped "$junit")
  skips=$((${skips:-0} + $(number disabled "$junit")))
  passed=$((passed + tests - fails - skips)) failed=$((failed + fails)) skipped=$((skipped + skips))
}

tap() { # word file: the number after "# word" that closes node's TAP report
  sed -n "s/^# $1 \([0-9]*\)$/\1/p" "$2" | tail -n 1
}

# The whole flow suite once more, with every program that waits dropped and run again by its tape when it can go on. Not
# under sanitizers, where that takes too long, and without the files where it could show nothing:
never_dropped=(
  tools types                       # run no program
  find-tools                        # run none that waits: what tools there are, a program is told at once
  conformance                       # looks at the wire, which is the same for a program that was dropped
  store                             # makes hundreds of calls in a row: each would begin the program again
  deno python escapes resume-runners # run them in processes, which cannot be replayed into and are not dropped
)
for file in "${never_dropped[@]}"; do
  [ -f "tests/flow/$file.test.mjs" ] || { echo "never_dropped: there is no tests/flow/$file.test.mjs" >&2; exit 1; }
done
dropped=()
for file in tests/flow/*.test.mjs; do
  [[ " ${never_dropped[*]} " = *" $(basename "$file" .test.mjs) "* ]] || dropped+=("$file")
done

concurrency=() # node before 18.19 cannot be told, and runs one file after the other
[[ $(node --help) != *--test-concurrency* ]] || concurrency=(--test-concurrency=$flows_at_a_time)

flow() { # tap-file test-file...
  local tap_file=$1 files=("${@:2}")
  [ ${#files[@]} -gt 0 ] || return 0
  LATHE=$PWD/$out/lathe timeout -k 10 1500 "${runner[@]}" node --test "${concurrency[@]}" \
    --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$tap_file" "${files[@]}" </dev/null || bad=1
  passed=$((passed + $(tap pass "$tap_file"))) failed=$((failed + $(tap fail "$tap_file") + $(tap cancelled "$tap_file")))
  skipped=$((skipped + $(tap skipped "$tap_file") + $(tap todo "$tap_file")))
}

shopt -s nullglob
time unit
time flow "$out/flow.tap" tests/flow/*.test.mjs
if [ "$preset" = release ]; then
  export LATHE_DROP_WAITING=1
  time flow "$out/flow-dropping.tap" "${dropped[@]}"
fi
# A runner that failed without naming a test is a failure all the same.
if [ $bad = 1 ] && [ $failed = 0 ]; then
  failed=1
fi
line="$passed passed, $failed failed"
[ $skipped = 0 ] || line+=", $skipped skipped"
echo "$line" | tee "$out/summary"
[ $bad = 0 ] && [ $failed = 0 ] && [ $passed -gt 0 ]
