#!/usr/bin/env bash
# Tries `lathe mcp` in real clients: Claude Code, Codex, opencode and Gemini CLI from npm, with a scripted model on
# loopback in place of a provider. `lathe mcp install` sets each of them up. Prints a table; not part of `make test`,
# because the packages have a gigabyte.
#
#   scripts/try-clients.sh FOLDER [CLIENT...]     FOLDER keeps the packages; LATHE=... tries another program,
#                                                 TRY_KEEP=1 keeps the clients' homes with their logs,
#                                                 TRY_OVER=stdio or HTTP tries that alone
set -euo pipefail
repo=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: scripts/try-clients.sh FOLDER [CLIENT...]}
shift
mkdir -p "$folder"
if [ ! -e "$folder/node_modules/.bin/gemini" ]; then
  (cd "$folder" && { [ -e package.json ] || echo '{"private":true}' >package.json; } &&
    nice npm install --no-audit --no-fund --loglevel=error \
      @anthropic-ai/claude-code @openai/codex opencode-ai @google/gemini-cli)
fi
exec node "$repo/tests/clients/try.mjs" "${LATHE:-$repo/build/lathe}" "$folder" "$@"
