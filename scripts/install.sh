#!/usr/bin/env bash
# Installs the program with its manual pages, completions, unit of systemd and documentation, and the library where it is built
# beside the program; or removes just these files.
#
#   scripts/install.sh install|uninstall DESTDIR PREFIX
#
# $LATHE names the program to install (build/lathe). Where it is built for another machine, $LATHE_HERE names one that runs on
# this one, and $STRIP the other's strip. Configuration and state (databases, logins) are the user's: they are never touched.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."

job=$1 destdir=$2 prefix=$3 root=$2$3
program=${LATHE:-build/lathe}
here=${LATHE_HERE:-$program}
list=share/doc/lathe/installed.txt # what uninstall removes

put() { # path below the prefix, mode: installs what is on standard input
  install -D -m "$2" /dev/stdin "$root/$1"
  echo "$1" >>"$root/$list"
}

install_all() {
  local page file
  mkdir -p "$root/$(dirname $list)"
  printf '%s\n' "$list" bin/lathe >"$root/$list"
  install -D -m 755 --strip --strip-program="${STRIP:-strip}" "$program" "$root/bin/lathe"
  while read -r page; do
    # shellcheck disable=SC2086 # the words of a command
    "$here" __man $page | put "share/man/man1/${page// /-}.1" 644
  done < <("$here" __man)
  "$here" completion bash | put share/bash-completion/completions/lathe 644
  "$here" completion zsh | put share/zsh/site-functions/_lathe 644
  "$here" completion fish | put share/fish/vendor_completions.d/lathe.fish 644
  sed "s|/usr/local/bin/lathe|$prefix/bin/lathe|" packaging/lathe.service | put lib/systemd/system/lathe.service 644
  for file in README.md CHANGELOG.md LICENSE THIRD_PARTY.md docs/guide/*.md docs/clients/*.md; do
    put "share/doc/lathe/${file#docs/}" 644 <"$file"
  done
}

# What those get who build against it, and lathe-exec, which starts its children.
install_library() {
  local build
  build=$(dirname "$(realpath "$program")")
  [ -e "$build/liblathe.so" ] || return 0 # built for a sanitizer
  DESTDIR=$destdir cmake --install "$build" --component library --prefix "$prefix" --strip >/dev/null
  awk -v above="$prefix/" '{ print substr($0, length(above) + 1) }' "$build/install_manifest_library.txt" >>"$root/$list"
  if [ -z "$destdir" ] && [ "$(id -u)" = 0 ]; then
    ldconfig
  fi
}

uninstall_all() {
  local file
  [ -e "$root/$list" ] || { echo "uninstall: $root/$list is not there: nothing was installed below $root by make install" >&2; exit 1; }
  while read -r file; do
    rm -f "$root/$file"
    (cd "$root" && rmdir -p "$(dirname "$file")" 2>/dev/null) || true # folders that are empty now
  done < <(tac "$root/$list")
}

case $job in
  install)
    install_all
    install_library
    echo "installed $prefix/bin/lathe with manual pages, completions and the library; make uninstall removes them"
    ;;
  uninstall) uninstall_all ;;
  *)
    echo "usage: scripts/install.sh install|uninstall DESTDIR PREFIX" >&2
    exit 2
    ;;
esac
