# shellcheck shell=bash
# Sourced after common.sh: makes build/packages/bundle, which is all that portable packages are made of.
#
#   bin/lathe          finds its libraries in ../lib, whoever starts it
#   lib/liblathe.so.0  finds them beside itself
#   libexec/lathe/     what the library starts its children through
#   lib/*.so.N         the system's shared libraries, but for glibc
#   licences/PACKAGE   each one's copyright file
#
# libcurl is linked with libraries of protocols and encodings that Lathe never asks it for, libmicrohttpd with one for
# serving TLS, which Lathe leaves to a proxy. They would have 12 MB. Each has a placeholder: a library with the same
# names, whose functions do nothing and fail. Its file is called absent-NAME, so that other libraries of a host's process
# never get it for the real one. A user who wants the real one puts it in its place. What is missed: a host name beyond ASCII
# has to be written as it is resolved (xn--...).

. scripts/packages/npm-licences.sh

# What the program and the library load: linked, and by src/io/*_open.c when it is needed.
loaded=(libuv.so.1 libyaml-0.so.2 libsqlite3.so.0 libcurl.so.4 libcrypto.so.3 libmicrohttpd.so.12 libedit.so.2)
placeholders=(libldap-2.5.so.0 liblber-2.5.so.0 librtmp.so.1 libssh2.so.1 libgssapi_krb5.so.2 libgnutls.so.30
  libzstd.so.1 libbrotlidec.so.1 libidn2.so.0 libpsl.so.5)
of_the_system='^(libc|libm|libresolv|libpthread|libdl|librt|ld-linux-[a-z0-9-]*)\.so\.'

library_path() { # soname
  local path
  if [ -n "$sysroot" ]; then
    path=$(find "$sysroot/usr/lib/$multiarch" "$sysroot/lib/$multiarch" -maxdepth 1 -name "$1" | head -n 1)
  else
    path=$(ldconfig -p | awk -v name="$1" '$1 == name && !path { path = $NF } END { print path }')
  fi
  [ -n "$path" ] || die "$1 is not installed"
  readlink -f "$path"
}

needed_of() { # file: sonames
  "${tool}objdump" -p "$1" | awk '$1 == "NEEDED" { print $2 }'
}

is_placeholder() { # soname
  [[ " ${placeholders[*]} " == *" $1 "* ]]
}

# The transitive libraries of `loaded`, without the system's and without what only placeholders would need.
bundled_libraries() {
  local queue=("${loaded[@]}") name next seen=" "
  while [ ${#queue[@]} -gt 0 ]; do
    name=${queue[0]} queue=("${queue[@]:1}")
    [[ "$seen" != *" $name "* ]] || continue
    seen+="$name "
    echo "$name"
    is_placeholder "$name" && continue
    for next in $(needed_of "$(library_path "$name")"); do
      [[ $next =~ $of_the_system ]] || queue+=("$next")
    done
  done
}

# The names of a library that others in lib/ ask for, with their versions, as C and as a map of versions.
make_placeholder() { # soname
  local answer=0 work
  # 0 is success for what libcurl starts with it, but must not be for a question about LDAP's version.
  [[ $1 != libldap* ]] || answer=-1
  work=$(mktemp -d)
  "${tool}nm" -D --defined-only --with-symbol-versions "$(library_path "$1")" | awk -v answer=$answer -v map="$work/map" '
    NR == FNR { asked[$1]; next }
    { split($3, part, /@+/) }
    !(part[1] in asked) || $2 == "A" { next }
    $2 ~ /[TWi]/ { print "long " part[1] "(void) { return " answer "; }" }
    $2 ~ /[BDRV]/ { print "const void *const " part[1] "[16] = {0};" }
    { names[part[2]] = names[part[2]] " " part[1] ";" }
    END { for (node in names) print node " { global:" names[node] (node == "" ? " local: *;" : "") " };" >map }
  ' "$bundle/asked" - | LC_ALL=C sort >"$work/placeholder.c"
  LC_ALL=C sort -o "$work/map" "$work/map"
  (cd "$work" && "${tool}gcc" -shared -fPIC -O1 -w -nostdlib -s -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-soname,"absent-$1" \
    -Wl,--version-script=map -o "$bundle/lib/absent-$1" placeholder.c) || die "no placeholder for $1"
  rm -rf "$work"
}

dpkg_owner() { # file: "PACKAGE:ARCHITECTURE: FILE"
  dpkg --admindir="$dpkg_database" -S "$1"
}

copy_licence() { # file of a Debian package
  local package
  package=$(dpkg_owner "$1" 2>/dev/null || dpkg_owner "${1#/usr}") || die "no Debian package has $1: its licence is not known"
  package=${package%%:*}
  cp -L "$sysroot/usr/share/doc/$package/copyright" "$bundle/licences/$package"
}

check_glibc() { # file...
  local file newest
  for file in "$@"; do
    newest=$("${tool}objdump" -T "$file" | { grep -o 'GLIBC_[0-9.]*' || true; } | sort -uV | tail -n 1)
    [ "$(printf '%s\n' "GLIBC_$glibc_max" "$newest" | sort -V | tail -n 1)" = "GLIBC_$glibc_max" ] ||
      die "$file needs $newest, newer than $glibc_max"
  done
}

make_bundle() {
  local name path
  [ ! -e "$bundle/complete" ] || return 0
  needs_command patchelf patchelf
  rm -rf "$bundle"
  mkdir -p "$bundle"/{bin,lib,licences}
  cp "$stage/usr/bin/lathe" "$bundle/bin/"
  cp "$(readlink -f "$stage"/usr/lib/liblathe.so)" "$bundle/lib/liblathe.so.0"
  for name in $(bundled_libraries); do
    is_placeholder "$name" && continue
    path=$(library_path "$name")
    install -m 644 "$path" "$bundle/lib/$name"
    copy_licence "$path"
  done
  find "$bundle/lib" -type f -print0 | xargs -0 -n 1 "${tool}nm" -D -u |
    awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u >"$bundle/asked"
  for name in "${placeholders[@]}"; do
    make_placeholder "$name"
    patchelf --replace-needed "$name" "absent-$name" "$bundle"/lib/{libcurl,libmicrohttpd}.so.*
  done
  # Not the newer RUNPATH: that is not asked for what a library of lib/ loads, and so Debian's files can stay as they are.
  patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$bundle/bin/lathe"
  patchelf --force-rpath --set-rpath '$ORIGIN' "$bundle/lib/liblathe.so.0"
  chmod 755 "$bundle/bin/lathe"
  if [ -e "$stage/usr/libexec/lathe/lathe-exec" ]; then
    install -D -m 755 "$stage/usr/libexec/lathe/lathe-exec" "$bundle/libexec/lathe/lathe-exec"
    # In its folder below PREFIX, and beside the library.
    patchelf --force-rpath --set-rpath '$ORIGIN/../../lib:$ORIGIN' "$bundle/libexec/lathe/lathe-exec"
  fi
  check_glibc "$bundle/bin/lathe" "$bundle"/lib/*
  cp THIRD_PARTY.md "$bundle/licences/THIRD_PARTY.md"
  cp LICENSE "$bundle/licences/lathe"
  copy_npm_licences "$bundle/licences"
  touch "$bundle/complete"
}
