#!/usr/bin/env bash
# How long evaluation takes, for each Nix at hand: the document of benches/eval/plain.nix against the same made by the library
# (stack.nix), and an evaluation of the one leaf that waits against one of everything. CPU seconds, the best of three.
#
#   scripts/bench-eval.sh [resources]
set -euo pipefail
. "$(dirname "$0")/env.sh"

count=${1:-10000}
here=$repository/benches/eval
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
printf '{"phase": 2, "outputs": {"p.t.base": {"id": "x"}}}' >"$out/all.json"
printf '{"phase": 2, "outputs": {"p.t.base": {"id": "x"}}, "only": ["p.t.r0"]}' >"$out/one.json"

# seconds <document> <expression>: CPU time, user and system; the document has to come out.
seconds() {
  local best=
  for _ in 1 2 3; do
    TIMEFORMAT='%U %S'
    { time nix-instantiate --eval --strict --json --expr "$2" >"$out/$1"; } 2>"$out/time"
    best=$(awk -v best="$best" '{ t = $1 + $2 } END { print best == "" || t < best ? t : best }' <(tail -n 1 "$out/time"))
  done
  echo "$best"
}

# row <folder of Nix's programs>
row() {
  local PATH=$1:$PATH plain full again part version
  version=$(nix-instantiate --version | sed 's/.* //')
  plain=$(seconds plain "import $here/plain.nix { count = $count; }")
  full=$(seconds full "import $here/stack.nix { count = $count; } { }")
  cmp -s "$out/plain" "$out/full" || die "the library's document is not the plain one"
  again=$(seconds again "import $here/stack.nix { count = $count; } { ledger = \"$out/all.json\"; }")
  part=$(seconds part "import $here/stack.nix { count = $count; } { ledger = \"$out/one.json\"; }")
  awk -v v="$version" -v a="$plain" -v b="$full" -v c="$again" -v d="$part" \
    'BEGIN { printf "%-8s %8.2f %8.2f %8.2f %10.2f %10.2f %8.2f\n", v, a, b, b / a, c, d, d / c }'
}

say "$count resources, 5 attributes each, 2 interpolations in each attribute"
printf '%-8s %8s %8s %8s %10s %10s %8s\n' Nix plain library ratio again 'one leaf' ratio
row "$(dirname "$(command -v nix-instantiate)")"
if newer=$("$repository/scripts/newer-nix.sh"); then row "$newer"; fi
