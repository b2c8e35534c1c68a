#!/usr/bin/env bash
# lathe, liblathe0 and liblathe-dev for Debian 12, by debhelper (packaging/debian).
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

at=$work/deb/lathe-$version

# The staged files at Debian's places, from which dh_install takes them.
place_files() {
  local tmp=$at/debian/staged
  cp -r "$stage" "$tmp"
  mkdir -p "$tmp/usr/lib/$multiarch/pkgconfig" "$tmp/usr/share/zsh"
  mv "$tmp"/usr/lib/liblathe.* "$tmp/usr/lib/$multiarch/"
  mv "$tmp"/usr/lib/pkgconfig/lathe.pc "$tmp/usr/lib/$multiarch/pkgconfig/"
  sed -i "s|^prefix=.*|prefix=/usr|; s|^libdir=.*|libdir=\${prefix}/lib/$multiarch|" "$tmp/usr/lib/$multiarch/pkgconfig/lathe.pc"
  sed -i "s|/lib/liblathe|/lib/$multiarch/liblathe|g" "$tmp"/usr/lib/cmake/lathe/*.cmake
  mv "$tmp/usr/share/doc/lathe/CHANGELOG.md" "$tmp/usr/share/doc/lathe/release-notes.md" # debhelper would take it for its own
  mv "$tmp/usr/share/zsh/site-functions" "$tmp/usr/share/zsh/vendor-completions"
  cp "$tmp/usr/lib/systemd/system/lathe.service" "$at/debian/lathe.service"
  if [ -d "$tmp/usr/libexec" ]; then
    echo 'usr/libexec' >>"$at/debian/liblathe0.install"
  fi
}

changelog() {
  printf 'lathe (%s) unstable; urgency=medium\n\n  * See /usr/share/doc/lathe/release-notes.md.\n\n' "$version"
  printf ' -- The Lathe developers <lathe@lathe.invalid>  %s\n' "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
}

copyright() {
  local file
  printf 'This is Lathe, packed from its own repository.\n\n'
  cat LICENSE
  printf '\nWhat is of others inside the program and the library:\n\n'
  sed -n '/^## Inside/,/^## Tools/p' THIRD_PARTY.md | sed '1d;$d'
  printf 'On Debian the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.\n'
  for file in "$bundle"/licences/{npm-*,libuv1,libyaml-0-2}; do
    ! grep -q 'TERMS AND CONDITIONS FOR USE, REPRODUCTION' "$file" || continue # Apache-2.0
    printf '\n--- %s\n\n' "$(basename "$file" | sed 's/^npm-//')"
    cat "$file"
  done
}

needs_command dh debhelper
make_bundle
rm -rf "$work/deb"
mkdir -p "$at"
cp -r packaging/debian "$at/debian"
place_files
changelog >"$at/debian/changelog"
copyright >"$at/debian/copyright"
for name in lathe liblathe0 liblathe-dev; do
  cp packaging/debian/lintian-overrides "$at/debian/$name.lintian-overrides"
done
# Where the libraries are whose packages the program depends on, and what has them.
export LATHE_SHLIBDEPS="--admindir=$dpkg_database"
[ -z "$sysroot" ] || LATHE_SHLIBDEPS+=" -l$sysroot/usr/lib/$multiarch -l$sysroot/lib/$multiarch"
(cd "$at" && dpkg-buildpackage --host-arch "$deb_arch" -b -nc -uc -us -d) >"$work/deb.log" 2>&1 || {
  tail -n 20 "$work/deb.log" >&2
  die "dpkg-buildpackage failed; the whole log is $work/deb.log"
}
rm -f "$out"/*_"$deb_arch".deb
mv "$work"/deb/*.deb "$out/"
for file in "$out"/*_"$deb_arch".deb; do
  at_most "$(stat -c %s "$file")" 7 "$(basename "$file")"
  echo "packages: $(basename "$file") has $(stat -c %s "$file") bytes"
done
