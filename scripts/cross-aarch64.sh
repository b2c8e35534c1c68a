#!/usr/bin/env bash
# Builds for aarch64 what depends on the architecture, and runs its tests under emulation.
#
#   scripts/cross-aarch64.sh [program]...      all of them, unless some are named
#
# A program is tests/cross/NAME_main.c with the sources that it needs, listed below. All are static, so that the emulator
# needs no aarch64 system around them.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/cross-aarch64
cc=aarch64-linux-gnu-gcc
emulator=qemu-aarch64-static
cflags=(-std=gnu17 -O2 -g -static -pthread -fno-omit-frame-pointer -D_GNU_SOURCE -Isrc -Iinclude -Itests
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wformat=2 -Wundef -Wvla -Wcast-qual
  -Wmissing-prototypes -Wswitch-enum -Werror -isystem build/engine '-DLT_TIME_ZONES="build/engine/zones.txt"')

programs=(fiber sandbox)

# One entry per library: sources that a program may ask for by name.
base=(src/base/*.c src/base/fiber_aarch64.S src/base/time_zone_data.S)
sandbox=(tests/fakes/fake_host.c src/json/json.c "$out/libqjs.o") # the fake host checks inputs
for source in src/sandbox/*.c; do
  case $source in
    */mkimage.c | */image_data.c | */image_packing.c) ;; # images are made by the program itself
    *) sandbox+=("$source") ;;
  esac
done

sources_of() { # program: its sources, one per line
  case "$1" in
    fiber) printf '%s\n' tests/cross/fiber_main.c "${base[@]}" ;;
    sandbox) printf '%s\n' tests/cross/sandbox_main.c "${sandbox[@]}" "${base[@]}" -lm ;;
    *) echo "cross: unknown program \"$1\" (there are: ${programs[*]})" >&2 && return 2 ;;
  esac
}

[ $# = 0 ] || programs=("$@")
[ -e "$out/libqjs.o" ] || { echo "cross: $out/libqjs.o is missing: make cross" >&2; exit 1; }
for program in "${programs[@]}"; do
  sources=$(sources_of "$program")
  # shellcheck disable=SC2086
  $cc "${cflags[@]}" $sources -o "$out/$program"
  echo -n "aarch64 $program: "
  timeout 300 $emulator "$out/$program"
done

# The engine computes the same on both machines: its images, made by each, have the same bytes. Only in CI is build/release
# sure to be of the same sources.
if [ -n "${CI:-}" ]; then
  for kind in base web intl strip; do
    cmp build/{release,aarch64}/src/sandbox/images/$kind.image
  done
fi
