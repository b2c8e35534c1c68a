#!/usr/bin/env bash
# Runs a command in which programs for aarch64 start as if they were this machine's: scripts/with-aarch64.sh COMMAND...
#
# The kernel is told so in a user namespace of the command's own (Linux 6.7), so that the machine stays as it is.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
out=$here/build/cross-aarch64
emulator=$out/emulator source=$here/tests/cross/emulator.c
binfmt=/proc/sys/fs/binfmt_misc
# The first 20 bytes of such a program, and which of their bits count: ELF, 64 bits, of ET_EXEC or ET_DYN, EM_AARCH64.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
rule=":lathe-aarch64:M::$magic:$mask:$emulator:PF"

[ "$emulator" -nt "$source" ] ||
  gcc -O1 -Wall -Wextra -Werror -static -DQEMU="\"$(command -v qemu-aarch64-static)\"" -DSYSROOT="\"$out/sysroot\"" "$source" -o "$emulator"

exec unshare --user --map-root-user --mount bash -euc '
  { mount -t binfmt_misc binfmt_misc "$1" && echo "$2" >"$1/register"; } || {
    echo "aarch64: the program cannot be tried: no binfmt_misc in user namespaces (Linux 6.7 has it)" >&2
    exit 1
  }
  exec "${@:3}"' bash "$binfmt" "$rule" "$@"
