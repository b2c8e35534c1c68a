#!/usr/bin/env bash
# Prints what machine this is and the table of measurements (bench/); the same table as markdown goes to build/bench.md.
# Never fails: a line that cannot be measured says why.
#
#   scripts/bench.sh [QUESTION]...    start calls suspended process python deno types typecheck find json stop compute intl mcp gateway serve library model agent journal replay fiber tokens
cd "$(dirname "$0")/.." || exit 0

machine() {
  local model
  model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
  echo "${model:-$(uname -m)}, $(nproc) cores, Linux $(uname -r)"
}

# The package of packages/python, compiled as an installed one is.
export PYTHONPATH=$PWD/packages/python PYTHONPYCACHEPREFIX=$PWD/build/pycache LATHE_LIBRARY=$PWD/build/release/liblathe.so.0
unset PYTHONDONTWRITEBYTECODE
# The program behind a version manager's wrapper, which would be measured with it.
export LATHE=$PWD/build/release/lathe
export LATHE_BENCH_NODE LATHE_BENCH_NEW_NODE LATHE_BENCH_PYTHON LATHE_BENCH_DENO
PATH=$PATH:$PWD/node_modules/.bin:$PWD/tests/node_modules/.bin
LATHE_BENCH_NODE=$(node -p process.execPath 2>/dev/null)
# isolated-vm asks for version 22; tests/node has it where the installed one is older.
LATHE_BENCH_NEW_NODE=$LATHE_BENCH_NODE
[ "$(node -p 'parseInt(process.versions.node) < 22' 2>/dev/null)" = false ] ||
  LATHE_BENCH_NEW_NODE=$(echo "$PWD"/tests/node/node_modules/node-linux-*/bin/node)
LATHE_BENCH_PYTHON=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
LATHE_BENCH_DENO=$(deno eval 'console.log(Deno.execPath())' 2>/dev/null)

export LATHE_BENCH_MD=$PWD/build/bench.md
{ machine && echo; } | tee "$LATHE_BENCH_MD"
# The machine's other work is in these figures: the smallest and the middle ones tell more than the 99th percentile.
timeout 900 build/release/lt_bench "$@" </dev/null || echo "bench: stopped before its end"
case " ${*:-gateway} " in
  *" gateway "*) timeout 120 "${LATHE_BENCH_NODE:-node}" bench/gateway-http.mjs </dev/null || echo "bench: gateway-http: stopped before its end" ;;
esac
case " ${*:-serve} " in
  *" serve "*) timeout 120 "${LATHE_BENCH_NODE:-node}" bench/page-load.mjs </dev/null || echo "bench: page-load: stopped before its end" ;;
esac
case " ${*:-tokens} " in
  *" tokens "*) timeout 300 "${LATHE_BENCH_NODE:-node}" bench/tokens.mjs </dev/null || echo "bench: tokens: stopped before its end" ;;
esac
exit 0
