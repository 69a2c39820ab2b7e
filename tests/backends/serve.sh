#!/bin/sh
# serve.sh <folder> <command>...: runs a server until standard input ends, which it does when whoever holds its other end dies,
# however that comes about. Then stops the server, and removes the folder.
folder=$1
shift
"$@" </dev/null >"$folder/log" 2>&1 &
server=$!
cat >/dev/null
kill -INT "$server" 2>/dev/null
wait "$server"
rm -rf "$folder"
