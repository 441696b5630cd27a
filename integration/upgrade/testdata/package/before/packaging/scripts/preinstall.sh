#!/bin/sh
# Makes the user that the services run as.
set -e
getent group gslb >/dev/null || groupadd --system gslb
getent passwd gslb >/dev/null || useradd --system --gid gslb --home-dir /var/lib/gslb --no-create-home --shell /usr/sbin/nologin --comment "gslb" gslb
