#!/usr/bin/env bash
# Installs what building and testing need and this machine lacks. Does nothing where nothing is missing.
#
#   scripts/setup.sh         for `make demo`: Nix, Rust, a C compiler
#   scripts/setup.sh test    for `make test`: also Python with jsonschema, Go, the provider plugins, the oracle
set -euo pipefail
. "$(dirname "$0")/env.sh"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

packages=()

# need <command> <package>...: the packages of Debian and Ubuntu that bring a missing command.
need() {
  have "$1" || packages+=("${@:2}")
}

install_packages() {
  [ ${#packages[@]} -gt 0 ] || return 0
  have apt-get || die "missing tools, and no apt-get to install them with: ${packages[*]}"
  say "installing ${packages[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}" >&2
}

# Is the second version the first one or newer?
at_least() {
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

setup_rust() {
  local minimum found
  minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$repository/Cargo.toml")
  found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2 || true)
  if [ -z "$found" ] || ! at_least "$minimum" "$found" || ! have cargo-fmt || ! have cargo-clippy; then
    if ! have rustup; then
      say "installing rustup"
      curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
        sh -s -- -y --quiet --no-modify-path --profile minimal --default-toolchain none
    fi
    rustup toolchain install stable --profile minimal --component rustfmt --component clippy >&2
    rustup default stable >&2
  fi
}

# Any Go fetches the Go that it is told to: as a module, checked against Go's checksum database. Debian's own Go is too old
# for provider plugins and too old to switch by itself.
setup_go() {
  local found module folder
  found=$(go env GOVERSION 2>/dev/null | sed 's/^go//' || true)
  [ -n "$found" ] && at_least "$go_version" "$found" && return
  module=golang.org/toolchain@v0.0.1-go$go_version.linux-$(go env GOARCH)
  say "fetching Go $go_version"
  folder=$(cd / && GOFLAGS=-modcacherw go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  chmod -R u+rwX,+X "$folder"
  chmod +x "$folder"/bin/* "$folder"/pkg/tool/*/*
  mkdir -p "$cache/bin"
  ln -sf "$folder/bin/go" "$folder/bin/gofmt" "$cache/bin/"
}

# stamped <stamp> <file>... -- <command>...: runs the command unless it ran before with these very files.
stamped() {
  local stamp=$1 files=() sum
  shift
  while [ "$1" != -- ]; do
    files+=("$1")
    shift
  done
  shift
  sum=$(cat "${files[@]}" | sha256sum)
  if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$sum" ]; then
    "$@"
    mkdir -p "$(dirname "$stamp")"
    printf '%s\n' "$sum" >"$stamp"
  fi
}

setup_python() {
  say "installing Python packages"
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check -r "$repository/tests/ir-conformance/requirements.txt"
}

# The plugins that tests/providers/plugins lists: Go programs, each from the module that pins it, and programs in Python.
build_providers() {
  local name folder package
  cd "$repository/tests/providers"
  mkdir -p bin
  grep -v '^#' plugins | while read -r name folder package; do
    say "building terraform-provider-$name"
    case $folder in
      python/*) python_provider "$name" "$folder" "$package" ;;
      *) (cd "$folder" && go build -trimpath -ldflags '-s -w' -o "$OLDPWD/bin/terraform-provider-$name" "$package") ;;
    esac
  done
}

# python_provider <name> <folder> <package or file>: a program with the packages that the folder pins. The framework that a
# package is for brings its program, though not by the name that hosts want; a file is one of ours.
python_provider() {
  local venv=$cache/$2 program=bin/terraform-provider-$1 start="from $1.cli.__main__ import main"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$2/requirements.txt"
  [ "$3" = "${3#./}" ] || start="import sys; sys.path.insert(0, '$PWD/$2'); from provider import main"
  printf '#!%s\n%s\nmain()\n' "$venv/bin/python3" "$start" >"$program"
  chmod +x "$program"
}

build_oracle() {
  say "building the oracle"
  sh "$repository/tests/oracle/build.sh"
}

# A server with the protocol of S3, for the tests of the state backend.
build_s3_server() {
  say "building versitygw"
  GOBIN=$cache/bin GOFLAGS=-modcacherw go install -trimpath -ldflags '-s -w' github.com/versity/versitygw/cmd/versitygw@v1.8.0
}

need nix-instantiate nix-bin
need cc gcc libc6-dev
need git git
need curl curl ca-certificates
if [ "${1:-}" = test ]; then
  need python3 python3 python3-venv
  python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
  need go golang-go
  need psql postgresql postgresql-client
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || packages+=(postgresql)
fi
install_packages
setup_rust

# Tools that look for things to back up or copy leave a folder with this file alone (bford.info/cachedir).
mkdir -p "$cache"
[ -f "$cache/CACHEDIR.TAG" ] || printf 'Signature: 8a477f597d28d172789f06886806bc55\n' >"$cache/CACHEDIR.TAG"

if [ "${1:-}" = test ]; then
  setup_go
  tests=$repository/tests
  stamped "$cache/venv/stamp" "$tests/ir-conformance/requirements.txt" -- setup_python
  stamped "$tests/providers/bin/.stamp" "$tests"/providers/{plugins,go.mod,go.sum,*/go.mod,*/go.sum,*/*.go,python/*/*.{txt,py}} -- build_providers
  [ -x "$cache/bin/versitygw" ] || build_s3_server
  stamped "$tests/oracle/bin/.stamp" "$tests"/oracle/{*.go,go.mod,go.sum,build.sh} -- build_oracle
fi
