#!/usr/bin/env bash
# Builds stand-ins for the official container images from the servers of this machine, where no registry can be reached, and runs a command
# that uses them: scripts/standin-images.sh COMMAND...
#
# A stand-in takes the arguments, variables and files that the tests give to the official image, and no others. Its name says that it is none.
# A kind whose server isn't here gets no stand-in: the command then asks for the official image. Nothing is kept: to build
# all of them takes seconds.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || die "usage: scripts/standin-images.sh COMMAND..."
command -v docker >/dev/null || die "no docker client: install Debian's docker.io"

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
path=/usr/local/bin:/usr/bin:/bin

# provide FILE...: copies files to the same place under the new root, and the shared libraries that they name.
provide() {
	local file
	for file in "$@" $(ldd "$@" 2>/dev/null | grep -oE '/[^ :]+\.so[^ :]*' | sort -u || true); do
		[ -e "$fs$file" ] || install -D "$file" "$fs$file" # a link becomes the file that it names
	done
}

# import KIND VERSION CHANGE...: makes an image of the new root. Everything in it is root's.
import() {
	local kind=$1 name=tenure-standin/$1:$2 changes=(--change "ENV PATH=$path")
	shift 2
	for change in "$@"; do changes+=(--change "$change"); done
	tar -C "$fs" --owner=0 --group=0 -c . | docker import "${changes[@]}" - "$name" >/dev/null
	export "TENURE_TEST_${kind^^}_IMAGE=$name"
	say "stand-in image $name: $(($(docker image inspect --format '{{.Size}}' "$name") / 1000000)) MB"
}

redis() {
	local server
	server=$(command -v redis-server) || return 0
	provide "$server"
	import redis "$("$server" --version | sed -E 's/.* v=([0-9.]+) .*/\1/')" 'WORKDIR /data' 'CMD ["redis-server"]'
}

etcd() {
	local server=$cache/bin/etcd-$ETCD_VERSION
	[ -x "$server" ] || return 0
	install -D "$server" "$fs/usr/local/bin/etcd"
	import etcd "$ETCD_VERSION" 'WORKDIR /var/lib/etcd' 'CMD ["/usr/local/bin/etcd"]'
}

consul() {
	local server=$cache/bin/consul-$CONSUL_VERSION
	[ -x "$server" ] || return 0
	install -D "$server" "$fs/usr/local/bin/consul"
	import consul "$CONSUL_VERSION" 'ENTRYPOINT ["/usr/local/bin/consul"]' 'CMD ["agent", "-dev", "-client=0.0.0.0"]'
}

postgres() {
	local bin version
	bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
	[ -x "$bin/initdb" ] || return 0
	version=$(basename "$(dirname "$bin")")
	provide "$bin"/{postgres,initdb,pg_ctl} /bin/sh # initdb calls postgres through a shell
	mkdir -p "$fs/etc" "$fs/usr/share/postgresql" "$fs"/{tmp,var/lib/postgresql,var/run/postgresql}
	chmod 1777 "$fs"/{tmp,var/lib/postgresql,var/run/postgresql}
	cp -R "/usr/share/postgresql/$version" "$fs/usr/share/postgresql/"
	provide "${bin%/bin}"/lib/{plpgsql,dict_snowball}.so # the two that initdb loads
	[ ! -d /usr/share/zoneinfo ] || (cd / && cp -R --parents usr/share/zoneinfo "$fs")
	printf 'root:x:0:0::/:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n' >"$fs/etc/passwd"
	install "$root/scripts/standin-postgres.sh" "$fs/entrypoint.sh"
	import postgres "$("$bin/postgres" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/')" "ENV PATH=$bin:$path" 'ENV PGDATA=/var/lib/postgresql/data' \
		'USER postgres' 'ENTRYPOINT ["/entrypoint.sh"]' 'CMD ["postgres"]'
}

for kind in redis postgres etcd consul; do
	fs=$stage/$kind
	mkdir "$fs"
	"$kind"
	name=TENURE_TEST_${kind^^}_IMAGE
	[ -n "${!name:-}" ] || say "no stand-in image for $kind, since its server isn't here: 'make servers KINDS=$kind' brings it"
	rm -rf "$fs"
done
"$@"
