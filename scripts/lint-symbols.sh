#!/usr/bin/env bash
# Two of our objects must not define one name: of static libraries the linker takes the first and says nothing.
#
#   scripts/lint-symbols.sh [BUILD_DIR]   looks into what is built in build/release; says so where that is not there
#   scripts/lint-symbols.sh --canary      proves that it finds one, and nothing where there is none
set -euo pipefail
cd "$(dirname "$0")/.."

# Functions and variables that are not static; weak ones may be there twice. An object defines a name only once, so that
# a second line is another object.
twice() { # ARCHIVE...: a line for each name that is there twice; fails where nothing is defined
  nm -A --defined-only --extern-only "$@" | awk '
    $2 ~ /^[TDBRC]$/ {
      sub(/:[0-9a-f]*$/, "", $1)
      sub(/^.*\//, "", $1)
      if ($3 in where) print "lint: " $3 " is defined in " where[$3] " and in " $1 ": one of them has to be static, or has another name"
      where[$3] = $1
      n++
    }
    END { exit n == 0 }'
}

# What the build knows of: libraries of earlier layouts may still lie about.
archives() { # BUILD_DIR
  grep -oE '^build (src|tests)/([A-Za-z0-9_]+/)*lib[A-Za-z0-9_]+\.a:' "$1/build.ninja" | sed 's/^build //; s/:$//' | sort -u |
    while read -r path; do [ ! -f "$1/$path" ] || echo "$1/$path"; done
}

canary() {
  local dir
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' RETURN
  echo 'int lt_one(void) { return 1; } static int own(void) { return 1; } int lt_a(void) { return own(); }' >"$dir/a.c"
  echo 'int lt_two(void) { return 2; } static int own(void) { return 2; } int lt_b(void) { return own(); }' >"$dir/b.c"
  echo '__attribute__((weak)) int lt_two(void) { return 3; } int lt_one = 1;' >"$dir/c.c"
  (cd "$dir" && "${CC:-cc}" -c a.c b.c c.c && ar rcs libone.a a.o && ar rcs libtwo.a b.o && ar rcs libthree.a c.o)
  [ -z "$(twice "$dir/libone.a" "$dir/libtwo.a")" ] || { echo "lint: the canary is found where there is none" >&2; return 1; }
  [ "$(twice "$dir"/lib*.a | wc -l)" = 1 ] || { echo "lint: a name that is defined twice is NOT found" >&2; return 1; }
}

if [ "${1-}" = --canary ]; then
  canary
  exit
fi
build=${1-build/release}
if [ ! -f "$build/build.ninja" ] || [ -z "$(archives "$build")" ]; then
  echo "lint: nothing is built in $build: names that are defined twice were not looked for"
  exit
fi
mapfile -t libraries < <(archives "$build")
found=$(twice "${libraries[@]}") || { echo "lint: no names in the libraries of $build" >&2; exit 1; }
if [ -n "$found" ]; then
  echo "$found" >&2
  exit 1
fi
