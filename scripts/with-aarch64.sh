#!/usr/bin/env bash
# Runs a command in which programs for aarch64 start as if they were this machine's.
#
#   scripts/with-aarch64.sh [--chroot] COMMAND...
#
# --chroot: also where the command changes its root to a whole system for aarch64, with all users of this machine (as
# root). The kernel is told so in a user namespace of the command's own (Linux 6.7), so that the machine stays as it is.
set -euo pipefail

changes_root=""
[ "${1:-}" != --chroot ] || { changes_root=yes && shift; }

here=$(cd "$(dirname "$0")/.." && pwd)
out=$here/build/cross-aarch64
emulator=$out/emulator source=$here/tests/cross/emulator.c
binfmt=/proc/sys/fs/binfmt_misc
# The first 20 bytes of such a program, and which of their bits count: ELF, 64 bits, of ET_EXEC or ET_DYN, EM_AARCH64.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

# The kernel opens what runs them now (F): it need not be in another root.
rule() { # what runs them, flags
  echo ":lathe-aarch64:M::$magic:$mask:$1:$2"
}

# In the namespace: tells the kernel.
# shellcheck disable=SC2016
register='{ mount -t binfmt_misc binfmt_misc "$1" && echo "$2" >"$1/register"; } || {
  echo "aarch64: the program cannot be tried: no binfmt_misc in user namespaces (Linux 6.7 has it)" >&2
  exit 1
}'

run_here() { # command...
  [ "$emulator" -nt "$source" ] ||
    gcc -O1 -Wall -Wextra -Werror -static -DQEMU="\"$(command -v qemu-aarch64-static)\"" -DSYSROOT="\"$out/sysroot\"" "$source" -o "$emulator"
  exec unshare --user --map-root-user --mount bash -euc "$register"'
    exec "${@:3}"' bash "$binfmt" "$(rule "$emulator" PF)" "$@"
}

# All users of this machine are in the namespace, as dpkg gives files to some of them. Root says so from outside.
run_with_users() { # command...
  local go inside map status=0
  go=$(mktemp -d)
  mkfifo "$go/mapped"
  unshare --user --mount bash -euc 'read -r _ <"$3/mapped"
    '"$register"'
    exec "${@:4}"' bash "$binfmt" "$(rule "$(command -v qemu-aarch64-static)" F)" "$go" "$@" <&0 &
  inside=$!
  until [ "$(readlink "/proc/$inside/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.01; done
  for map in uid_map gid_map; do
    echo "0 0 4294967295" >"/proc/$inside/$map"
  done
  echo >"$go/mapped"
  rm -r "$go"
  wait "$inside" || status=$?
  return $status
}

if [ -n "$changes_root" ]; then run_with_users "$@"; else run_here "$@"; fi
