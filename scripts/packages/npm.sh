#!/usr/bin/env bash
# Two packages for npm: a launcher, and the program for this platform, which the launcher asks for by optionalDependencies.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

common_members() { # description
  cat <<JSON
  "version": "$version",
  "private": true,
  "description": "$1",
  "license": "MIT",
JSON
}

launcher() {
  local at=$1
  mkdir -p "$at"
  cp packaging/npm/launcher.js packaging/npm/README.md LICENSE "$at/"
  cat >"$at/package.json" <<JSON
{
  "name": "$npm_scope/lathe",
$(common_members "Code mode for language-model agents")
  "mcpName": "$registry_name",
  "bin": { "lathe": "launcher.js" },
  "engines": { "node": ">=18" },
  "optionalDependencies": {
    "$npm_scope/lathe-linux-x64": "$version",
    "$npm_scope/lathe-linux-arm64": "$version"
  }
}
JSON
}

# Its bin is the program itself, so that `npx` with this package's name starts no Node.js for it.
platform() {
  local at=$1
  mkdir -p "$at/lib"
  cp -r "$bundle/bin" "$bundle/licences" "$at/"
  find "$bundle/lib" -type f ! -name 'liblathe*' -exec cp {} "$at/lib/" \;
  cp packaging/npm/README.md LICENSE "$at/"
  cat >"$at/package.json" <<JSON
{
  "name": "$npm_scope/lathe-linux-$arch",
$(common_members "Lathe's program for Linux, $arch")
  "os": ["linux"],
  "cpu": ["$arch"],
  "libc": ["glibc"],
  "bin": { "lathe-linux-$arch": "bin/lathe" }
}
JSON
}

make_bundle
rm -rf "$work/npm"
launcher "$work/npm/lathe"
platform "$work/npm/lathe-linux-$arch"
for name in lathe "lathe-linux-$arch"; do
  file=$(cd "$work/npm/$name" && npm pack --silent --ignore-scripts --pack-destination "$out")
  at_most "$(stat -c %s "$out/$file")" 8 "$file"
  echo "packages: $file has $(stat -c %s "$out/$file") bytes"
done
