#!/usr/bin/env bash
# Fuzzes every target for so many seconds (30), starting from its corpus. What is new stays in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-30}
found=0
for program in build/fuzz/fuzz_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  name=${program##*/fuzz_}
  new=build/fuzz/corpus/$name
  mkdir -p "$new"
  echo "fuzz: $name for $seconds s"
  ASAN_OPTIONS=detect_leaks=1 "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=0 \
    -verbosity=0 -artifact_prefix="build/fuzz/$name-" "$new" "tests/fuzz/corpus/$name" \
    >"build/fuzz/$name.log" 2>&1 || {
    tail -n 40 "build/fuzz/$name.log" >&2
    echo "fuzz: $name failed; the input is in build/fuzz/$name-*" >&2
    exit 1
  }
  found=$((found + 1))
done
[ $found -gt 0 ] || { echo "fuzz: no target was built" >&2 && exit 1; }
echo "fuzz: $found targets, nothing found"
