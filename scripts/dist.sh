#!/usr/bin/env bash
# Packs the sources of the last commit, with generated files of build/ below generated/, as build/lathe-VERSION.tar.xz.
# Two runs give the same bytes.
#
#   scripts/dist.sh FILE...      such as engine/qjs.c
#
# $LATHE_XZ is how thoroughly it is packed (-6): tests do not wait for that.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages/npm-licences.sh

[ -z "$(git status --porcelain)" ] || { echo "dist: there are changes that are not committed; they would be left out" >&2 && exit 1; }
version=$(sed -n 's/^project(lathe VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
seconds=$(git log -1 --format=%ct)
name=lathe-$version
work=$(mktemp -d build/dist.XXXXXX)
trap 'rm -rf "$work"' EXIT

git archive --prefix="$name/" HEAD | tar -x -C "$work"
for file in "$@"; do
  install -D -m 644 "build/$file" "$work/$name/generated/$file"
done
mkdir "$work/$name/generated/licences"
copy_npm_licences "$work/$name/generated/licences"
install -m 644 /usr/share/doc/wabt/copyright "$work/$name/generated/licences/wabt" # of wasm-rt.h
tar -C "$work" --sort=name --mtime="@$seconds" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w -c "$name" |
  xz "${LATHE_XZ:--6}" -T1 >"$work/tar.xz"
mv "$work/tar.xz" "build/$name.tar.xz"
echo "build/$name.tar.xz: $(du -k "build/$name.tar.xz" | cut -f 1) KiB"
