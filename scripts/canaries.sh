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

# What is proved here must hold in run-tests.sh.
. scripts/sanitizers.sh "$kind"
runner=(timeout 120 "${runner[@]}")
silent=0

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
