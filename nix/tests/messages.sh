#!/bin/sh
# Evaluates every messages/<case>.nix, which has to fail with the error, or with one of the errors, in messages/<case>.err;
# `--update` records.
set -eu

tests=$(cd "$(dirname "$0")" && pwd)
atLeast=120
passed=0
failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

mode=${1-}
for file in "$tests"/messages/*.nix; do
  name=$(basename "$file" .nix)
  expected="$tests/messages/$name.err"
  if nix-instantiate --eval --strict --json "$tests/message.nix" --argstr file "$file" > "$out/value" 2> "$out/log"; then
    # Newer Nix prints numbers with all their digits.
    if grep -q '^(or none)$' "$expected"; then
      passed=$((passed + 1))
      continue
    fi
    echo "FAILED $name: it evaluates to $(cat "$out/value")"
    failed=$((failed + 1))
    continue
  fi
  # The error itself comes last; newer Nix prints where it happened before.
  sed -n 's/^ *error: //p' "$out/log" | tail -n 1 > "$out/err"
  if [ "$mode" = --update ] && ! grep -qxFf "$out/err" "$expected"; then cp "$out/err" "$expected"; fi
  if grep -qxFf "$out/err" "$expected"; then
    passed=$((passed + 1))
  else
    echo "FAILED $name:" && diff -u "$expected" "$out/err" || true
    failed=$((failed + 1))
  fi
done

if [ "$passed" -lt "$atLeast" ] && [ "$failed" -eq 0 ]; then
  echo "only $passed messages were found, expected at least $atLeast"
  failed=1
fi
echo "messages: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
