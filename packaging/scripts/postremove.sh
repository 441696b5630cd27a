#!/bin/sh
# deb: $1 is "remove" or "purge". RPM has no purge. What a removed package leaves: configuration in /etc/gslb, state,
# the user.
set -e
if [ -d /run/systemd/system ] && command -v systemctl >/dev/null; then systemctl daemon-reload; fi
[ "$1" = purge ] || exit 0
for other in @OTHERS@; do
	if [ -x "/usr/bin/$other" ]; then
		echo "@NAME@: @STATE@ stays, since $other uses it too"
		exit 0
	fi
done
# The service's user could write in the state directory: no link is followed, neither the directory itself nor one in
# it, and no mount is entered.
if [ -L @STATE@ ]; then
	echo "@NAME@: @STATE@ is a symbolic link: it stays, and so does what it names"
	exit 0
fi
rm -rf --one-file-system -- @STATE@ || echo "@NAME@: @STATE@ could not be removed as a whole: look what is left" >&2
