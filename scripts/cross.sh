#!/usr/bin/env bash
# Compiles every package for every system that the project names, without cgo: TARGETS="linux/amd64 ..." narrows it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
for target in ${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
	timed "build for $target" env GOOS="${target%/*}" GOARCH="${target#*/}" CGO_ENABLED=0 nice go build ./...
done
