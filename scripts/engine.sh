#!/usr/bin/env bash
# Runs a command with a container engine of its own: scripts/engine.sh [--install] COMMAND...
#
# The command finds the engine by DOCKER_HOST. Both run in namespaces of their own. So nothing of the engine can stay behind, neither process nor
# mount nor firewall rule, and an engine that runs here already is not touched. The price: the command has only loopback, no way to a registry.
# It needs root, and with --install it installs Debian's packages. Tests that may fetch images use the machine's own engine instead.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# start_engine DIR: starts dockerd and waits until it answers. Called inside of the namespaces.
start_engine() {
	local log=$1/log limit=$((SECONDS + 60))
	ip link set lo up
	mkdir -p /etc/docker
	for hidden in /run /etc/docker; do # the machine's own sockets and settings
		mount -t tmpfs tenure-engine "$hidden"
	done
	export DOCKER_HOST=unix:///run/docker.sock TMPDIR=$1/tmp # what a killed command leaves there goes with the engine's folder
	dockerd --data-root "$1/data" --host "$DOCKER_HOST" --exec-opt native.cgroupdriver=cgroupfs >"$log" 2>&1 &
	engine=$!
	until docker version >/dev/null 2>&1; do
		if ! kill -0 "$engine" 2>/dev/null || [ "$SECONDS" -gt "$limit" ]; then
			tail -n 20 "$log" >&2
			die "the container engine doesn't start, see above: it needs a kernel (or sandbox) with overlay, bridge, veth, iptables and cgroups"
		fi
		sleep 0.1
	done
	say "container engine $(docker version --format '{{.Server.Version}}') answers, storage driver $(docker info --format '{{.Driver}}')"
}

# inside DIR COMMAND...: what runs as process 1 of the namespaces. Whatever it leaves, the kernel kills when it ends.
inside() {
	local code=0
	start_engine "$1"
	shift
	"$@" || code=$?
	kill "$engine"
	wait "$engine" || true
	return "$code"
}

if [ "${1:-}" = --inside ]; then
	shift
	inside "$@"
	exit
fi

if [ "${1:-}" = --install ]; then
	shift
	. "$root/scripts/debian.sh"
	missing=()
	command -v dockerd >/dev/null || missing+=(docker.io)
	command -v ip >/dev/null || missing+=(iproute2)
	[ ${#missing[@]} = 0 ] || install_packages "or set DOCKER_HOST to an engine of yours and run 'make test-containers'" "${missing[@]}"
fi
[ $# -gt 0 ] || die "usage: scripts/engine.sh [--install] COMMAND..."
[ "$(id -u)" = 0 ] || die "a container engine of our own needs root"
for program in dockerd docker iptables ip unshare setpriv; do
	command -v "$program" >/dev/null || die "a container engine of our own needs $program: install Debian's docker.io and iproute2, or use --install"
done
unshare --net --mount --pid --fork true || die "this machine allows no namespaces, and so no container engine of our own"

dir=$(mktemp -d)
chmod 711 "$dir" # a Postgres that tests start runs as a user of its own
mkdir -m 1777 "$dir/tmp"
namespaces=
finish() {
	if [ -n "$namespaces" ]; then
		kill -KILL "$namespaces" || true
		wait "$namespaces" || true
	fi
	rm -rf "$dir" 2>/dev/null || { sleep 1 && rm -rf "$dir"; } # what was just killed may still write
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
code=0
# In the background, since a signal interrupts only 'wait'. Each dies with its parent: this script, unshare, the namespaces.
setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc -- bash "$0" --inside "$dir" "$@" <&0 &
namespaces=$!
wait "$namespaces" || code=$?
namespaces=
exit "$code"
