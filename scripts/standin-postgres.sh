#!/bin/sh
# The entry point of the stand-in image of Postgres. Like the official one it makes a cluster with the password of POSTGRES_PASSWORD at the first start,
# runs the server once for that on a Unix socket only, and then starts it for good. The image has no programs but the server's and this shell.
set -eu
if [ "$1" = postgres ] && [ ! -e "$PGDATA/PG_VERSION" ]; then
	umask 077
	printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
	initdb -U postgres --auth-local=trust --auth-host=scram-sha-256 --pwfile=/tmp/password --no-locale -E UTF8 --no-sync
	: >/tmp/password
	printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
	printf "listen_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
	pg_ctl -o "-c listen_addresses=''" -w start
	pg_ctl -m fast -w stop
fi
exec "$@"
