#!/usr/bin/env bash
# Runs the unit tests, the fuzz corpora and the flow tests of one preset and closes with one line of sums.
#
#   scripts/run-tests.sh PRESET [few]      few: only the flow files of `few`
#
# The flow tests find the program in $LATHE; under a sanitizer and an emulator $LATHE_PATIENCE multiplies their bounds.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1 how_many=${2:-all}
out=build/$preset
passed=0 failed=0 skipped=0 bad=0
flaky=() # what failed beside others and passed alone

# A version manager's python3 is a script that starts a dozen shells: tests take the interpreter that it would start.
python=$(python3 -c 'import sys; print(sys.executable)')
[ "$python" -ef "$(command -v python3)" ] || export PATH=${python%/*}:$PATH

. scripts/sanitizers.sh "$preset"
export file_seconds=900 # for a flow file
case $preset in
  release) ;;
  aarch64) export LATHE_PATIENCE=12 file_seconds=3600 CC=aarch64-linux-gnu-gcc STRIP=aarch64-linux-gnu-strip ;;
  asan | tsan) export LATHE_PATIENCE=6 ;;
  *) echo "run-tests: there is no preset \"$preset\" (release, asan, tsan, aarch64)" >&2 && exit 2 ;;
esac

# Whether a test passes is never a matter of time, but programs in tests have limits in seconds: one unit test for each
# processor, as they compute, and one flow file more, as they mostly wait.
units_at_a_time=$(nproc)
flows_at_a_time=$(($(nproc) + 1))
TIMEFORMAT='took %0R s, and %0U + %0S s of the processors'

# A test that failed beside others runs again alone, and is named at the end: another process may have had its port, its
# memory or its time. What a sanitizer or a check of our own (LT_CHECK) has found is never tried again.

# The unit tests that run under qemu-user. Not among them: process and process_start (a failed posix_spawn goes unseen), file and jail (a user namespace
# has one user), box and embed (hundreds of boxes, limits of milliseconds), and what takes minutes.
emulated_units=(
  address_range approver arena budget buf catalog config_keys config_tools door door_records door_rules err fan_out fiber
  js_prose json line_diff lines masked_records mcp_auth_text mcp_parts mcp_provider mcp_value mem member_text models names
  pair_list plain random rate remembered_decisions scripts secrets session_variables sha256 str telemetry text_calls
  time_zone trace trust typegen values wires
)

number() { # attribute file: the first attribute="N" in a JUnit file
  sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1
}

units() { # report, more options of ctest...
  rm -f "$1"
  "${runner[@]}" ctest --test-dir "$out" --output-on-failure --no-tests=error --timeout 600 --output-junit "$PWD/$1" "${@:2}"
}

unit() {
  local report=$out/unit.xml again=$out/unit-again.xml last=$out/Testing/Temporary
  local tests fails=0 skips options=(-j $units_at_a_time)
  [ "$preset" != aarch64 ] || options+=(-R "^($(IFS='|' && echo "${emulated_units[*]}"))$")
  units "$report" "${options[@]}" || bad=1
  [ -s "$report" ] || return 0
  tests=$(number tests "$report") fails=$(number failures "$report") skips=$(number skipped "$report")
  skips=$((${skips:-0} + $(number disabled "$report")))
  if [ "$fails" -gt 0 ] && ! grep -q 'Sanitizer' "$last/LastTest.log"; then
    sed 's/^[0-9]*://' "$last/LastTestsFailed.log" >"$out/unit-failed"
    bad=0
    units "$again" --rerun-failed || bad=1
    fails=$(number failures "$again")
    [ "$fails" -gt 0 ] || mapfile -t flaky <"$out/unit-failed"
  fi
  passed=$((passed + tests - fails - skips)) failed=$((failed + fails))
  skipped=$((skipped + skips))
}

tap() { # word file: the number after "# word" that closes node's TAP report; 0 where there is none
  local n
  n=$(sed -n "s/^# $1 \([0-9]*\)$/\1/p" "$2" | tail -n 1)
  echo "${n:-0}"
}

# --- Which flow files run where (docs/TESTING.md, "Where CI's time goes") ----------------------------------------------

# The whole flow suite once more, with every program that waits dropped and run again by its tape when it can go on. Not
# under sanitizers, where that takes too long, and without the files where it could show nothing:
never_dropped=(
  tools types doctor config trust mcp-install login shell-pages # run no program
  find-tools serve-check                            # run none that waits: what tools there are, a program is told at once
  wires                                             # looks at what models are sent
  conformance conformance-auth conformance-auth-2026 inspector # look at the wire, which is the same for a program that was dropped
  serve-hostile serve-openapi serve-browsers serve-proxy serve-disk serve-strangers serve-users metrics service-log # likewise
  page page-hostile page-live page-look page-program page-replay page-tools # look at what a browser shows of it
  parser-suite intl web-globals types-erased        # many programs without a call
  embed embed-hosts                                 # are about the library, in programs of their own
  one-of-each                                       # has nothing that other files have not
  packages dist bench                               # are about what is packed, or measured
  store                                             # makes hundreds of calls in a row: each would begin the program again
  deno python escapes resume-runners                # run them in processes, which cannot be replayed into and are not dropped
)
never_asan=(
  # The browser has nearly all of the work. What it asks of the server is asked by page, page-live, page-hostile, serve-*.
  page-look page-program page-replay page-tools
  one-of-each # has nothing that other files have not
  embed embed-hosts packages # take what is installed, which is never built for a sanitizer
  dist bench                 # packs sources; measures the release
  intl web-globals typed-javascript names-across-languages # try what is in the engine, which is not instrumented
  types-erased               # compares a pure function, whose unit test and fuzz target are sanitized
)
# Under ThreadSanitizer a program takes ten times as long. So only files run where threads meet in a way of their own:
# programs that end at each moment, many at once, processes on one store, and servers with many clients.
tsan_files=(
  run-bad-programs leases bounds resume run-bad-servers cut-answers question decisions chat gateway-http
  service replay release run-tools run-runners plugins plugin-mode bad-plugins list-changes servers-again
  gateway gateway-questions gateway-sessions mcp-http questions deno python typecheck
  serve serve-disk serve-events serve-hostile serve-limits serve-order serve-reload serve-resume
  metrics tracing soak page-live
)
# aarch64 under qemu-user, where a start of the program takes a hundred times as long (docs/TESTING.md, "aarch64"): all files,
# in some of which tests are skipped that need walls or a compiler of types, but for those in which nothing would be left:
never_emulated=(
  deno python escapes typecheck resume-runners serve-check # are behind walls, which qemu-user has not
  bounds                                            # is about trees of processes: qemu-user refuses PR_SET_CHILD_SUBREAPER
  packages dist embed embed-hosts                   # build and pack for this machine
  page page-hostile page-live page-look page-program page-replay page-tools # look at what a browser shows
  conformance conformance-auth conformance-auth-2026 conformance-server inspector # look at the wire, which is the same
  parser-suite types types-erased intl web-globals field # compute for long what is the same: images have the same bytes
)
# Of the others, what `make cross` runs.
few=(one-of-each servers call-command)
# They take longest, so they begin first: the last file of a part runs alone.
long_first=(
  run-bad-programs shown conformance-server store run-bad-servers leases bounds resume page-tools page-hostile page-look
  page-program cut-answers replay field question belongs decisions chat conformance-auth-2026 real-servers gateway-http
  service
)

must_exist() { # file without ending...
  local name
  for name in "$@"; do
    [ -f "tests/flow/$name.test.mjs" ] || { echo "run-tests: there is no tests/flow/$name.test.mjs" >&2; exit 1; }
  done
}

choose() { # file without ending not to run...: the others in `chosen`, the long ones first
  local file name
  must_exist "${long_first[@]}" "$@"
  chosen=()
  for file in "${long_first[@]/%/.test.mjs}" $(cd tests/flow && ls -- *.test.mjs); do
    name=${file%.test.mjs}
    [[ " $* " = *" $name "* || " ${chosen[*]} " = *" tests/flow/$file "* ]] || chosen+=("tests/flow/$file")
  done
}

choose_only() { # file without ending...: these, in this order
  must_exist "$@"
  chosen=("${@/#/tests/flow/}")
  chosen=("${chosen[@]/%/.test.mjs}")
}

# One flow file: its report is printed when it is whole, so that files beside each other do not mix.
flow_file() { # reports' folder, test file
  local base
  base=$1/$(basename "$2" .test.mjs)
  LATHE=$PWD/$out/lathe timeout -k 10 $file_seconds $runner_words node \
    --test-reporter=spec --test-reporter-destination="$base.log" \
    --test-reporter=tap --test-reporter-destination="$base.tap" "$2" </dev/null >"$base.out" 2>&1 || touch "$base.failed"
  cat "$base.log" "$base.out" || true # node may have written no report
}

export out runner_words="${runner[*]}"
export -f flow_file

flow_count() { # reports' folder
  local file
  for file in "$1"/*.tap; do
    passed=$((passed + $(tap pass "$file"))) failed=$((failed + $(tap fail "$file") + $(tap cancelled "$file")))
    skipped=$((skipped + $(tap skipped "$file") + $(tap todo "$file")))
  done
}

flow_again() { # reports' folder
  local failure base
  for failure in "$1"/*.failed; do
    base=${failure%.failed}
    ! grep -qE 'Sanitizer|internal check failed' "$base.log" "$base.out" || continue
    rm "$failure"
    flow_file "$1" "tests/flow/$(basename "$base").test.mjs"
    [ -e "$failure" ] || flaky+=("$(basename "$base")")
  done
}

flow() { # name, test file...
  local reports=$out/$1 files=("${@:2}")
  rm -rf "$reports" && mkdir -p "$reports"
  printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P $flows_at_a_time bash -c 'flow_file "$@"' flow_file "$reports"
  flow_again "$reports"
  flow_count "$reports"
  ! compgen -G "$reports/*.failed" >/dev/null || bad=1
}

shopt -s nullglob
[ "$how_many" = few ] || time unit
case $preset in
  release) choose ;;
  tsan) choose_only "${tsan_files[@]}" ;;
  aarch64) choose "${never_emulated[@]}" ;;
  *) choose "${never_asan[@]}" ;;
esac
[ "$how_many" != few ] || choose_only "${few[@]}"
time flow flow "${chosen[@]}"
if [ "$preset" = release ]; then
  export LATHE_DROP_WAITING=1
  choose "${never_dropped[@]}"
  time flow flow-dropping "${chosen[@]}"
fi
# A runner that failed without naming a test is a failure all the same.
if [ $bad = 1 ] && [ $failed = 0 ]; then
  failed=1
fi
line="$passed passed, $failed failed"
[ $skipped = 0 ] || line+=", $skipped skipped"
[ ${#flaky[@]} = 0 ] || echo "Failed beside others and passed alone: ${flaky[*]}"
echo "$line" | tee "$out/summary"
[ $bad = 0 ] && [ $failed = 0 ] && [ $passed -gt 0 ]
