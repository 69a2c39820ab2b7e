#!/usr/bin/env bash
# Fails, with their names, if programs are still there that the tests started.
#
#   scripts/orphans.sh <pid> [<seconds>]
#
# Looked at is what started since process <pid> did, and either is a program of this repository (built here, or installed by
# `make setup`), or runs a script of it, or works in a folder below $TMPDIR. What is about to end has some time for it.
set -euo pipefail
. "$(dirname "$0")/env.sh"

# Sets REPLY to when a process started, in ticks since the machine did. Its name, in brackets, comes before and may hold anything.
started() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
  set -- ${stat##*) }
  REPLY=${20}
}

# The command line of a process that the tests started, nothing for any other.
orphan() {
  local exe cwd words=()
  exe=$(readlink "/proc/$1/exe") && cwd=$(readlink "/proc/$1/cwd") || return 0
  { mapfile -d '' -t words <"/proc/$1/cmdline"; } 2>/dev/null || return 0
  case ${words[1]:-} in
    */orphans.sh) return ;;
  esac
  case "$exe|${words[1]:-}|$cwd/" in
    "$repository"/* | *"|$repository"/*"|"* | *"|$tests"/*) printf '%s' "${words[*]}" ;;
  esac
}

orphans() {
  local process pid found
  for process in /proc/[0-9]*; do
    pid=${process#/proc/}
    started "$pid" || continue
    [ "$REPLY" -ge "$since" ] && [ "$pid" != "$first" ] || continue
    found=$(orphan "$pid" 2>/dev/null)
    [ -z "$found" ] || printf '%s %s\n' "$pid" "$found"
  done
}

first=$1
started "$first" || die "there is no process $first"
since=$REPLY
patience=${2:-5}
tests=${TMPDIR:-/nowhere}
while left=$(orphans) && [ -n "$left" ]; do
  [ $((patience--)) -gt 0 ] || die $'programs that the tests started are still there:\n'"$left"
  sleep 1
done
