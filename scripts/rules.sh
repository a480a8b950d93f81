#!/usr/bin/env bash
# The project's own rules, which no linter knows. Prints each breach; exit status 1 if there is any.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
breaches=0

# refuse WHAT PATTERN PATHSPEC...: no tracked file may have a line that matches.
refuse() {
	local what=$1 pattern=$2 found
	shift 2
	if found=$(git grep -nIE -e "$pattern" -- "$@" ':!scripts/rules.sh' ':!*.sum'); then
		printf '%s:\n%s\n' "$what" "$found"
		breaches=1
	fi
}

refuse 'unfinished work' '\b(TODO|FIXME|XXX)\b|not implemented' '*.go' '*.sh' Makefile '*.md' '*.yml'
refuse 'a test that sleeps (wait for an event or use testing/synctest)' 'time\.Sleep\(' '*_test.go'
refuse 'a path of one machine' '(^|[^[:alnum:]_.$}/-])/(work|root|home|Users)/[[:alnum:]]' .

# Every public package explains itself and shows an example.
while read -r dir; do
	grep -q '^// Package ' "$dir"/*.go || { echo "no package comment: $dir" && breaches=1; }
	grep -lq '^func Example' "$dir"/*_test.go 2>/dev/null || { echo "no Example: $dir" && breaches=1; }
done < <(git ls-files '*.go' | grep -vE '(_test\.go$|^(bench|cmd|examples)/|(^|/)(internal|testdata)/)' | xargs -r -n1 dirname | sort -u)

[ "$breaches" = 0 ] && say "own rules: kept"
exit "$breaches"
