#!/usr/bin/env bash
# The flake as a user has it: its apps, its checks, its template. nixpkgs is the stand-in beside this script, and the binary
# the one in the target folder, so that nothing is built twice.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
# The stand-in is made of this machine's programs, some of them in the home of who runs this.
export NIX_CONFIG="${NIX_CONFIG:-}"$'\nsandbox = false\nbuild-users-group ='
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

NIVIS_HOST_BIN=${CARGO_TARGET_DIR:-$repository/target}/debug/nivis
export NIVIS_HOST_BIN
# The Python that `make setup` made, if it did.
python=$repository/.cache/venv/bin/python
[ ! -x "$python" ] || export NIVIS_HOST_PYTHON=$python
[ -x "$NIVIS_HOST_BIN" ] || cargo build --quiet --manifest-path "$repository/Cargo.toml"

git clone --quiet "$repository" "$folder/clone"
cd "$folder/clone"
flags=(--extra-experimental-features 'nix-command flakes' --impure --no-write-lock-file
  --override-input nixpkgs "path:$PWD/tests/flake/host-nixpkgs")
passed=0

# expect <text> <command>...: the command succeeds and says the text.
expect() {
  local said
  said=$("${@:2}" 2>&1) || { printf '%s\n' "$said"; echo "failed: ${*:2}"; exit 1; }
  case $said in
    *"$1"*) passed=$((passed + 1)) ;;
    *) printf '%s\n' "$said"; echo "'$1' is missing: ${*:2}"; exit 1 ;;
  esac
}

expect 'Apply complete' nix run "${flags[@]}" .#apply -- --auto-approve
expect 'No changes' nix run "${flags[@]}" .#plan
expect ' = ' nix run "${flags[@]}" .#output
expect 'resource "' nix run "${flags[@]}" .#show
expect 'valid' nix run "${flags[@]}" .#validate
expect 'Destroy complete' nix run "${flags[@]}" .#destroy -- --auto-approve
expect '' nix flake check "${flags[@]}"
# What a user of the library evaluates needs no nixpkgs: the locked one cannot be had here.
expect 'mkApps' nix eval --extra-experimental-features 'nix-command flakes' --no-write-lock-file .#lib --apply builtins.attrNames
expect 'minimal' nix eval --extra-experimental-features 'nix-command flakes' --no-write-lock-file .#templates.default.path
echo "$passed passed, 0 failed"
