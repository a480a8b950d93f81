#!/usr/bin/env bash
# Runs the tests with the race detector and prints what was skipped: go test shows no skip of a package that passes.
# TENURE_RACE=0 leaves the race detector out, for runs whose times matter. The arguments are go test's; without any it tests every package.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$root/scripts/debian.sh"
cd "$root"
race=-race
[ "${TENURE_RACE:-1}" != 0 ] || race=
[ -z "$race" ] || command -v "$(go env CC)" >/dev/null || install_packages "the race detector needs a C compiler" gcc libc6-dev
TENURE_TEST_NOTICES=$(mktemp)
export TENURE_TEST_NOTICES
trap 'rm -f "$TENURE_TEST_NOTICES"' EXIT
[ $# -gt 0 ] || set -- ./...
code=0
go test $race -shuffle=on -parallel 8 -timeout 30m "$@" || code=$?
if [ -s "$TENURE_TEST_NOTICES" ]; then
	say "SKIPPED:"
	sort -u "$TENURE_TEST_NOTICES"
fi
exit "$code"
