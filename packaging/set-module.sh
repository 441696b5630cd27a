#!/bin/sh
# set-module.sh renames the Go modules to the path in the file packaging/module-path. It runs at the root of the
# repository, with GNU sed, and changes the sources: review and commit them afterwards.
#
# With a path other than gslb.internal, `go install` must accept the modules. They then require the modules of the same
# version, VERSION, instead of a directory, and go.work selects the directories in a clone.
set -eu
new=$(cat packaging/module-path)
old=$(sed -n 's,^module \(.*\)/shared$,\1,p' shared/go.mod)
version=v$(cat VERSION)
case $new in
*[!a-z0-9A-Z./_~-]* | */ | /* | '') echo "packaging/module-path: \"$new\" is no Go module path" >&2 && exit 1 ;;
esac
pattern=$(printf '%s' "$old" | sed 's/[.]/\\./g')
if [ "$old" != "$new" ]; then
	grep -rlF --exclude-dir=.git --exclude-dir=.tools --exclude-dir=bin --exclude-dir=dist "$old/" . |
		while read -r file; do
			sed -i "s,$pattern/,$new/,g" "$file"
			case $file in *.go) gofmt -w "$file" ;; esac # sorts the imports by their new paths
		done
fi
[ "$new" != gslb.internal ] || exit 0
for file in */go.mod packaging/*/go.mod integration/bench/go.mod; do
	for own in shared overwatch agent; do
		if grep -q "^[[:space:]]*$new/$own v" "$file"; then
			GOWORK=off go mod edit -dropreplace="$new/$own" -require="$new/$own@$version" "$file"
		fi
	done
done
sed -i '/^replace /d' go.work
for own in shared overwatch agent; do go work edit -replace="$new/$own@$version=./$own"; done
