# Builds the package with the host's cargo; its target folder stays in the user's cache for the next time.
mkdir -p "$out/bin"
if [ -n "$prebuilt" ]; then
  cp "$prebuilt" "$out/bin/$pname"
  exit
fi

export CARGO_TARGET_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/nivis-host-nixpkgs"
cp -r "$src" source
chmod -R u+w source
cd source
cargo build --locked --bin "$pname"
if [ "$doCheck" = 1 ]; then
  # shellcheck disable=SC2086 # a list of flags
  cargo test --locked $cargoTestFlags
fi
cp "$CARGO_TARGET_DIR/debug/$pname" "$out/bin/$pname"
