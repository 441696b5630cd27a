#!/bin/sh
# deb: $1 is "remove" or "purge"; rpm has no purge. What a removed package leaves: configuration in /etc/gslb, state, the user.
set -e
if [ -d /run/systemd/system ] && command -v systemctl >/dev/null; then systemctl daemon-reload; fi
if [ "$1" = remove ] && [ -d @STATE@ ]; then touch @STATE@/.removed-@NAME@; fi # an installation is then not an upgrade
[ "$1" = purge ] || exit 0
for other in @OTHERS@; do
	if [ -x "/usr/bin/$other" ]; then
		echo "@NAME@: @STATE@ stays, since $other uses it too"
		exit 0
	fi
done
rm -rf @STATE@
