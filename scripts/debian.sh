# Installs Debian packages: source it after lib.sh, don't run it.
# shellcheck shell=bash

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
apt-get -qq -o DPkg::Lock::Timeout=120 update
apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@"
ROOT

# install_packages ALTERNATIVE PACKAGE...: installs Debian packages as root or by sudo, or says what is missing and what else would do.
install_packages() {
	local alternative=$1 become=()
	shift
	command -v apt-get >/dev/null ||
		die "missing: $*, and this is no Debian: install the like with your package manager ($alternative)"
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			die "missing Debian packages: $*, and there is neither root nor sudo: let an administrator run 'apt-get install $*' ($alternative)"
		become=(sudo)
		[ -t 0 ] || become=(sudo -n)
	fi
	say "installing Debian packages: $*"
	"${become[@]}" sh -c "$install_as_root" sh "$@" </dev/null || die "installing $* failed, see above ($alternative)"
	[ ! -d /run/systemd/system ] ||
		say "note: a package's own service was not started, but would be at the next boot: 'systemctl disable redis-server postgresql pgbouncer' prevents it"
}
