#!/usr/bin/env bash
# Fails when go.mod or go.sum of the main module is not what 'go mod tidy' would write. It changes nothing.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
go mod tidy -diff || die "go.mod or go.sum is out of date: run 'go mod tidy'"
say "go.mod and go.sum are tidy"
