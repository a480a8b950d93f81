#!/bin/sh
# Makes a user of etcd who may keep leases below one prefix, and nothing else.
#
#   export ETCDCTL_ENDPOINTS=https://a:2379,https://b:2379 ETCDCTL_USER=root:...
#   TENURE_PASSWORD=... deploy/policies/etcd.sh billing
#   # then: etcds://billing:PASSWORD@a,b?prefix=billing
#
# Arguments: USER, and PREFIX if it is another word. The role has the user's name. The password comes by the environment and goes by
# standard input, so that no list of processes shows it. A user or a role that is there is kept; the password is set.
#
# Readwrite on the prefix is the whole of it: etcd has no separate permission for its leases, and asks for this one on all keys that a lease carries.
set -eu

user=${1:?usage: TENURE_PASSWORD=... etcd.sh USER [PREFIX]}
prefix=${2:-$user}
: "${TENURE_PASSWORD:?set it to the password of the new user}"
etcdctl=${ETCDCTL:-etcdctl}

case $prefix in
*[!A-Za-z0-9._-]*)
	echo "etcd.sh: write the prefix $prefix as the store does, with %XX for all but letters, digits, dot, dash and underscore: not supported here" >&2
	exit 2
	;;
esac

"$etcdctl" role get "$user" >/dev/null 2>&1 || "$etcdctl" role add "$user"
"$etcdctl" role grant-permission --prefix "$user" readwrite "$prefix/"
if "$etcdctl" user get "$user" >/dev/null 2>&1; then
	printf '%s\n' "$TENURE_PASSWORD" | "$etcdctl" user passwd --interactive=false "$user"
else
	printf '%s\n' "$TENURE_PASSWORD" | "$etcdctl" user add --interactive=false "$user"
fi
"$etcdctl" user grant-role "$user" "$user"
