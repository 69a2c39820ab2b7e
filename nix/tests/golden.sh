#!/bin/sh
# Compares the IR of every golden case with what is recorded; `--update` records.
#
# A case is a folder of golden/: main.nix is a plan, ir.json its IR, and, where there is a ledger.json, ir.ledger.json its
# IR with that ledger. Everything that is recorded also has to conform (tests/ir-conformance/check.py).
set -eu

tests=$(cd "$(dirname "$0")" && pwd)
check="$tests/../../tests/ir-conformance/check.py"
atLeast=25
passed=0
failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# 3.0 is 3: which of them Nix prints depends on its version.
layout='
import json, sys
def number(text):
    return int(float(text)) if float(text).is_integer() else float(text)
json.dump(json.load(sys.stdin, parse_float=number), sys.stdout, ensure_ascii=False, sort_keys=True, indent=2)
print()
'

# evaluate <case> [<ledger>]: the IR, laid out for reading, wherever the checkout is.
evaluate() {
  nix-instantiate --eval --strict --json "$tests/plan.nix" --argstr file "$1/main.nix" --argstr ledger "${2-}" \
    > "$out/ir" 2> "$out/err" \
    && python3 -c "$layout" < "$out/ir" | sed "s|$tests|/checkout/nix/tests|" > "$out/new"
}

# compare <case> <recorded> [<ledger>]
compare() {
  name=$(basename "$1")/$2
  if ! evaluate "$1" "${3-}"; then
    echo "FAILED $name: no IR" && cat "$out/err"
    failed=$((failed + 1))
    return
  fi
  if [ "$mode" = --update ]; then cp "$out/new" "$1/$2"; fi
  if diff -u "$1/$2" "$out/new" && python3 "$check" validate "$1/$2"; then
    passed=$((passed + 1))
  else
    echo "FAILED $name"
    failed=$((failed + 1))
  fi
}

mode=${1-}
for case in "$tests"/golden/*/; do
  case=${case%/}
  compare "$case" ir.json
  if [ -e "$case/ledger.json" ]; then compare "$case" ir.ledger.json "$case/ledger.json"; fi
done

if [ "$passed" -lt "$atLeast" ] && [ "$failed" -eq 0 ]; then
  echo "only $passed golden documents were found, expected at least $atLeast"
  failed=1
fi
echo "golden: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
