# Packages up to 0.9.0 ran this service as the user @FORMER@. What belongs to @FORMER@ and is this service's goes to
# @USER@: the state directory, the configuration, and the files that it names. Nothing here follows a symbolic link,
# and only what belongs to @FORMER@ changes its owner.
own() { # PATH: gives it, and what is in it, to the new user
	find -P "$1" -xdev -user @FORMER@ -execdir chown -h --from=@FORMER@ @USER@:@USER@ -- {} +
}
# named NAME: prints the sed and grep pattern of a key of the configuration that names a file of /etc/gslb.
named() {
	escaped=$(printf '%s' "$1" | sed 's/[.]/[.]/g')
	printf '%s' "\\(_file: *[\"']\\{0,1\\}\\(/etc/gslb/\\)\\{0,1\\}\\)$escaped\\([\"' ,}]\\|\$\\)"
}
own_configuration() {
	if [ ! -e /etc/gslb/overwatch.yaml ] && [ ! -e /etc/gslb/gslb.yaml ]; then
		own /etc/gslb # all of it is the agent's
		return
	fi
	for path in $(find -P /etc/gslb -maxdepth 1 -type f -user @FORMER@ ! -path "$config" ! -name '*[!A-Za-z0-9._-]*'); do
		name=${path##*/}
		grep -qF -e "$name" "$config" || continue
		if ! grep -rqF --exclude=@CONFIG@ -e "$name" /etc/gslb; then
			own "$path"
		elif grep -q -e "$(named "$name")" "$config"; then # the other program would refuse it if a group could read it
			cp -p "$path" "/etc/gslb/agent-$name"
			sed -i "s#$(named "$name")#\\1agent-$name\\3#" "$config"
			own "/etc/gslb/agent-$name"
			echo "@NAME@: another program of gslb reads $path too, so $config names a copy now: /etc/gslb/agent-$name"
		fi
	done
	own "$config"
}
adopt() {
	if [ -L "$state" ]; then
		echo "@NAME@: $state is a symbolic link: give what it names to the user @USER@ (chown -hR)" >&2
	elif [ -d "$state" ]; then
		own "$state"
	fi
	if [ -L "$config" ]; then
		echo "@NAME@: $config is a symbolic link: give what it names to the user @USER@" >&2
	elif [ -f "$config" ]; then
		own_configuration
		if command -v runuser >/dev/null &&
			! problems=$(runuser -u @USER@ -- /usr/bin/@NAME@ --config "$config" --validate 2>&1); then
			echo "@NAME@ runs as the user @USER@ now, which finds fault with $config: $problems" >&2
		fi
	fi
}
if getent passwd @FORMER@ >/dev/null && [ -n "$(find -P $state $config -maxdepth 0 -user @FORMER@ 2>/dev/null)" ]; then
	if [ -d /run/systemd/system ] && command -v systemctl >/dev/null; then
		case $(systemctl is-active "$unit" || true) in
		inactive | failed | unknown) ;;
		*) # it runs, or systemd is about to start it again, and it writes to its state directory until it has stopped
			systemctl stop "$unit" || true
			stopped=yes
			;;
		esac
	fi
	adopt
fi
