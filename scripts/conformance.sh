#!/usr/bin/env bash
# Runs the conformance tests of all stores and prints the table of their outcomes. The arguments are those of internal/matrix.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
TENURE_CONFORMANCE_REPORTS=$(mktemp -d)
export TENURE_CONFORMANCE_REPORTS
trap 'rm -rf "$TENURE_CONFORMANCE_REPORTS"' EXIT
code=0
TENURE_RACE=0 scripts/test.sh -count=1 -run '^Test(Memory|Conformance)' ./conformance ./backend/... || code=$?
go run ./internal/matrix "$@" "$TENURE_CONFORMANCE_REPORTS" || code=$?
exit "$code"
