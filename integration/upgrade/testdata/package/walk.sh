#!/bin/bash
# The walk of the README from packages to an answer. It runs as a unit of a container that package_test.go boots and
# writes what it does to /test/story; the last line of /test/verdict is "pass" when every command did what it should.
exec >/test/story 2>&1
cd /test
export HOME=/test/home # a person's shell has one
mkdir $HOME
fail() {
	echo "FAILED: $*"
	journalctl --no-pager -u 'gslb*' | tail -n 40
	echo fail >/test/verdict
	systemctl --force --force poweroff
	exit 1
}
# The addresses of both machines of the walk are this one's, and the application of the second one runs.
ip link set lo up
ip addr add 203.0.113.10/32 dev lo && ip addr add 203.0.113.20/32 dev lo || fail "no addresses"
systemd-run -q --unit=application /test/backend -listen 203.0.113.20:8000

good() { # a command and what it printed: whether it shows what the README says
	case "$1" in
	'gslbctl status') grep -q 'app.gslb.example.com' /test/last ;; # exit code 1, since no agent is there
	'gslbctl backends') grep -q '203.0.113.20:8000 .*healthy .*yes' /test/last ;;
	dig*) grep -qx '203.0.113.20' /test/last ;;
	*doctor*) grep -q . /test/last && ! grep -qi 'permission denied' /test/last ;; # this machine has no delegation
	*) return "$2" ;;
	esac
}
while read -r -u 3 command; do
	echo "== after $SECONDS s: $command"
	until=$((SECONDS + 60))
	while :; do
		bash -c "$command" >/test/last 2>&1
		code=$?
		good "$command" $code && break
		case "$command" in # only what looks is asked again
		gslbctl\ init* | apt* | install* | systemctl*) until=0 ;;
		esac
		[ $SECONDS -lt $until ] || { cat /test/last; fail "$command: exit code $code"; }
		sleep 0.5
	done
	cat /test/last
done 3</test/commands
for unit in gslb-overwatch gslb-agent; do
	systemctl is-active -q $unit || fail "$unit does not run"
	systemctl is-enabled -q $unit || fail "$unit does not start at boot"
done
[ "$(stat -c '%U %a' /etc/gslb/overwatch.yaml /etc/gslb/agent.yaml | tr '\n' ' ')" = "gslb 600 gslb-agent 600 " ] || fail "owners of /etc/gslb"
echo pass >/test/verdict
systemctl --force --force poweroff
