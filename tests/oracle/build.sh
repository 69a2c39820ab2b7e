#!/bin/sh
# Builds the oracle into tests/oracle/bin/oracle. Needs Go.
set -eu
cd "$(dirname "$0")"
mkdir -p bin
go build -trimpath -o bin/oracle .
