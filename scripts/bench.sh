#!/usr/bin/env bash
# Runs every measurement of bench/, one after the other, and says so where one cannot be made. Never fails.
cd "$(dirname "$0")/.." || exit 0

for program in build/release/bench_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=${program##*/bench_}
  echo "--- $name"
  LATHE=$PWD/build/lathe timeout 600 "$program" </dev/null || echo "bench: $name could not be measured"
done
exit 0
