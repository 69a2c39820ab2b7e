# Sourced by the other scripts: where tools are that `make setup` installs, and how Nix runs here.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$repository/.cache
go_version=1.26.8

export PATH=$cache/bin:$HOME/.cargo/bin:$PATH

# Root on a machine without Nix's build users (a container, mostly) builds as itself.
if [ "$(id -u)" = 0 ] && [ -z "${NIX_CONFIG:-}" ] && ! getent group nixbld >/dev/null; then
  export NIX_CONFIG=$'build-users-group =\nsandbox = false'
fi

have() { command -v "$1" >/dev/null 2>&1; }

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}
