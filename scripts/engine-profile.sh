#!/bin/bash
# Finds out which paths of the engine programs take: compiles the engine so that it counts them, runs bench/training, and
# writes src/sandbox/engine.gcda.gz, by which gcc compiles the engine from then on (make engine-profile). To be done again
# when the engine, wabt or gcc change; the programs of the bench are others, so that figures stay honest.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/profile
mkdir -p "$out/engine"
cp build/engine/qjs.c build/engine/qjs.h build/engine/wasm-rt.h "$out/engine"
echo "Compiling an engine that counts (a minute or two)"
(cd "$out/engine" && gcc "$@" -fprofile-generate -c qjs.c -o qjs.o)
ar rcs "$out/engine/libqjs.a" "$out/engine/qjs.o"
cmake -S . -B "$out/lathe" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DLT_ENGINE_LIBRARY="$out/engine/libqjs.a" -DCMAKE_C_STANDARD_LIBRARIES=-lgcov >"$out/cmake.log"
cmake --build "$out/lathe" --target lathe >"$out/build.log"
rm -f "$out/engine/qjs.gcda" # what making the images took is no training
for program in bench/training/*.js; do
  echo "  $program"
  "$out/lathe/lathe" run "$program" >/dev/null 2>&1
done
gzip -9nc "$out/engine/qjs.gcda" >src/sandbox/engine.gcda.gz
ls -l src/sandbox/engine.gcda.gz
