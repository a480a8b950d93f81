# Shared by the scripts of this folder: source it, don't run it.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${TENURE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tenure}

# shellcheck source=../internal/testenv/versions.env
. "$root/internal/testenv/versions.env"

say() { printf '%s\n' "tenure: $*"; }
die() {
	printf '%s\n' "tenure: $*" >&2
	exit 1
}

# timed NAME COMMAND...: runs the command and prints how long it took.
timed() {
	local name=$1 start=$SECONDS
	shift
	"$@"
	say "$name: $((SECONDS - start)) s"
}

# build_tool MODULE PACKAGE VERSION NAME...: builds PACKAGE of internal/tools/MODULE as $cache/bin/NAME-VERSION, once.
build_tool() {
	local module=$1 package=$2 version=$3 name=$4
	local target=$cache/bin/$name-$version dir=$root/internal/tools/$module
	if [ -x "$target" ]; then
		say "$name $version is there: $target"
		return
	fi
	local pinned
	pinned=$(cd "$dir" && GOWORK=off go list -mod=readonly -f '{{.Module.Version}}' "$package")
	[ "$pinned" = "v$version" ] || die "internal/tools/$module pins $name $pinned, but internal/testenv/versions.env says $version"
	say "building $name $version (once; it stays in $cache)"
	mkdir -p "$cache/bin"
	(cd "$dir" && GOWORK=off GOOS='' GOARCH='' CGO_ENABLED=0 nice go build -mod=readonly -trimpath -ldflags='-s -w' -o "$target.$$" "$package")
	mv "$target.$$" "$target"
}
