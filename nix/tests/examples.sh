#!/bin/sh
# Evaluates every example and the template, and checks that what they give conforms.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
atLeast=3
passed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

for example in "$root"/examples/*/default.nix; do
  nix-instantiate --eval --strict --json "$root/nix/tests/plan.nix" --argstr file "$example" --argstr ledger "" > "$out/ir"
  python3 "$root/tests/ir-conformance/check.py" validate "$out/ir"
  passed=$((passed + 1))
done

if [ "$passed" -lt "$atLeast" ]; then
  echo "only $passed examples were found, expected at least $atLeast"
  exit 1
fi
echo "examples: $passed passed, 0 failed"
