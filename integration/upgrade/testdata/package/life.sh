#!/bin/bash
# The life of the packages on a machine with systemd. It runs as a unit of a container that package_test.go boots and writes
# what it does to /test/story; the last line of /test/verdict is "pass" when every step held.
exec >/test/story 2>&1
cd /test
fail() {
	echo "FAILED: $*"
	journalctl --no-pager -u 'gslb*' | tail -n 60
	echo fail >/test/verdict
	systemctl --force --force poweroff
	exit 1
}
step() { echo "== after $SECONDS s: $*"; }
within() { # seconds, what, command...
	local until=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/test/last 2>&1; do
		[ $SECONDS -lt $until ] || { cat /test/last; fail "$what: not within the time"; }
		sleep 0.2
	done
}
answers() { dig +time=5 +tries=1 +dnssec @127.0.0.1 gslb.example.com SOA | grep -q 'RRSIG.*SOA'; }
steers() { [ "$(dig +time=5 +tries=1 +short @127.0.0.1 app.gslb.example.com)" = 127.0.0.1 ]; }
main_pid() { systemctl show -p MainPID --value "$1"; }
new_process() { [ "$(main_pid gslb-overwatch)" != "$1" ] && [ "$(main_pid gslb-overwatch)" != 0 ]; }
says() { journalctl --no-pager -u "$1" | grep -q "$2"; } # what was printed is in the journal a little later
commands_of() { sed -n 's/^#   //p' "$1"; } # those that an example says to type

step installing with nothing configured
dpkg -i first/gslb-overwatch_*.deb first/gslb-agent_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "dpkg -i"; }
grep -q 'gslb-overwatch: write /etc/gslb/overwatch.yaml' dpkg.out || { cat dpkg.out; fail "the installation does not say what to do next"; }
getent passwd gslb || fail "no user gslb"
systemctl is-enabled gslb-overwatch gslb-agent || fail "not enabled at boot"
systemctl is-active gslb-overwatch && fail "runs without a configuration"

step following the example of the node
# Its backend is on this machine, which an agent's may be only where the node says so.
local_backend() {
	sed -i '/agent_tokens_file:/a\  agent_policies: {app.gslb.example.com: {allowed_cidrs: [127.0.0.0/8]}}' "$1"
}
local_backend /usr/share/doc/gslb-overwatch/examples/overwatch.yaml
/bin/sh -ec "$(commands_of /usr/share/doc/gslb-overwatch/examples/overwatch.yaml)" || fail "the commands of the example"
systemctl is-active gslb-overwatch || fail "does not run"
within 30 "a signed answer" answers
[ "$(stat -c '%U %a' /var/lib/gslb)" = "gslb 700" ] || fail "state directory: $(stat -c '%U %a' /var/lib/gslb)"
[ "$(ps -o user= -p "$(main_pid gslb-overwatch)")" = gslb ] || fail "runs as somebody else"

step following the example of the agent
sed -i 's/203.0.113.20/127.0.0.1/; s/port: 443/port: 8088/; s/"203.0.113.10:7946", "198.51.100.10:7946"/"127.0.0.1:7946"/' /usr/share/doc/gslb-agent/examples/agent.yaml
systemd-run -q --unit=application /test/backend -listen 127.0.0.1:8088
/bin/sh -ec "$(commands_of /usr/share/doc/gslb-agent/examples/agent.yaml | sed '/systemctl/d')" || fail "the commands of the example"
cat /etc/gslb/gossip.key >/etc/gslb/agent-gossip.key # the example says to put it in by hand
sed 's/.*: //' /etc/gslb/agent-tokens.yaml >/etc/gslb/service.token
sed -i '/^  identity:/i\  drain_time: 2s' /etc/gslb/agent.yaml # so that its end need not be waited for
systemctl start gslb-agent || fail "the agent does not start"
within 30 "the agent's backend in the answers" steers

step reloading
rm -f /bin/kill /usr/bin/kill # a minimal Debian has none
sed -i 's/^domains:/domainz:/' /etc/gslb/overwatch.yaml
systemctl reload gslb-overwatch && fail "a wrong configuration was reloaded without a word"
within 10 "what is wrong in the journal" says gslb-overwatch domainz
systemctl is-active gslb-overwatch || fail "a wrong configuration stopped the service"
sed -i 's/^domainz:/domains:/' /etc/gslb/overwatch.yaml
systemctl reload gslb-overwatch gslb-agent || fail "reload"
answers || fail "no answer after the reload"

echo "app.gslb.example.com A" >queries
# under_load RATE SECONDS COMMAND: no query is lost while the command runs
under_load() {
	dnsperf -s 127.0.0.1 -d queries -l "$2" -Q "$1" -c 8 -q 20000 -b 8192 -t 10 >load 2>&1 &
	local load=$!
	sleep 1
	"$3"
	wait $load
	grep Queries load
	grep -q 'Queries lost: *0 ' load || fail "queries were lost"
}
replace_thrice() {
	systemctl restart gslb-overwatch || fail "restart"
	sleep 1
	local before=$(main_pid gslb-overwatch)
	dpkg -i second/gslb-overwatch_*.deb || fail "upgrade"
	new_process "$before" || fail "the upgrade did not restart the service"
	gslb-overwatch --version | grep -q 'gslb-overwatch 1.1.0' || fail "the upgrade is not installed"
	sleep 1
	before=$(main_pid gslb-overwatch)
	kill -9 "$before"
	within 30 "a new process after kill -9" new_process "$before"
}
restart() { systemctl restart gslb-overwatch || fail "restart"; }

step a restart, an upgrade and a crash under load lose no query
# As many as fit into the buffers that this machine's kernel gives a service (net.core.rmem_max) for some seconds.
under_load 100 12 replace_thrice
within 30 "the agent's backend after the upgrade" steers

step the watchdog replaces a process that hangs
mkdir -p /run/systemd/system/gslb-overwatch.service.d
printf '[Service]\nWatchdogSec=2s\n' >/run/systemd/system/gslb-overwatch.service.d/soon.conf
systemctl daemon-reload && systemctl restart gslb-overwatch || fail "restart"
undisturbed() { before=$(main_pid gslb-overwatch) && sleep 3 && [ "$(main_pid gslb-overwatch)" = "$before" ]; }
# A machine that stands still for a second is no process that hangs, and looks like one; not each time.
undisturbed || undisturbed || undisturbed || fail "the watchdog killed a process that was well"
kill -STOP "$before"
within 30 "a new process after the old one hung" new_process "$before"
within 30 "an answer of the new process" answers

step the socket unit
systemctl stop gslb-overwatch || fail "stop"
answers && fail "answers although it is stopped"
systemctl start gslb-overwatch.socket || fail "the socket unit does not start"
within 30 "an answer of the process that the query started" answers
systemctl is-active gslb-overwatch || fail "the query did not start the service"
under_load 500 5 restart
systemctl stop gslb-overwatch.socket gslb-overwatch
systemctl start gslb-overwatch || fail "start without the socket unit"
within 30 "an answer" answers

step draining and stopping the agent
systemctl restart gslb-agent || fail "the agent does not restart"
within 30 "the agent's backend again" steers
systemctl stop gslb-agent || fail "the agent does not stop"
gone() { ! steers; }
within 10 "the backend to leave the answers with its agent" gone

# owner_is USER PATH...
owner_is() {
	local user=$1 path
	shift
	for path; do [ "$(stat -c %U "$path")" = "$user" ] || fail "$path belongs to $(stat -c %U "$path"), want $user"; done
}
runs_as() { [ "$(ps -o user:20= -p "$(main_pid "$1")")" = "$2" ]; }
# Links to what no package may touch, made by somebody who may write in a state directory.
mkdir /srv/kept && touch /srv/kept/file && chown -R gslb:gslb /srv/kept
snare() { # directory, user
	runuser -u "$2" -- ln -sfn /srv/kept "$1/link" && runuser -u "$2" -- ln -sf /etc/passwd "$1/file-link" || fail "links in $1"
}
untouched() {
	owner_is root /etc/passwd
	owner_is gslb /srv/kept /srv/kept/file
}

step an upgrade of the agent keeps its files, and starts only an agent that ran
dpkg -i second/gslb-agent_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "upgrade of an agent that is stopped"; }
systemctl is-active gslb-agent && fail "the upgrade started an agent that was stopped"
systemctl start gslb-agent || fail "the upgraded agent does not start"
within 30 "the agent's backend in the answers" steers
snare /var/lib/gslb-agent gslb-agent
fingerprint=$(sha256sum </var/lib/gslb-agent/agent.crt)
dpkg -i first/gslb-agent_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "going back"; }
dpkg -i second/gslb-agent_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "upgrade"; }
runs_as gslb-agent gslb-agent || fail "the upgraded agent runs as somebody else"
within 30 "the agent's backend after its upgrade" steers
owner_is gslb-agent /var/lib/gslb-agent /var/lib/gslb-agent/agent.key /etc/gslb/agent.yaml /etc/gslb/service.token
[ "$(sha256sum </var/lib/gslb-agent/agent.crt)" = "$fingerprint" ] || fail "the agent has another certificate"
runuser -u gslb -- cat /etc/gslb/agent.yaml /var/lib/gslb-agent/agent.key && fail "the node can read what is the agent's"
runuser -u gslb-agent -- cat /etc/gslb/overwatch.yaml && fail "the agent can read what is the node's"
untouched

step removing the agent leaves the node, and purging follows no link and enters no mount
mkdir /var/lib/gslb-agent/mounted && mount -t tmpfs kept /var/lib/gslb-agent/mounted && touch /var/lib/gslb-agent/mounted/file || fail "mount"
dpkg -r gslb-agent || fail "dpkg -r gslb-agent"
[ -f /var/lib/gslb-agent/agent.key ] || fail "the removal took the agent's state"
answers || fail "removing the agent stopped the node"
dpkg -P gslb-agent || fail "dpkg -P gslb-agent"
[ -f /var/lib/gslb-agent/mounted/file ] || fail "the purge emptied what was mounted"
[ -e /var/lib/gslb-agent/agent.key ] && fail "the purge left the agent's state"
umount /var/lib/gslb-agent/mounted && rmdir /var/lib/gslb-agent/mounted /var/lib/gslb-agent || fail "the purge left more: $(ls -A /var/lib/gslb-agent)"
untouched
answers || fail "purging the agent stopped the node"

step an agent that is new beside the node, by its example
dpkg -i second/gslb-agent_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "dpkg -i"; }
sed -i 's/203.0.113.20/127.0.0.1/; s/port: 443/port: 8088/; s/"203.0.113.10:7946", "198.51.100.10:7946"/"127.0.0.1:7946"/' /usr/share/doc/gslb-agent/examples/agent.yaml
/bin/sh -ec "$(commands_of /usr/share/doc/gslb-agent/examples/agent.yaml | sed '/systemctl/d')" || fail "the commands of the example"
cat /etc/gslb/gossip.key >/etc/gslb/agent-gossip.key
sed 's/.*: //' /etc/gslb/agent-tokens.yaml >/etc/gslb/service.token
systemctl start gslb-agent || fail "the agent does not start"
runs_as gslb-agent gslb-agent || fail "the agent runs as somebody else"
within 30 "the agent's own key" [ -s /var/lib/gslb-agent/agent.key ]
owner_is gslb-agent /var/lib/gslb-agent /var/lib/gslb-agent/agent.key

step removing keeps the state, purging does not
dpkg -r gslb-overwatch || fail "dpkg -r"
systemctl is-active gslb-overwatch && fail "runs after the removal"
systemctl is-active gslb-agent || fail "removing the node stopped the agent"
[ -n "$(ls /var/lib/gslb/dnssec)" ] || fail "the removal took the state"
dpkg -i second/gslb-overwatch_*.deb || fail "installing again"
systemctl is-enabled gslb-overwatch || fail "installing again does not enable it"
within 30 "an answer, since configuration and state were there" answers
snare /var/lib/gslb gslb
dpkg -P gslb-overwatch || fail "dpkg -P"
systemctl is-active gslb-agent && [ -f /var/lib/gslb-agent/agent.key ] || fail "purging the node took what is the agent's"
dpkg -P gslb-agent || fail "dpkg -P"
[ -e /var/lib/gslb ] || [ -e /var/lib/gslb-agent ] && fail "the purge left state"
[ -f /etc/gslb/overwatch.yaml ] || fail "the purge took the operator's configuration"
untouched

step a state directory that is a link is left alone, and so is what it names
dpkg -i second/gslb-agent_*.deb || fail "dpkg -i"
systemctl stop gslb-agent
rm -rf /var/lib/gslb-agent && ln -s /srv/kept /var/lib/gslb-agent
dpkg -P gslb-agent >dpkg.out 2>&1 || { cat dpkg.out; fail "dpkg -P"; }
grep -q '/var/lib/gslb-agent is a symbolic link' dpkg.out || { cat dpkg.out; fail "the purge does not say that it keeps the link"; }
[ -L /var/lib/gslb-agent ] && [ -f /srv/kept/file ] || fail "the purge followed the link"
untouched
rm /var/lib/gslb-agent

rpms() { rpm "$@" --nodeps --nosignature --ignoreos --ignorearch; }

step an upgrade of the rpm of the agent keeps its files
rpms -i first/gslb-agent-*.rpm || fail "rpm -i"
within 30 "the agent's key" [ -s /var/lib/gslb-agent/agent.key ]
snare /var/lib/gslb-agent gslb-agent
rpms -U second/gslb-agent-*.rpm || fail "rpm -U"
within 30 "the agent after the upgrade" systemctl -q is-active gslb-agent
owner_is gslb-agent /var/lib/gslb-agent /var/lib/gslb-agent/agent.key
untouched
rpm -e --nodeps gslb-agent || fail "rpm -e"
[ -f /var/lib/gslb-agent/agent.key ] || fail "the removal took the state"
rm -rf /var/lib/gslb-agent

step the rpm enables its service although the presets of Fedora and RHEL disable what they do not name
install -d /etc/systemd/system-preset && echo 'disable *' >/etc/systemd/system-preset/99-default-disable.preset
rpms -i second/gslb-agent-*.rpm || fail "rpm -i"
systemctl -q is-enabled gslb-agent || fail "the agent would not start at boot"
rpm -e --nodeps gslb-agent || fail "rpm -e"
rm -rf /var/lib/gslb-agent /etc/systemd/system-preset/99-default-disable.preset

step the launcher, following its example of a node
dpkg -i first/gslb_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "dpkg -i"; }
grep -q 'gslb: write /etc/gslb/gslb.yaml' dpkg.out || { cat dpkg.out; fail "the installation does not say what to do next"; }
[ -f /usr/lib/sysctl.d/60-gslb.conf ] || fail "no socket buffers for DNS"
/bin/sh -ec "$(commands_of /usr/share/doc/gslb/examples/overwatch.yaml)" || fail "the commands of the example"
within 30 "an answer of the launcher" answers
[ "$(ps -o user= -p "$(main_pid gslb)")" = gslb ] || fail "runs as somebody else"
gslb --config /etc/gslb/gslb.yaml --status || fail "--status of a node that is well"

step a role package beside the launcher: told what is in the way, and nothing breaks
dpkg -i second/gslb-overwatch_*.deb >dpkg.out 2>&1 || { cat dpkg.out; fail "dpkg -i beside the launcher"; }
cat dpkg.out
grep -q 'gslb-overwatch.service does not run: journalctl -u gslb-overwatch.service tells why' dpkg.out || fail "it does not say that it does not run"
within 10 "what is in the way in the journal" says gslb-overwatch 'data_dir /var/lib/gslb is in use by another gslb process'
answers || fail "the launcher does not answer any more"
dpkg -P gslb-overwatch >dpkg.out 2>&1 || { cat dpkg.out; fail "dpkg -P"; }
grep -q '/var/lib/gslb stays, since gslb uses it too' dpkg.out || { cat dpkg.out; fail "the purge does not say that it keeps the state"; }
[ -n "$(ls /var/lib/gslb/dnssec)" ] || fail "the purge took the launcher's state"

step an upgrade of the launcher under load loses no query
upgrade_launcher() {
	dpkg -i second/gslb_*.deb || fail "upgrade"
	gslb --version | grep -q 'gslb 1.1.0' || fail "the upgrade is not installed"
}
under_load 100 5 upgrade_launcher

step a mode that is wrong or missing is explained, and the process goes on
sed -i 's/^mode:.*/mode: nameserver/' /etc/gslb/gslb.yaml
systemctl reload gslb && fail "a wrong mode was reloaded without a word"
within 10 "which modes there are in the journal" says gslb 'mode.*nameserver.*agent.*overwatch'
sed -i '/^mode:/d' /etc/gslb/gslb.yaml
gslb --config /etc/gslb/gslb.yaml --validate 2>&1 | grep -q 'mode.*agent.*overwatch' || fail "a missing mode is not explained"
answers || fail "no answer any more"

step the launcher, following its example of an agent
systemctl stop gslb || fail "stop"
sed -i 's/203.0.113.20/127.0.0.1/; s/port: 443/port: 8088/; s/"203.0.113.10:7946", "198.51.100.10:7946"/"127.0.0.1:7946"/' /usr/share/doc/gslb/examples/agent.yaml
/bin/sh -ec "$(commands_of /usr/share/doc/gslb/examples/agent.yaml | sed '/systemctl/d')" || fail "the commands of the example"
cat /etc/gslb/gossip.key >/etc/gslb/agent-gossip.key
sed 's/.*: //' /etc/gslb/agent-tokens.yaml >/etc/gslb/service.token
systemctl start gslb || fail "the launcher does not start as an agent"
within 30 "the agent's key" [ -s /var/lib/gslb/agent.key ]
within 10 "the launcher to be an agent" says gslb 'agent started'

step removing the launcher keeps the state, purging does not
systemctl stop gslb
dpkg -r gslb || fail "dpkg -r"
[ -f /var/lib/gslb/agent.key ] || fail "the removal took the state"
dpkg -P gslb || fail "dpkg -P"
[ -e /var/lib/gslb ] && fail "the purge left state"
[ -f /etc/gslb/gslb.yaml ] || fail "the purge took the operator's configuration"

echo pass >/test/verdict
systemctl --force --force poweroff
