#!/bin/sh
# Makes stacks by chance (generated.nix) and checks that what the library gives for them conforms.
set -eu

tests=$(cd "$(dirname "$0")" && pwd)
check="$tests/../../tests/ir-conformance/check.py"
seeds=${1-6}
passed=0
failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

seed=0
while [ "$seed" -lt "$seeds" ]; do
  seed=$((seed + 1))
  for document in first part all; do
    if nix-instantiate --eval --strict --json "$tests/generated.nix" -A "$document" --argstr seed "$seed" > "$out/ir" \
      && python3 "$check" validate "$out/ir"; then
      passed=$((passed + 1))
    else
      echo "FAILED: seed $seed, $document"
      failed=$((failed + 1))
    fi
  done
done
echo "generated: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
