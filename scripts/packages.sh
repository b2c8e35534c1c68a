#!/usr/bin/env bash
# Packs what is built into build/packages: `make packages` (docs/internals/packages.md).
#
#   scripts/packages.sh [portable|deb|npm|mcpb|wheel|image]...      all but image, unless some are named
#
# $LATHE_PACKAGES names another folder for them, $LATHE_MACHINE=aarch64 another machine that `make cross-all` has built for.
# Nothing is built here. What is packed is what `make install` installs, so that there is one list of files.
set -euo pipefail
cd "$(dirname "$0")/.."

kinds=("$@")
[ $# -gt 0 ] || kinds=(portable deb npm mcpb wheel)
# The registry's server.json has one bundle, and an image is made where it runs.
[ "${LATHE_MACHINE:-$(uname -m)}" = "$(uname -m)" ] || [ $# -gt 0 ] || kinds=(portable deb npm wheel)
for kind in "${kinds[@]}"; do
  case $kind in
    portable | deb | npm | mcpb | wheel | image) ;;
    *) echo "packages: unknown kind \"$kind\" (portable, deb, npm, mcpb, wheel, image)" >&2 && exit 2 ;;
  esac
done

. scripts/packages/common.sh
stage_everything
for kind in "${kinds[@]}"; do
  "scripts/packages/$kind.sh"
done
