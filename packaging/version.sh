#!/bin/sh
# version.sh prints the version of all programs and packages. It runs at the root of the repository. The version is that
# of the newest tag vX.Y.Z, with the commits since the tag as in 1.0.0+2.gabcdef0. It is the version in the file VERSION
# if this is newer, or if there is no tag or no git (as in an archive). A package of commits since a tag must be newer
# than the package of the tag: deb and rpm order 1.0.0 before 1.0.0+2.gabcdef0, and 1.0.0-2.gabcdef0 before 1.0.0.
set -eu
described() { git describe --tags --match 'v[0-9]*' "$@" 2>/dev/null | sed 's,^v,,'; }
file=$(cat VERSION)
tag=$(described --abbrev=0)
# 1.0.0-rc.1 is older than 1.0.0: sort requires ~ for this order.
newest=$(printf '%s\n' "$file" "$tag" | sed 's/-/~/' | sort -V | tail -n 1 | sed 's/~/-/')
if [ "$newest" = "$tag" ]; then described | sed 's/-\([0-9]*\)-\(g[0-9a-f]*\)$/+\1.\2/'; else echo "$newest"; fi
