#!/usr/bin/env bash
# A container image with nothing in it but Lathe, what it loads, and certificates: serves as a user that is not root.
#
#   scripts/packages/image.sh [check]      `check` runs it
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

root=$out/image/root
user=65532
archive=$out/lathe-$version-linux-$arch.oci.tar
buildah=(buildah --root "$out/image/storage" --runroot "$out/image/run" --storage-driver vfs)
environment=(HOME=/var/lib/lathe XDG_CONFIG_HOME=/etc XDG_STATE_HOME=/var/lib/lathe XDG_CACHE_HOME=/var/lib/lathe/cache
  SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt PATH=/usr/bin)

# glibc is the one part that the portable files take from the system. Names are resolved by its modules.
copy_glibc() {
  local name path loader
  loader=$(patchelf --print-interpreter "$bundle/bin/lathe")
  install -D -m 755 "$(readlink -f "$loader")" "$root$loader"
  for name in libc.so.6 libm.so.6 libresolv.so.2 libpthread.so.0 libdl.so.2 librt.so.1 libnss_dns.so.2 libnss_files.so.2; do
    path=$(library_path "$name")
    install -D -m 644 "$path" "$root/usr/lib/$name"
  done
  mkdir -p "$root/usr/share/doc/lathe/licences"
  cp -L /usr/share/doc/libc6/copyright "$root/usr/share/doc/lathe/licences/libc6"
}

make_root() {
  rm -rf "$out/image"
  mkdir -p "$root"/{etc/lathe,etc/ssl/certs,tmp,usr/bin,usr/lib,usr/share/doc/lathe,var/lib}
  copy_glibc
  ln -s usr/lib "$root/lib"
  cp "$bundle/bin/lathe" "$root/usr/bin/"
  find "$bundle/lib" -type f ! -name 'liblathe*' -exec cp {} "$root/usr/lib/" \;
  cp "$bundle"/licences/* "$root/usr/share/doc/lathe/licences/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  echo "lathe:x:$user:$user:Lathe:/var/lib/lathe:/nonexistent" >"$root/etc/passwd"
  echo "lathe:x:$user:" >"$root/etc/group"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  chmod 1777 "$root/tmp"
}

pack() {
  local container name args=()
  for name in "${environment[@]}"; do
    args+=(--env "$name")
  done
  container=$("${buildah[@]}" from scratch)
  mkdir -p "$out/image/empty"
  find "$root" "$out/image/empty" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
  "${buildah[@]}" add --quiet "$container" "$root" / >/dev/null
  "${buildah[@]}" add --quiet --chown "$user:$user" --chmod 700 "$container" "$out/image/empty" /var/lib/lathe >/dev/null
  "${buildah[@]}" config "${args[@]}" --user "$user:$user" --workingdir /var/lib/lathe --volume /var/lib/lathe --port 8420 \
    --entrypoint '["/usr/bin/lathe"]' --cmd "serve --listen 0.0.0.0:8420" --label "org.opencontainers.image.version=$version" \
    --label org.opencontainers.image.licenses=MIT "$container"
  "${buildah[@]}" commit --quiet --timestamp "$SOURCE_DATE_EPOCH" --rm "$container" \
    "oci:$out/image/oci:lathe:$version" >/dev/null
  # Not buildah's own archive, whose entries have the time of their making.
  find "$out/image/oci" -print0 | xargs -0 touch -d "@$SOURCE_DATE_EPOCH"
  tar -C "$out/image/oci" --sort=name --owner=0 --group=0 --numeric-owner --format=gnu -cf "$archive" blobs index.json oci-layout
  echo "packages: $(basename "$archive") has $(stat -c %s "$archive") bytes"
}

# Runs what was packed, by runc: crun, buildah's default, refuses a machine with control groups of both versions.
check() {
  local container address
  needs_command runc runc
  [ -e "$archive" ] || pack
  container=$("${buildah[@]}" from "oci-archive:$archive")
  within=("${buildah[@]}" run --isolation oci --runtime runc --network host "$container" --)
  [ "$("${within[@]}" /usr/bin/lathe run -e 1+2)" = 3 ] || die "the image does not run a program"
  "${within[@]}" /usr/bin/lathe run -e 'throw 1' 2>/dev/null && die "the image does not fail when it should"
  timeout 20 "${within[@]}" /usr/bin/lathe serve --listen 127.0.0.1:0 >"$out/image/serve.log" 2>&1 &
  for _ in $(seq 100); do
    address=$(grep -o 'http://127.0.0.1:[0-9]*' "$out/image/serve.log" | head -n 1) && break
    sleep 0.1
  done
  [ -n "$address" ] || die "the image does not serve: $out/image/serve.log"
  curl -fsS "$address/healthz" >"$out/image/health.json" || die "the image does not answer"
  pgrep -u "$user" -x lathe >/dev/null || die "the image serves as another user"
  kill %1
  wait %1 || true
  "${buildah[@]}" rm "$container" >/dev/null
  echo "packages-check: the image runs a program, serves as user $user, and answers: $(head -c 200 "$out/image/health.json")"
}

needs_command buildah buildah
make_bundle
make_root
case ${1:-} in
  check) check ;;
  *) pack ;;
esac
