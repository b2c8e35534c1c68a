#!/usr/bin/env bash
# Tries the packages of build/packages where nothing of the build is: `make packages-check` (docs/internals/packages.md).
#
#   scripts/packages-check.sh [deb|image|portable]...      deb and image, unless some are named; as root
#
# $LATHE_MACHINE=aarch64: those of `make packages-arm64`, under qemu; portable and deb, unless some are named.
# The bare Debian is made by debootstrap from the mirror that apt uses here, in a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages/common.sh

mirror() {
  local found
  found=$(sed -n 's|^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*/debian\)/* .*|\2|p; s|^URIs: *\(http[^ ]*/debian\)/* *$|\1|p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
  [ -n "$found" ] || die "no Debian mirror in /etc/apt/sources.list"
  echo "$found"
}

is_here() { # is it for this machine?
  [ "$machine" = "$(uname -m)" ]
}

inside() { # command...: in the bare Debian, with its environment
  with_bare chroot "$bare" "$@"
}

with_bare() { # command...: which may change its root to the bare Debian
  local emulated=()
  is_here || emulated=(scripts/with-aarch64.sh --chroot)
  env -i HOME=/srv PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "${emulated[@]}" "$@"
}

expect() { # wanted output, command...
  local got
  got=$("${@:2}") || die "failed: ${*:2}"
  [ "$got" = "$1" ] || die "${*:2}: \"$got\" instead of \"$1\""
  echo "packages-check: ${*:2}: $got"
}

bare_debian() {
  bare=$(mktemp -d /var/tmp/lathe-bare-XXXXXX)
  trap 'umount "$bare/proc" 2>/dev/null || true; rm -rf --one-file-system "$bare"' EXIT
  debootstrap --variant=minbase --arch="$deb_arch" $(is_here || echo --foreign) bookworm "$bare" "$(mirror)" >"$out/debootstrap.log" 2>&1 ||
    die "debootstrap failed: $out/debootstrap.log"
  # In a container debootstrap makes it a link to this machine's, which must stay as it is.
  rm -f "$bare/proc" 2>/dev/null || true
  mkdir -p "$bare/proc"
  mount -t proc proc "$bare/proc" || echo "packages-check: no /proc can be mounted here"
  # What debootstrap has unpacked for another machine is installed by the dpkg of this one, which takes a tenth of the time.
  is_here || with_bare dpkg --root="$bare" --force-all --install "$bare"/var/cache/apt/archives/*.deb >>"$out/debootstrap.log" 2>&1 ||
    die "the bare Debian cannot be installed: $out/debootstrap.log"
  # The mirror may be reached by a proxy or another name: apt inside does as apt outside does.
  cp /etc/apt/apt.conf.d/* "$bare/etc/apt/apt.conf.d/" 2>/dev/null || true
  cp /etc/resolv.conf /etc/hosts "$bare/etc/" 2>/dev/null || true
}

# A compiler under qemu takes minutes: that of this machine is used, with what is installed there.
build_host() {
  local compiler="gcc libc6-dev"
  is_here || compiler=""
  # shellcheck disable=SC2086
  inside apt-get install -y -qq --no-install-recommends pkg-config $compiler >>"$out/bare.log" 2>&1 || return 1
  cp examples/embed/c/order.c "$bare/srv/host.c"
  # shellcheck disable=SC2046
  if is_here; then
    inside sh -c 'gcc /srv/host.c -o /srv/host $(pkg-config --cflags --libs lathe)'
  else
    "$multiarch-gcc" --sysroot="$bare" "$bare/srv/host.c" -o "$bare/srv/host" $(inside pkg-config --cflags --libs lathe)
  fi
}

check_deb() (
  lintian --allow-root --no-cfg --fail-on error,warning "$out"/*_"$deb_arch".deb || die "lintian has something to say"
  echo "packages-check: lintian says nothing"
  bare_debian
  cp "$out"/*_"$deb_arch".deb "$bare/srv/"
  inside apt-get update -qq >"$out/bare.log" 2>&1
  inside sh -c 'apt-get install -y -qq --no-install-recommends /srv/*.deb' >>"$out/bare.log" 2>&1 ||
    die "the packages cannot be installed: $out/bare.log"
  expect 3 inside lathe run -e 1+2
  expect "lathe $version" inside sh -c 'lathe --version | head -n 1'
  expect 7 inside sh -c 'echo "const n: number = 3; n + 4" >/srv/a.ts && lathe run --no-check /srv/a.ts'
  { build_host && inside sh -c '/srv/host </dev/null'; } >"$out/host.log" 2>&1 || die "the example of a host does not run: $out/host.log"
  echo "packages-check: the host in C was built by pkg-config and ran"
  inside apt-get purge -y -qq lathe liblathe0 liblathe-dev >>"$out/bare.log" 2>&1
  expect "" inside sh -c 'find / -xdev -iname "*lathe*" -not -path "/proc/*" -not -path "/srv/*" -not -path "/var/log/*" -not -path "/var/lib/apt/*"'
)

# What is portable, and the programs of the others, for another machine.
check_portable() (
  local libraries
  at=$(mktemp -d)
  trap 'rm -rf "$at"' EXIT
  tar -xzf "$out/lathe-$version-linux-arm64.tar.gz" -C "$at"
  expect 3 emulated "$at/lathe-$version-linux-arm64/bin/lathe" run -e 1+2
  dpkg-deb -x "$out/lathe_${version}_arm64.deb" "$at/deb"
  expect "lathe $version" emulated sh -c "$at/deb/usr/bin/lathe --version | head -n 1"
  tar -xzf "$out"/*-lathe-linux-arm64-"$version".tgz -C "$at"
  expect 3 emulated "$at/package/bin/lathe" run -e 1+2
  tar -xzf "$out/liblathe-$version-linux-arm64.tar.gz" -C "$at"
  python3 -m zipfile -e "$out"/*_aarch64.whl "$at/wheel"
  aarch64-linux-gnu-gcc --sysroot="$PWD/build/cross-aarch64/sysroot" -I"$at/liblathe-$version-linux-arm64/include" \
    -o "$at/order" examples/embed/c/order.c -L"$at/liblathe-$version-linux-arm64/lib" -llathe
  for libraries in "liblathe-$version-linux-arm64/lib" wheel/lathe; do
    expect 7 emulated LD_LIBRARY_PATH="$at/$libraries" sh -c "$at/order </dev/null | grep -o '\"ordered\":7' | cut -d : -f 2"
  done
)

emulated() { # command...: with nothing of this machine's environment
  scripts/with-aarch64.sh env -i HOME=/nonexistent PATH="$PATH" "$@"
}

kinds=("$@")
[ $# -gt 0 ] || if is_here; then kinds=(deb image); else kinds=(portable deb); fi
[ "$(id -u)" = 0 ] || die "a bare Debian is made by root only"
for kind in "${kinds[@]}"; do
  case $kind in
    deb) check_deb ;;
    image) scripts/packages/image.sh check ;;
    portable) check_portable ;;
    *) die "unknown kind \"$kind\" (deb, image, portable)" ;;
  esac
done
