# A Python with $packages: the one that is given, the host's if it has them, or else an environment of its own that pip fills.
mkdir -p "$out/bin"
if [ -n "$given" ]; then
  python=$given
elif python3 -c "from importlib import metadata; [metadata.version(name) for name in '$packages'.split()]" 2> /dev/null; then
  python=$(python3 -c "import sys; print(sys.executable)")
else
  python3 -m venv "$out/environment"
  # shellcheck disable=SC2086 # a list of names
  "$out/environment/bin/pip" install --quiet $packages
  python=$out/environment/bin/python3
fi
printf '#!/bin/sh\nexec %s "$@"\n' "$python" > "$out/bin/python3"
chmod +x "$out/bin/python3"
