#!/usr/bin/env bash
# Runs the commands of README.md and docs/*.md as they stand: the blocks that begin with ```sh ci. Lines given as arguments are left out.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
commands=$(awk '/^```/ { inside = ($0 == "```sh ci"); next } inside' README.md docs/*.md)
for line in "$@"; do
	commands=$(printf '%s\n' "$commands" | grep -vxF -- "$line" || true)
done
[ -n "$commands" ] || die "README.md has no command for CI: mark a block with \`\`\`sh ci"
printf '%s\n' "$commands" | bash -euxo pipefail
