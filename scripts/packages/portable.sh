#!/usr/bin/env bash
# Two tarballs that run on every Linux with glibc 2.34 or newer: the program, and the library for those who embed it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

finish() { # name of the folder in $work/portable
  local size
  size=$(du -sb "$work/portable/$1" | cut -f 1)
  at_most "$size" 20 "$1, unpacked,"
  pack_tar "$1" "$work/portable" "$out/$1.tar.gz"
  echo "packages: $1.tar.gz has $(stat -c %s "$out/$1.tar.gz") bytes, unpacked $size"
}

program() { # name
  local at=$work/portable/$1
  mkdir -p "$at"
  cp -r "$bundle/bin" "$bundle/licences" "$at"
  mkdir "$at/lib"
  find "$bundle/lib" -type f ! -name 'liblathe*' -exec cp {} "$at/lib/" \;
  cp -r "$stage/usr/share" "$at/share"
  rm "$at/share/doc/lathe/installed.txt"
  cp packaging/portable.md "$at/README.md"
}

library() { # name
  local at=$work/portable/$1
  mkdir -p "$at"
  cp -r "$bundle/lib" "$bundle/licences" "$at"
  rm -f "$at"/lib/{libedit,libtinfo,libbsd,libmd}.so.*  # lines at a terminal are the program's
  ln -s liblathe.so.0 "$at/lib/liblathe.so"
  mkdir -p "$at/include" "$at/lib/pkgconfig"
  cp "$stage/usr/include/lathe.h" "$at/include/"
  cp "$stage"/usr/lib/pkgconfig/lathe.pc "$at/lib/pkgconfig/"
  cp docs/guide/embedding.md "$at/README.md"
  [ ! -d "$bundle/libexec" ] || cp -r "$bundle/libexec" "$at/"
}

make_bundle
rm -rf "$work/portable"
program "lathe-$version-linux-$arch"
library "liblathe-$version-linux-$arch"
finish "lathe-$version-linux-$arch"
finish "liblathe-$version-linux-$arch"
