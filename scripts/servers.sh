#!/usr/bin/env bash
# Makes the servers that tests need available on this machine: scripts/servers.sh [redis] [postgres] [etcd] [consul]
# A step is skipped where its result is there. Nothing is started. Root or sudo is used only for missing Debian packages.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Run by root with the names of the packages. A policy file keeps the packages' own services from being started.
read -r -d '' install_as_root <<'ROOT' || true
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o DPkg::Lock::Timeout=120 update
apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
ROOT

# debian KIND PACKAGE: installs a Debian package, or says what to do instead.
debian() {
	local kind=$1 package=$2 variable="TENURE_TEST_${1^^}_URL" become=()
	command -v apt-get >/dev/null ||
		die "$kind: no server found and this is no Debian: install $kind with your package manager, or set $variable to a server of yours"
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			die "$kind: Debian package $package is missing, and there is neither root nor sudo: let an administrator run 'apt-get install $package', or set $variable to a server of yours"
		become=(sudo)
		[ -t 0 ] || become=(sudo -n)
	fi
	say "installing Debian package $package"
	"${become[@]}" sh -c "$install_as_root" sh "$package" </dev/null ||
		die "$kind: installing Debian package $package failed (see above); or set $variable to a server of yours"
	[ ! -d /run/systemd/system ] ||
		say "note: package $package has a service of its own; it was not started, but would be at the next boot: 'systemctl disable $package' prevents it"
}

postgres_found() {
	compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || { command -v initdb && command -v postgres; } >/dev/null
}

redis() {
	if command -v redis-server >/dev/null; then
		say "redis is there: $(command -v redis-server)"
		return
	fi
	debian redis redis-server
}

postgres() {
	if postgres_found; then
		say "postgres is there"
		return
	fi
	debian postgres postgresql
}

etcd() {
	build_tool etcd go.etcd.io/etcd/server/v3 "$ETCD_VERSION" etcd
	build_tool etcd go.etcd.io/etcd/etcdctl/v3 "$ETCD_VERSION" etcdctl
}

consul() {
	build_tool consul github.com/hashicorp/consul "$CONSUL_VERSION" consul
}

[ $# -gt 0 ] || set -- redis postgres etcd consul
for kind in "$@"; do
	case $kind in
	redis | postgres | etcd | consul) timed "$kind" "$kind" ;;
	*) die "unknown kind of server '$kind': known are redis, postgres, etcd, consul" ;;
	esac
done
