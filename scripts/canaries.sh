#!/usr/bin/env bash
# Runs the programs of tests/canary that must fail, and fails itself where one of them does not.
#
#   scripts/canaries.sh PRESET          release, asan or tsan: looks in build/PRESET
#   scripts/canaries.sh BUILD_DIR KIND  KIND: plain, asan or tsan
#
# Each is run twice: with --healthy it must succeed, without it must fail and say why. A canary that is missing, crashes
# early or fails for another reason has proved nothing, and counts as silent.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

case $# in
  1) dir=build/$1 kind=${1/release/plain} ;;
  2) dir=$1 kind=$2 ;;
  *) usage ;;
esac

runner=(timeout 120)
silent=0

# The same surroundings as in run-tests.sh: what is proved here must hold there.
export ASAN_OPTIONS="detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
if [ "$kind" = tsan ] && setarch -R true 2>/dev/null; then
  runner+=(setarch -R)
fi

complain() { # name reason output
  echo "canary $1: $2" >&2
  [ -z "$3" ] || head -n 40 <<<"$3" | sed 's/^/  | /' >&2
  silent=$((silent + 1))
}

expect() { # name pattern: canary_NAME must fail with a line that matches
  local program=$dir/canary_$1 out
  if [ ! -x "$program" ]; then
    complain "$1" "$program was not built" ""
  elif ! out=$("${runner[@]}" "$program" --healthy 2>&1); then
    complain "$1" "fails even when nothing is wrong" "$out"
  elif out=$("${runner[@]}" "$program" 2>&1); then
    complain "$1" "must fail, but SUCCEEDED: this job cannot go red" "$out"
  elif ! grep -Eq "$2" <<<"$out"; then
    complain "$1" "failed, but not with /$2/" "$out"
  else
    echo "canary $1: fails as it must"
  fi
}

case $kind in
  plain) ;;
  asan)
    # The array named in the report: AddressSanitizer has followed the fiber onto its stack.
    expect overflow "'frame'.* <== Memory access at offset [0-9]+ overflows this variable"
    expect leak "LeakSanitizer: detected memory leaks"
    expect undefined "runtime error: signed integer overflow"
    ;;
  tsan) expect race "ThreadSanitizer: data race" ;;
  *) usage ;;
esac
expect test "1 FAILED TEST"
[ $silent = 0 ]
