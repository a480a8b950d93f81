#!/usr/bin/env bash
# Makes the servers that tests need available on this machine: scripts/servers.sh [redis] [postgres] [etcd] [consul] [pgbouncer]
# A step is skipped where its result is there. Nothing is started. Root or sudo is used only for missing Debian packages.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$root/scripts/debian.sh"

# or_yours KIND: the other way out, for somebody who has a server already.
or_yours() { printf 'or set %s to the URL of a server of yours' "TENURE_TEST_${1^^}_URL"; }

postgres_found() {
	compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || { command -v initdb && command -v postgres; } >/dev/null
}

redis() {
	if command -v redis-server >/dev/null; then
		say "redis is there: $(command -v redis-server)"
		return
	fi
	install_packages "$(or_yours redis)" redis-server
}

postgres() {
	if postgres_found; then
		say "postgres is there"
		return
	fi
	install_packages "$(or_yours postgres)" postgresql
}

etcd() {
	build_tool etcd go.etcd.io/etcd/server/v3 "$ETCD_VERSION" etcd
	build_tool etcd go.etcd.io/etcd/etcdctl/v3 "$ETCD_VERSION" etcdctl
}

consul() {
	build_tool consul github.com/hashicorp/consul "$CONSUL_VERSION" consul
}

pgbouncer() {
	if [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null; then
		say "pgbouncer is there"
		return
	fi
	install_packages "without it the tests of a pooler are skipped" pgbouncer
}

[ $# -gt 0 ] || set -- redis postgres etcd consul pgbouncer
for kind in "$@"; do
	case $kind in
	redis | postgres | etcd | consul | pgbouncer) timed "$kind" "$kind" ;;
	*) die "unknown kind of server '$kind': known are redis, postgres, etcd, consul, pgbouncer" ;;
	esac
done
