#!/usr/bin/env bash
# Tries the two commands on a Debian 12 that has nothing: debootstrap into a folder, a clone of the last commit in it,
# then `make demo` and `make test` in a chroot, each twice (the second one must set up nothing).
#
#   scripts/try-bare.sh FOLDER [make targets...]      as root; FOLDER is kept, and used again when it is there
#
# The Debian mirror and npm's settings are this machine's own, read when the script runs.
set -euo pipefail
repo=$(cd "$(dirname "$0")/.." && pwd)
root=${1:?usage: scripts/try-bare.sh FOLDER [make targets...]}
shift
targets=("$@")
[ $# -gt 0 ] || targets=(demo test)

[ "$(id -u)" = 0 ] || { echo "try-bare: needs root (chroot)" >&2 && exit 1; }
command -v debootstrap >/dev/null || {
  apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
}

mirror() { # the first Debian mirror of this machine's apt
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*debian* 2>/dev/null |
    sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +(http[^ ]*).*/\3/p' | head -n 1
}

if [ ! -e "$root/.ready" ]; then
  echo "try-bare: debootstrap"
  mkdir -p "$root"
  debootstrap --variant=minbase bookworm "$root" "$(mirror)" >"$root.log" 2>&1 || { tail "$root.log" >&2 && exit 1; }
  # What the network of this machine asks for: nothing of it makes the root less bare.
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  apt-config dump | grep -E '^Acquire::(http|https|Check)' >"$root/etc/apt/apt.conf.d/99network" || true
  mkdir -p "$root/usr/local/share" "$root/etc/ssl/certs" "$root/usr/etc"
  cp -a /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
  cp -aL /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
  for file in "$HOME/.npmrc" /etc/npmrc /usr/etc/npmrc; do
    [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp "$file" "$root$file"; }
  done
  chroot "$root" apt-get update -qq
  # What nobody can do without: git brought the clone here, make starts it.
  chroot "$root" apt-get install -y -qq --no-install-recommends make >>"$root.log" 2>&1
  touch "$root/.ready"
fi

rm -rf "$root/lathe"
git clone -q "$repo" "$root/lathe"
mkdir -p "$root/proc" "$root/dev"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
# Terminals: tests open some, and /dev alone comes without them.
mountpoint -q "$root/dev/pts" || mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts "$root/dev/pts"
trap 'umount "$root/proc" "$root/dev/pts" "$root/dev" 2>/dev/null || true' EXIT

for target in "${targets[@]}"; do
  for round in first second; do
    echo "try-bare: make $target ($round time)"
    start=$SECONDS
    chroot "$root" env -i HOME="$HOME" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      make -C /lathe "$target" </dev/null
    echo "try-bare: make $target ($round time) took $((SECONDS - start)) s"
  done
done
