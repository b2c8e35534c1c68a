# shellcheck shell=bash
# What every kind of package begins with; sourced by scripts/packages.sh and scripts/packages/*.sh.

version=$(sed -n 's/^project(lathe VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# All times in packages are that of the version, so that two builds have the same bytes.
SOURCE_DATE_EPOCH=$(date -u -d "$(sed -n 's/^set(LT_VERSION_DATE \(.*\))/\1/p' CMakeLists.txt)" +%s)
export SOURCE_DATE_EPOCH
out=${LATHE_PACKAGES:-$PWD/build/packages}
# The machine that the packages are for: this one, or the one that `make cross-all` builds for.
machine=${LATHE_MACHINE:-$(uname -m)}
case $machine in
  x86_64) arch=x64 deb_arch=amd64 multiarch=x86_64-linux-gnu ;;
  aarch64) arch=arm64 deb_arch=arm64 multiarch=aarch64-linux-gnu ;;
  *) echo "packages: no packages are made for $machine" >&2 && exit 1 ;;
esac
# shellcheck disable=SC2034 # read by the scripts of the kinds
if [ "$machine" = "$(uname -m)" ]; then
  build=build/release work=$out sysroot="" tool="" dpkg_database=/var/lib/dpkg
else
  build=build/$machine work=$out/$machine sysroot=$PWD/build/cross-$machine/sysroot tool=$multiarch-
  dpkg_database=$sysroot/var/lib/dpkg
fi
stage=$work/stage # what `make install DESTDIR=... PREFIX=/usr` leaves
bundle=$work/bundle # program, library and the system's libraries beside them, for what is portable
# The names below which packages would be published, once there are some: .invalid is nobody's. (The plain name belongs to
# others on npm and PyPI.)
npm_scope=${LATHE_NPM_SCOPE:-@lathe.invalid}
# shellcheck disable=SC2034 # read by mcpb.sh
registry_name=${LATHE_REGISTRY_NAME:-invalid.lathe/lathe}
glibc_max=2.34

die() { # message
  echo "packages: $1" >&2
  exit 1
}

needs_command() { # command, Debian package
  command -v "$1" >/dev/null || die "$1 is missing: scripts/setup.sh packages (Debian's $2)"
}

at_most() { # bytes, limit in MB, what
  [ "$1" -le $(($2 * 1000000)) ] || die "$3 has $1 bytes, more than $2 MB"
}

# A folder as a tar file with nothing in it that depends on when, where and by whom it was made.
pack_tar() { # folder, its parent, output without ending
  find "$2/$1" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
  tar -C "$2" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$1" | gzip -n9 >"$3"
}

# Likewise as a zip file: Python's zipfile, since Info-ZIP writes the zone's time.
pack_zip() { # folder, output
  python3 scripts/packages/zip.py "$1" "$2" "$SOURCE_DATE_EPOCH"
}

stage_everything() {
  local size
  [ -x $build/lathe ] || die "$build/lathe is missing: make all, or make cross-all for another machine"
  rm -rf "$stage" "$bundle"
  mkdir -p "$work"
  LATHE=$build/lathe LATHE_HERE=build/release/lathe STRIP=${tool}strip scripts/install.sh install "$stage" /usr >/dev/null
  size=$(stat -c %s "$stage/usr/bin/lathe")
  at_most "$size" 7 "the stripped program"
  echo "packages: the stripped program for $machine has $size bytes"
}
