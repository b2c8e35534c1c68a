#!/usr/bin/env bash
# The Python package with the library inside.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/packages/common.sh
. scripts/packages/bundle.sh

make_bundle
rm -f "$out"/*_"$machine".whl
file=$(python3 scripts/packages/wheel.py "$bundle" "$out" "$machine" "$glibc_max" "$SOURCE_DATE_EPOCH")
echo "packages: $(basename "$file") has $(stat -c %s "$file") bytes"
