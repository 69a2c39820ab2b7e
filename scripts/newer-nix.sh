#!/usr/bin/env bash
# Unpacks the Nix of Debian 13 beside the system's own and says in which folder its programs are. Nothing is installed: the
# packages are fetched by apt into .cache/nix-trixie, and the programs run with the libraries unpacked there.
set -euo pipefail
. "$(dirname "$0")/env.sh"

release=trixie
folder=$cache/nix-$release
have apt-get || die "no apt-get to fetch Debian's packages with"

if [ ! -x "$folder/bin/nix" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"/{bin,root,apt/{state/lists/partial,cache/archives/partial}}
  : >"$folder/apt/status"
  mirror=$(grep -ohsE 'https?://[^ ]*/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} | head -n 1 || true)
  mirror=${mirror:-http://deb.debian.org/debian}
  echo "deb ${mirror% } $release main" >"$folder/apt/sources.list"
  apt=(-qq -o "Dir::State=$folder/apt/state" -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache"
    -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root
    -o "APT::Architecture=$(dpkg --print-architecture)" -o APT::Install-Recommends=false -o Debug::NoLocking=true)
  say "fetching the Nix of Debian $release"
  apt-get "${apt[@]}" update >&2
  # With an empty status file, all that the package needs is to be installed, down to the C library.
  apt-get "${apt[@]}" install --download-only -y nix-bin >&2
  for package in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder/root"
  done
  rm -rf "$folder/apt"
fi
loader=$(find "$folder/root" -name 'ld-linux*.so.*' -print -quit)
libraries=$(find "$folder/root" -name '*.so*' -exec dirname {} + | sort -u | paste -sd :)
for program in nix nix-instantiate nix-store; do
  # All programs of Nix are one, which goes by the name it is called with. For builds it would call the system's own of another version.
  cat >"$folder/bin/$program.new" <<PROGRAM
#!/bin/sh
export NIX_CONFIG="\${NIX_CONFIG:-}
build-hook = $folder/bin/nix __build-remote"
exec '$loader' --argv0 $program --library-path '$libraries' '$folder/root/usr/bin/nix' "\$@"
PROGRAM
  chmod +x "$folder/bin/$program.new"
  mv "$folder/bin/$program.new" "$folder/bin/$program"
done
echo "$folder/bin"
