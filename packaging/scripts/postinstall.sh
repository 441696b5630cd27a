#!/bin/sh
# deb: $1 is "configure", $2 the version before, empty when there was none. rpm: $1 is 1 for the first version, 2 and
# more for an upgrade.
set -e
unit=@UNIT@ config=/etc/gslb/@CONFIG@
upgrade=
case "$1" in
configure) [ -z "$2" ] || upgrade=yes ;;
1) ;;
[0-9]*) upgrade=yes ;;
*) exit 0 ;; # deb: abort-upgrade and the like
esac
if [ -e /run/@NAME@.installing ]; then # it was removed and comes back
	rm -f /run/@NAME@.installing
	upgrade=
fi
command -v systemctl >/dev/null || exit 0
# trouble says that the service does not run. The package is installed all the same.
trouble() { echo "@NAME@: $unit does not run: journalctl -u $unit tells why" >&2; }
if [ -d /run/systemd/system ] && [ -e /usr/lib/sysctl.d/60-@NAME@.conf ]; then
	# All files in their order: one of the administrator's may have a higher value.
	/usr/lib/systemd/systemd-sysctl --prefix=/net/core/rmem_max 2>/dev/null || true
fi
if [ -n "$upgrade" ]; then
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload
		systemctl try-restart "$unit" || trouble # systemd keeps the sockets of DNS meanwhile
	fi
else
	# Not by its preset, which on Fedora and RHEL disables what the distribution does not name.
	systemctl --no-reload enable "$unit" >/dev/null 2>&1 || true
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload
		if [ -e "$config" ]; then systemctl start "$unit" || trouble; fi
	fi
	if [ ! -e "$config" ]; then
		echo "@NAME@: write $config (examples: /usr/share/doc/@NAME@/examples, or gslbctl init)," \
			"then: systemctl start $unit"
	fi
fi
