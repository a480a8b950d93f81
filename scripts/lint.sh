#!/usr/bin/env bash
# Lints the module: gofmt, golangci-lint with .golangci.yml, and the project's own rules.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
unformatted=$(git ls-files -z '*.go' | xargs -0r gofmt -l)
[ -z "$unformatted" ] || die "not formatted, run gofmt -w: $unformatted"
linter=$("$root/scripts/lint-tool.sh")
nice "$linter" run "$@" ./...
"$root/scripts/rules.sh"
