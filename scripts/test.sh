#!/usr/bin/env bash
# Runs the tests with the race detector and prints what was skipped: go test shows no skip of a package that passes.
# The arguments are go test's; without any it tests every package.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
TENURE_TEST_NOTICES=$(mktemp)
export TENURE_TEST_NOTICES
trap 'rm -f "$TENURE_TEST_NOTICES"' EXIT
[ $# -gt 0 ] || set -- ./...
code=0
go test -race -shuffle=on -timeout 20m "$@" || code=$?
if [ -s "$TENURE_TEST_NOTICES" ]; then
	say "SKIPPED, because a server is missing:"
	sort -u "$TENURE_TEST_NOTICES"
fi
exit "$code"
