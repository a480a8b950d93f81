#!/usr/bin/env bash
# Builds the pinned golangci-lint once and prints its path.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_tool lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$LINT_VERSION" golangci-lint >&2
printf '%s\n' "$cache/bin/golangci-lint-$LINT_VERSION"
