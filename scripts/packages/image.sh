#!/usr/bin/env bash
# A container image with nothing in it but Lathe, what it loads, and certificates: serves as a user that is not root.
#
#   scripts/packages/image.sh [check]      `check` runs it by crun instead of packing it
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

root=$out/image/root
user=65532
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
  mkdir -p "$root"/{etc/lathe,etc/ssl/certs,tmp,usr/bin,usr/lib,usr/share/doc/lathe,var/lib/lathe}
  copy_glibc
  ln -s usr/lib "$root/lib"
  cp "$bundle/bin/lathe" "$root/usr/bin/"
  find "$bundle/lib" -type f ! -name 'liblathe*' -exec cp {} "$root/usr/lib/" \;
  [ ! -d "$stage/usr/libexec" ] || cp -r "$stage/usr/libexec" "$root/usr/"
  cp "$bundle"/licences/* "$root/usr/share/doc/lathe/licences/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  echo "lathe:x:$user:$user:Lathe:/var/lib/lathe:/nonexistent" >"$root/etc/passwd"
  echo "lathe:x:$user:" >"$root/etc/group"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  chmod 1777 "$root/tmp"
  chmod 700 "$root/var/lib/lathe"
  chown "$user:$user" "$root/var/lib/lathe"
}

pack() {
  local container name args=()
  needs_command buildah buildah
  export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
  local buildah=(buildah --root "$out/image/storage" --runroot "$out/image/run")
  for name in "${environment[@]}"; do
    args+=(--env "$name")
  done
  container=$("${buildah[@]}" from scratch)
  find "$root" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
  "${buildah[@]}" add --quiet "$container" "$root" / >/dev/null
  "${buildah[@]}" config "${args[@]}" --user "$user:$user" --workingdir /var/lib/lathe --volume /var/lib/lathe --port 8420 \
    --entrypoint '["/usr/bin/lathe"]' --cmd "serve --listen 0.0.0.0:8420" --label "org.opencontainers.image.version=$version" \
    --label org.opencontainers.image.licenses=MIT "$container"
  "${buildah[@]}" commit --quiet --timestamp "$SOURCE_DATE_EPOCH" --rm "$container" \
    "oci-archive:$out/lathe-$version-linux-$arch.oci.tar:lathe:$version" >/dev/null
  echo "packages: lathe-$version-linux-$arch.oci.tar has $(stat -c %s "$out/lathe-$version-linux-$arch.oci.tar") bytes"
}

check() {
  local container=$out/image/container
  needs_command crun crun
  mkdir -p "$container"
  cp -a "$root" "$container/rootfs"
  (cd "$container" && rm -f config.json && crun spec)
  python3 - "$container/config.json" $user "${environment[@]}" <<'PYTHON'
import json, sys
path, user, environment = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
with open(path) as file:
    spec = json.load(file)
spec["process"].update(terminal=False, user={"uid": user, "gid": user}, args=["/usr/bin/lathe", "run", "-e", "1+2"],
                       env=environment, cwd="/var/lib/lathe")
with open(path, "w") as file:
    json.dump(spec, file)
PYTHON
  crun --root "$out/image/state" run --bundle "$container" "lathe-$$" </dev/null
}

make_bundle
make_root
case ${1:-} in
  check)
    echo "packages-check: the image by crun: $(check)"
    ;;
  *) pack ;;
esac
