#!/usr/bin/env bash
# The quick start, from nothing: builds nivis, applies this repository's own stack, shows what it made, plans again (nothing
# to do) and destroys it.
set -euo pipefail
. "$(dirname "$0")/env.sh"

"$repository/scripts/setup.sh"
cargo build --quiet --manifest-path "$repository/Cargo.toml"
nivis=${CARGO_TARGET_DIR:-$repository/target}/debug/nivis

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# step <verb> <flag>...: runs `nivis <verb> <flag>...` on the repository's flake, as a user would in its folder.
step() {
  say
  say "\$ nivis $*"
  "$nivis" "$1" "$repository" "${@:2}"
}

step apply --auto-approve
say
say "In $folder:"
find . -path ./.nivis -prune -o -type f -print
step show
say
say '$ nivis plan'
again=$("$nivis" plan "$repository")
printf '%s\n' "$again"
case $again in
  *'No changes.'*) ;;
  *) die 'the second plan is not empty' ;;
esac
step destroy --auto-approve
left=$(find . -path ./.nivis -prune -o -type f -print)
[ -z "$left" ] || die "destroy left something behind: $left"
say
say 'demo: applied, found nothing more to do, destroyed'
