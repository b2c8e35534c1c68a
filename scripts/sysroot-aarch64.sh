#!/usr/bin/env bash
# Unpacks what a build for aarch64 needs, Debian's packages for arm64, into build/cross-aarch64/sysroot.
#
# The packages are those that scripts/setup.sh names for a build here. apt keeps lists and files below build/cross-aarch64/apt:
# the machine's own packages stay as they are, and root is not needed. The machine's sources of packages must have arm64.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$PWD/build/cross-aarch64
apt=$out/apt
sysroot=$out/sysroot
database=$sysroot/var/lib/dpkg
mapfile -t packages < <(sed -n 's/^build \(lib[^ ]*-dev\) .*/\1/p' scripts/setup.sh)
# Made again when this changes.
list="${packages[*]} $(cksum <scripts/sysroot-aarch64.sh)"

die() { # message
  tail -n 20 "$out/apt.log" >&2
  echo "sysroot: $1; the whole log is build/cross-aarch64/apt.log" >&2
  exit 1
}

# As on a machine for arm64 on which nothing is installed yet: so everything that is needed comes along.
configure_apt() {
  mkdir -p "$apt"/{lists,archives}/partial
  : >"$apt/status"
  cat >"$apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
CONF
  export APT_CONFIG=$apt/apt.conf
}

# Writes down for dpkg-shlibdeps and dpkg-query what a package has, as if it were installed: `make packages` asks them.
register() { # .deb
  local name control part
  name=$(dpkg-deb --field "$1" Package)
  [ "$(dpkg-deb --field "$1" Multi-Arch)" != same ] || name+=:arm64
  control=$(mktemp -d)
  dpkg-deb --control "$1" "$control"
  dpkg-deb --fsys-tarfile "$1" | tar -t | sed -n "s|/$||; s|^\./|$sysroot/|p" >"$database/info/$name.list"
  for part in symbols shlibs; do
    [ ! -e "$control/$part" ] || cp "$control/$part" "$database/info/$name.$part"
  done
  { dpkg-deb --field "$1"; printf 'Status: install ok installed\n\n'; } >>"$database/status"
  rm -rf "$control"
}

[ "$(cat "$sysroot/complete" 2>/dev/null)" != "$list" ] || exit 0
rm -rf "$sysroot" "$apt"
configure_apt
echo "aarch64: getting Debian's packages for arm64"
# A third-party list that cannot be had is no reason to stop: what follows decides.
apt-get update -qq >"$out/apt.log" 2>&1 </dev/null || true
apt-get install -y -qq --download-only "${packages[@]}" >>"$out/apt.log" 2>&1 </dev/null || die "apt-get failed"
mkdir -p "$database/info"
printf 'amd64\narm64\n' >"$database/arch"
echo 1 >"$database/info/format"
for file in "$apt"/archives/*.deb; do
  dpkg-deb --extract "$file" "$sysroot"
  register "$file"
done
# Links that begin at the root of that machine.
find "$sysroot" -lname '/*' | while read -r link; do
  ln -sfn "$sysroot$(readlink "$link")" "$link"
done
rm -rf "$apt"
echo "$list" >"$sysroot/complete"
