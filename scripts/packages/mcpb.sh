#!/usr/bin/env bash
# A bundle for clients that install MCP servers from a file (.mcpb), and server.json for the registry of MCP.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

file=lathe-$version-linux-$arch.mcpb
# Where the bundle would be downloaded from.
url=${LATHE_MCPB_URL:-https://lathe.invalid/$file}

make_bundle
rm -rf "$out/mcpb"
mkdir -p "$out/mcpb/server/lib"
cp -r "$bundle/bin" "$bundle/licences" "$out/mcpb/server/"
find "$bundle/lib" -type f ! -name 'liblathe*' -exec cp {} "$out/mcpb/server/lib/" \;
cp LICENSE "$out/mcpb/"
sed "s|@VERSION@|$version|" packaging/mcp/manifest.json >"$out/mcpb/manifest.json"
pack_zip "$out/mcpb" "$out/$file"
sed "s|@VERSION@|$version|; s|@NAME@|$registry_name|; s|@PACKAGE@|$npm_scope/lathe|; s|@BUNDLE@|$url|
  s|@SHA256@|$(sha256sum "$out/$file" | cut -d ' ' -f 1)|" packaging/mcp/server.json >"$out/server.json"
echo "packages: $file has $(stat -c %s "$out/$file") bytes; server.json names it"
