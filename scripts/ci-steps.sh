#!/usr/bin/env bash
# The steps of CI, in order; the first that fails ends it. .ci/run calls it and searches what it printed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$root/scripts/debian.sh"
cd "$root"
times=()
current=start

# step NAME COMMAND...
step() {
	current=$1
	local start=$SECONDS
	shift
	printf '\n=== %s\n' "$current"
	"$@" </dev/null
	times+=("$(printf '%6d s  %s' $((SECONDS - start)) "$current")")
	printf '=== %s: %d s\n' "$current" $((SECONDS - start))
}

finish() {
	local code=$?
	rm -rf "${reports:-}"
	printf '\n=== steps\n'
	[ ${#times[@]} = 0 ] || printf '%s\n' "${times[@]}"
	[ "$code" = 0 ] || say "step '$current' failed with status $code"
}
trap finish EXIT

packages() {
	local missing=()
	command -v make >/dev/null || missing+=(make)
	command -v git >/dev/null || missing+=(git)
	[ -e /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates)
	command -v gcc >/dev/null || missing+=(gcc libc6-dev)
	[ ${#missing[@]} = 0 ] || install_packages "CI needs them" "${missing[@]}"
}

step packages packages
step servers make servers
step lint make lint
step vet make vet
step tidy make tidy-check
step build make build
step cross make cross
reports=$(mktemp -d)
step test env TENURE_CONFORMANCE_REPORTS="$reports" make test
step mutants make mutants
step core-mutants make core-mutants
step simulation make sim SEEDS="${TENURE_SEEDS:-10000}"
step exploration make explore
step faults make sim MATTER=1 SEEDS=200
step matrix go run ./internal/matrix -check README.md "$reports"
step containers scripts/engine.sh --install scripts/standin-images.sh make test-containers # after 'make test', which fetched the modules: it has no network
step README scripts/readme.sh 'make test' # that one has just been run
