# Gives a build the programs of the host: those of the system, and those in the home of the user who builds.
system_path=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin
export PATH="$system_path"
HOME=$(eval echo "~$(id -un)")
export HOME
export PATH="$HOME/.cargo/bin:$HOME/.local/bin:$HOME/.pyenv/shims:$system_path"
for input in $nativeBuildInputs; do
  PATH="$input/bin:$PATH"
done
. "$scriptTextPath"
