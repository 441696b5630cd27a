#!/bin/sh
# deb: $1 is "install" or "upgrade"; rpm: $1 is 1 for the first version. Makes the user that the service runs as.
set -e
getent group @USER@ >/dev/null || groupadd --system @USER@
getent passwd @USER@ >/dev/null ||
	useradd --system --gid @USER@ --home-dir @STATE@ --no-create-home --shell /usr/sbin/nologin --comment "gslb" @USER@
# After a removal, dpkg tells only this script that it installs and does not upgrade; postinstall needs to know too.
if [ "$1" = install ]; then : >/run/@NAME@.installing; fi
