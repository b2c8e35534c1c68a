#!/usr/bin/env bash
# What `make demo` shows, with two real MCP servers: a program that calls their tools, a conversation in code mode, and what
# is left of one when its process is killed. The model of the conversation is a recording: replies written beforehand, played back by a small server of ours. The programs
# in them are run all the same, on what is there now.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null # what is piped into this is no part of a message

export LATHE_DEMO_MEMORY=$PWD/build/demo-memory.jsonl
export XDG_STATE_HOME=$PWD/build/demo-state
rm -rf "$LATHE_DEMO_MEMORY" "$XDG_STATE_HOME"

show() { # command...
  local word line=
  for word in "$@"; do
    case $word in *" "*) line+=" \"$word\"" ;; *) line+=" $word" ;; esac
  done
  echo "\$$line"
  "$@"
  echo
}

show build/lathe run examples/layers.js --config examples/lathe.yaml

echo "# A conversation. The model is a RECORDING that is played back (examples/recorded), the rest is real."
rm -f "$LATHE_DEMO_MEMORY"
coproc MODEL { exec node examples/recorded-model.mjs examples/recorded/conversation.json --pace=4; } # ends with its input
read -r -u "${MODEL[0]}" _ port
export OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_MODEL=recorded
chat=(build/lathe chat --config examples/lathe.yaml -m code)
show "${chat[@]}" "Which five C files are the longest, and what is each for? Remember them."
show "${chat[@]}" -c last "Which of them has the longest function?"

echo "# The same, and the process is KILLED in the middle of the program (kill -9); another one goes on behind the last call."
question="How many lines has each layer? Note the sum."
echo "\$ ${chat[*]} \"$question\""
"${chat[@]}" "$question" >build/demo-killed.txt 2>&1 &
for _ in $(seq 200); do # until it has told of five layers
  [ "$(grep -c '^- ' build/demo-killed.txt)" -lt 5 ] || break
  sleep 0.05
done
kill -9 $! 2>/dev/null || true
wait $! 2>/dev/null || true
cat build/demo-killed.txt
echo "Killed"
echo
show "${chat[@]}" -c last "How often have you noted it?"

echo "# With a model of your own:  OPENAI_API_KEY=... build/lathe chat -m code --config examples/lathe.yaml"
