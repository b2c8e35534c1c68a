#!/usr/bin/env bash
# What `make demo` shows: a program that calls the tools of two real MCP servers.
set -euo pipefail
cd "$(dirname "$0")/.."

export LATHE_DEMO_MEMORY=$PWD/build/demo-memory.jsonl
rm -f "$LATHE_DEMO_MEMORY"
echo "\$ build/lathe run examples/layers.js --config examples/lathe.yaml"
build/lathe run examples/layers.js --config examples/lathe.yaml
