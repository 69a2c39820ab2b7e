#!/bin/sh
# All tests of the Nix library. Prints what failed, and `N passed, M failed`.
set -eu

tests=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if cases=$(nix-instantiate --eval "$tests/run.nix") && [ "$cases" -gt 0 ]; then
  echo "cases: $cases passed, 0 failed" | tee -a "$log"
else
  echo "cases: 0 passed, 1 failed" | tee -a "$log"
fi
for suite in golden messages generated; do
  "$tests/$suite.sh" | tee -a "$log"
done

# A suite that ended early has not said how many passed.
awk '
  / passed, / { suites++; passed += $2; failed += $4 }
  END {
    if (suites != 4) { print "only " suites + 0 " of 4 suites ended"; failed++ }
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed > 0
  }
' "$log"
