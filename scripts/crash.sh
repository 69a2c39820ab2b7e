#!/usr/bin/env bash
# The crash matrix in full: a run is disturbed at every boundary and at 1,000 random instants. Prints what was tried and found.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$repository"

scripts/setup.sh test

NIVIS_CRASH=full cargo test --quiet --test main -- --nocapture --test-threads 1 crash::
