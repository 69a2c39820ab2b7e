#!/usr/bin/env bash
# Everything that must hold, in the order in which it fails fastest. Ends with counts.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$repository"

# Nothing in the tests may come from the network.
export NIX_CONFIG=${NIX_CONFIG:-}$'\nsubstituters ='

# Random tests take the same cases every run; every reader is given hostile input for so many seconds.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} NIVIS_FUZZ_SECONDS=${NIVIS_FUZZ_SECONDS:-10}

log=$(mktemp)
# Rust tests have their folders here.
scratch=$(mktemp -d)
# Some of what tests start runs as another user.
chmod 711 "$scratch"
trap 'rm -rf "$log" "$scratch"' EXIT
steps=0

# step <name> <command>...
step() {
  local start=$SECONDS
  say "== $1"
  "${@:2}" 2>&1 | tee -a "$log"
  steps=$((steps + 1))
  say "   $((SECONDS - start)) s"
}

step 'setup' scripts/setup.sh test
step 'format' cargo fmt --check
step 'lints' cargo clippy --quiet --all-targets --all-features -- -D warnings
step 'Nix library' nix/tests/run.sh
step 'a newer Nix' scripts/newer-nix.sh
newer=$cache/nix-trixie/bin:$PATH
step 'Nix library, newer Nix' env PATH="$newer" nix/tests/run.sh
step 'IR conformance' "$cache/venv/bin/python" tests/ir-conformance/check.py test
step 'Rust tests' env TMPDIR="$scratch" cargo test --quiet
step 'values back into Nix, newer Nix' env TMPDIR="$scratch" PATH="$newer" cargo test --quiet --test main -- phases:: secrets:: variables::
step 'nothing left running' env TMPDIR="$scratch" scripts/orphans.sh $$
step 'documentation' env RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps
step 'flake' tests/flake/run.sh

# Sum of a column of cargo's `test result: ok. 12 passed; 0 failed; 1 ignored; …` lines.
sum() {
  sed -n "s/^test result: .* \([0-9]*\) $1;.*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}

long=$(find src -name '*.rs' -exec awk '/^#\[cfg\(test\)\]/ { exit } END { if (NR > 300) print FILENAME, NR }' {} \;)
say
say "files over 300 lines: $(printf '%s' "$long" | grep -c . || true); packages in Cargo.lock: $(grep -c '^name = ' Cargo.lock)"
say "test: $steps steps, $(sum passed) tests passed, $(sum failed) failed, $(sum ignored) ignored"
