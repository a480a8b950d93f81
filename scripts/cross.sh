#!/usr/bin/env bash
# Compiles every package for each system that the project names, without cgo: TARGETS="linux/amd64 ..." chooses others.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
for target in ${TARGETS:-linux/arm64 darwin/arm64 windows/amd64}; do
	timed "build for $target" env GOOS="${target%/*}" GOARCH="${target#*/}" CGO_ENABLED=0 nice go build ./...
done
