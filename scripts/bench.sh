#!/usr/bin/env bash
# Prints what machine this is and the table of measurements (bench/); the same table as markdown goes to build/bench.md.
# bench/side-by-side.mjs has a table of its own. Never fails: a line that cannot be measured says why.
#
#   scripts/bench.sh [QUESTION]...    side-by-side start calls suspended process python deno types typecheck find json stop compute intl mcp gateway serve library model agent journal replay fiber tokens
cd "$(dirname "$0")/.." || exit 0

# A virtual machine may say "AMD EPYC" of processors that are years apart: the family tells them from each other.
processor() {
  awk -F '[[:space:]]*: ' '$1 == "cpu family" { family = $2 } $1 == "model" { model = $2 } $1 == "model name" { name = $2 }
    END { print name (name == "" || name ~ /[0-9]/ ? "" : " (family " family ", model " model ")") }' /proc/cpuinfo
}

LATHE_BENCH_PROCESSOR=$(processor)
export LATHE_BENCH_PROCESSOR
machine() {
  echo "${LATHE_BENCH_PROCESSOR:-$(uname -m)}, $(nproc) cores, Linux $(uname -r), $(date +%F), load $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

# The package of packages/python, compiled as an installed one is.
export PYTHONPATH=$PWD/packages/python PYTHONPYCACHEPREFIX=$PWD/build/pycache LATHE_LIBRARY=$PWD/build/release/liblathe.so.0
unset PYTHONDONTWRITEBYTECODE
# The program behind a version manager's wrapper, which would be measured with it.
export LATHE=$PWD/build/release/lathe
export LATHE_BENCH_NODE LATHE_BENCH_NEW_NODE LATHE_BENCH_PYTHON LATHE_BENCH_DENO
PATH=$PATH:$PWD/node_modules/.bin:$PWD/tests/node_modules/.bin
LATHE_BENCH_NODE=$(node -p process.execPath 2>/dev/null)
# isolated-vm asks for version 24; what it is measured beside runs in the same one.
LATHE_BENCH_NEW_NODE=$(ls "$PWD"/bench/peers/node_modules/node-linux-*/bin/node 2>/dev/null | head -n 1)
: "${LATHE_BENCH_NEW_NODE:=$LATHE_BENCH_NODE}"
LATHE_BENCH_PYTHON=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
LATHE_BENCH_DENO=$(deno eval 'console.log(Deno.execPath())' 2>/dev/null)

LATHE_BENCH_EXECUTOR=$(ls "$PWD"/bench/peers/node_modules/executor-linux-*/bin/executor 2>/dev/null | head -n 1)
export LATHE_BENCH_EXECUTOR LATHE_BENCH_MD=$PWD/build/bench.md
# Our npm packages, when they have been packed, as somebody installs them.
npm_packages=("$PWD"/build/packages/*lathe-[0-9]*.tgz "$PWD"/build/packages/*lathe-linux-*.tgz)
if [ -e "${npm_packages[0]}" ] && mkdir -p build/npx && echo '{"private": true}' >build/npx/package.json &&
  npm install --prefix build/npx --offline --no-audit --no-fund --silent "${npm_packages[@]}" >/dev/null 2>&1; then
  export LATHE_BENCH_NPX=$PWD/build/npx
fi
{ machine && echo; } | tee "$LATHE_BENCH_MD"
case " ${*:-side-by-side} " in
  *" side-by-side "*) timeout 1200 "${LATHE_BENCH_NODE:-node}" bench/side-by-side.mjs </dev/null || echo "bench: side-by-side: stopped before its end" ;;
esac
# The machine's other work is in these figures: the smallest and the middle ones tell more than the 99th percentile.
if [ "$*" != side-by-side ]; then
  timeout 900 build/release/lt_bench "$@" </dev/null || echo "bench: stopped before its end"
fi
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
