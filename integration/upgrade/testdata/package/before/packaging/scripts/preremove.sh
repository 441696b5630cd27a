#!/bin/sh
# deb: $1 is "remove", or "upgrade" before another version comes. rpm: $1 is 0 when the last version goes.
set -e
case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac
command -v systemctl >/dev/null || exit 0
if [ -d /run/systemd/system ]; then
	systemctl disable --now @UNITS@ >/dev/null 2>&1 || true
else
	systemctl --no-reload disable @UNITS@ >/dev/null 2>&1 || true
fi
