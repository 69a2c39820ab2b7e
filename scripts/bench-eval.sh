#!/usr/bin/env bash
# How long evaluation takes, for each Nix at hand: the document of benches/eval/plain.nix against the same made by the library
# (stack.nix), and an evaluation of the one leaf that waits against one of everything. CPU seconds in user mode, the best of three.
#
#   scripts/bench-eval.sh [resources]
#
# The aims, for 10,000 resources: the library within 1.5 times the plain document and half a second, for two interpolations in
# each resource; the one leaf within a quarter of everything.
set -euo pipefail
. "$(dirname "$0")/env.sh"

count=${1:-10000}
here=$repository/benches/eval
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
printf '{"phase": 2, "outputs": {"p.t.base": {"id": "x"}}}' >"$out/all.json"
printf '{"phase": 2, "outputs": {"p.t.base": {"id": "x"}}, "only": ["p.t.r0"]}' >"$out/one.json"

# seconds <document> <expression>: CPU time; the document has to come out.
seconds() {
  local best=
  for _ in 1 2 3; do
    TIMEFORMAT='%U'
    { time nix-instantiate --eval --strict --json --expr "$2" >"$out/$1"; } 2>"$out/time"
    best=$(awk -v best="$best" '{ print best == "" || $1 < best ? $1 : best }' <(tail -n 1 "$out/time"))
  done
  echo "$best"
}

# row <folder of Nix's programs> <what is interpolated> <everywhere: true or false>
row() {
  local PATH=$1:$PATH plain full again part version with="{ count = $count; everywhere = $3; }"
  version=$(nix-instantiate --version | sed 's/.* //')
  plain=$(seconds plain "import $here/plain.nix $with")
  full=$(seconds full "import $here/stack.nix $with { }")
  cmp -s "$out/plain" "$out/full" || die "the library's document is not the plain one"
  again=$(seconds again "import $here/stack.nix $with { ledger = \"$out/all.json\"; }")
  part=$(seconds part "import $here/stack.nix $with { ledger = \"$out/one.json\"; }")
  awk -v v="$version" -v what="$2" -v a="$plain" -v b="$full" -v c="$again" -v d="$part" 'BEGIN {
    aim = 1.5 * a + 0.5
    printf "%-8s %-18s %6.2f %8.2f %6.2f %6.2f %-6s %6.2f %9.2f %6.2f %s\n",
      v, what, a, b, b / a, aim, b < aim ? "holds" : "fails", c, d, d / c, d < c / 4 ? "holds" : "fails"
  }'
}

rows() {
  row "$1" '2 in a resource' false
  row "$1" '2 in an attribute' true
}

say "$count resources, 5 attributes each; aim is 1.5 x plain + 0.5 s, and one leaf in a quarter of all again"
printf '%-8s %-18s %6s %8s %6s %6s %-6s %6s %9s %6s\n' Nix interpolations plain library ratio aim '' again 'one leaf' ratio
rows "$(dirname "$(command -v nix-instantiate)")"
if newer=$("$repository/scripts/newer-nix.sh"); then rows "$newer"; fi
