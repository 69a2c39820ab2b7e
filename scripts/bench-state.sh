#!/usr/bin/env bash
# What the state costs: bytes written and time spent on saving in an apply of many objects, and how long a run with a large
# state takes to its first call of a provider. The provider is the test suite's, the machine's own disk holds the state.
#
#   scripts/bench-state.sh [objects] [objects of the large state]
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$repository"

few=${1:-10000} many=${2:-50000}
cargo build --quiet --release --features test-fakes --bins
work=$(mktemp -d "$repository/target/bench-state.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir bin
export PATH=$work/bin:$PATH XDG_CACHE_HOME=$work/cache NO_COLOR=1

# Evaluations are not measured: a stand-in for Nix prints what it would.
cat >bin/nix-instantiate <<EOF
#!/bin/sh
case \$1 in --version) echo 'nix-instantiate (Nix) 2.8.0' ;; *) exec cat "$work/ir.json" ;; esac
EOF
chmod +x bin/nix-instantiate

# stack <objects>: declares that many.
stack() {
  awk -v n="$1" -v source="$repository/target/release/fake-provider" 'BEGIN {
    printf "{\"edges\":[],\"nixConsumers\":[],\"providers\":{\"fake\":{\"config\":{},\"source\":\"%s\"}},\"resources\":[", source
    for (i = 0; i < n; i++) {
      if (i) printf ","
      printf "{\"config\":{\"name\":\"t%d\",\"value\":\"the value of thing number %d\",\"tags\":{\"owner\":\"team-%d\",\"stage\":\"test\"}},\"id\":\"fake.fake_thing.t%d\",\"meta\":{\"dependsOn\":[],\"lifecycle\":{\"ignoreChanges\":[],\"preventDestroy\":false}},\"name\":\"t%d\",\"provider\":\"fake\",\"type\":\"fake_thing\"}", i, i, i % 7, i, i
    }
    print "],\"schemaVersion\":1}"
  }' >ir.json
  : >stack.nix
}

nivis() { "$repository/target/release/nivis" "$@"; }

# seconds <command>...: its wall time, whatever its status.
seconds() {
  local start=$EPOCHREALTIME
  "$@" >/dev/null 2>&1 || true
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

# apply <objects>: a row about an apply of that many to nothing.
apply() {
  rm -rf .nivis
  stack "$1"
  local start=$EPOCHREALTIME took size
  NIVIS_LOG=nivis::state=debug nivis apply --file stack.nix --auto-approve >/dev/null 2>log || die "$(tail -n 5 log)"
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  size=$(stat -c %s .nivis/stack/state.json)
  grep -o 'writes=.*' log | tr '= ' '\n\n' | paste - - |
    awk -v n="$1" -v took="$took" -v size="$size" '{ v[$1] = $2 } END {
      printf "%8d %10.1f %8d %10.1f %10.1f %8.2f %10.2f %8.1f\n",
        n, took, v["writes"], v["bytes"] / 1e6, size / 1e6, v["bytes"] / size, v["ms"] / 1000, v["ms"] / took / 10
    }'
}

# start <what>: a row about the time to the first call about an object, the best of three.
start() {
  local best=9 t
  for _ in 1 2 3; do
    t=$(NIVIS_FAULT="kill@send:$2#1" seconds nivis plan --file stack.nix)
    best=$(awk -v a="$best" -v b="$t" 'BEGIN { print b < a ? b : a }')
  done
  printf '%-60s %8.3f s\n' "$1" "$best"
}

printf '%8s %10s %8s %10s %10s %8s %10s %8s\n' objects 'apply, s' writes 'written' 'state, MB' ratio 'saving, s' '%'
apply "$few"
apply "$many"
say
start "state of $many objects and as many declared: first call" '*'
start "the same: first object upgraded" UpgradeResourceState
stack 0
start "state of $many objects, none declared: first call" '*'
start "the same: first object upgraded" UpgradeResourceState
