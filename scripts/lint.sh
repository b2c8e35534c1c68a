#!/usr/bin/env bash
# Layers, headers, names, file names in comments, what yields, and formatting. Says everything that is wrong, then exits 1.
set -euo pipefail
cd "$(dirname "$0")/.."

bad=0
python3 scripts/lint-layers.py || bad=1
python3 scripts/lint-references.py || bad=1
scripts/lint-symbols.sh --canary || bad=1
scripts/lint-symbols.sh || bad=1
for lint in lint-names lint-yields lint-config; do
  python3 scripts/$lint.py --canary || bad=1
  python3 scripts/$lint.py || bad=1
done

mapfile -t files < <(git ls-files -co --exclude-standard 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'include/*.h')
if ! clang-format --dry-run -Werror "${files[@]}"; then
  echo "lint: \`make fmt\` formats the files named above" >&2
  bad=1
fi
for script in scripts/*.sh .ci/run; do
  bash -n "$script" || bad=1
done
exit $bad
