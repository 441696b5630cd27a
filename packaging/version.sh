#!/bin/sh
# version.sh MODULE: prints the version of a module, such as overwatch. It runs at the root of the repository. The
# version is that of the last tag MODULE/vX.Y.Z, with the commits since as in 1.0.0+2.gabcdef0, or that of
# MODULE/VERSION where this is newer, or there is no tag, or no git (as in an archive). Behind a plus, packages of
# commits since a tag are newer than those of the tag; behind a minus they would be older.
set -eu
module=$1
described() { git describe --tags --match "$module/v[0-9]*" "$@" 2>/dev/null | sed "s,^$module/v,,"; }
file=$(cat "$module/VERSION")
tag=$(described --abbrev=0)
# 1.0.0-rc1 is older than 1.0.0: sort takes ~ for that.
newest=$(printf '%s\n' "$file" "$tag" | sed 's/-/~/' | sort -V | tail -n 1 | sed 's/~/-/')
if [ "$newest" = "$tag" ]; then described | sed 's/-\([0-9]*\)-\(g[0-9a-f]*\)$/+\1.\2/'; else echo "$newest"; fi
