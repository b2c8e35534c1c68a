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
runner=()

if [ "$preset" != release ]; then
  export LATHE_SLOW=1
  export ASAN_OPTIONS="detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
  export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
  export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
fi
# ThreadSanitizer of gcc 12 cannot live with much address space randomisation.
if [ "$preset" = tsan ] && setarch -R true 2>/dev/null; then
  runner=(setarch -R)
fi

number() { # attribute file: the first attribute="N" in a JUnit file
  sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1
}

unit() {
  local junit=$out/unit.xml
  rm -f "$junit"
  "${runner[@]}" ctest --test-dir "$out" --output-on-failure --no-tests=error --timeout 600 -j "$(nproc)" \
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
  deno python escapes resume-runners # run them in processes, which cannot be replayed into and are not dropped
)
for file in "${never_dropped[@]}"; do
  [ -f "tests/flow/$file.test.mjs" ] || { echo "never_dropped: there is no tests/flow/$file.test.mjs" >&2; exit 1; }
done
dropped=()
for file in tests/flow/*.test.mjs; do
  [[ " ${never_dropped[*]} " = *" $(basename "$file" .test.mjs) "* ]] || dropped+=("$file")
done

# They mostly wait, so that three at a time take a third of the time, where node can be told.
at_a_time=
[[ $(node --help) != *--test-concurrency* ]] || at_a_time=--test-concurrency=3

flow() { # tap-file concurrency test-file...
  local tap_file=$1 concurrency=$2 files=("${@:3}")
  [ ${#files[@]} -gt 0 ] || return 0
  LATHE=$PWD/$out/lathe timeout -k 10 1500 "${runner[@]}" node --test ${concurrency:+"$concurrency"} --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$tap_file" "${files[@]}" </dev/null || bad=1
  passed=$((passed + $(tap pass "$tap_file"))) failed=$((failed + $(tap fail "$tap_file") + $(tap cancelled "$tap_file")))
  skipped=$((skipped + $(tap skipped "$tap_file") + $(tap todo "$tap_file")))
}

shopt -s nullglob
unit
flow "$out/flow.tap" "" tests/flow/*.test.mjs
if [ "$preset" = release ]; then
  LATHE_DROP_WAITING=1 flow "$out/flow-dropping.tap" "$at_a_time" "${dropped[@]}"
fi
# A runner that failed without naming a test is a failure all the same.
if [ $bad = 1 ] && [ $failed = 0 ]; then
  failed=1
fi
line="$passed passed, $failed failed"
[ $skipped = 0 ] || line+=", $skipped skipped"
echo "$line" | tee "$out/summary"
[ $bad = 0 ] && [ $failed = 0 ] && [ $passed -gt 0 ]
