#!/usr/bin/env bash
# record.sh records site/failover.cast: a failover of real processes on this machine, in about a minute. It runs at the
# root of the repository after `make build`, and requires asciinema, dig and python3.
set -euo pipefail
if [ -z "${RECORDING:-}" ]; then
	for tool in asciinema dig python3; do
		command -v $tool >/dev/null || { echo "record.sh: $tool is missing" >&2 && exit 1; }
	done
	export RECORDING=1
	exec asciinema rec --quiet --overwrite --cols 100 --rows 26 --command "$0" site/failover.cast
fi
work=$(mktemp -d /tmp/gslb.XXX) && export PATH="$PWD/bin:$PATH" GSLB_CONFIG=$work/contexts.yaml HOME=$work && cd "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null; rm -rf "$work"' EXIT
say() { printf '\033[1;32m# %s\033[0m\n' "$*"; }
# run prints a command as if it were typed, then runs it.
run() {
	printf '\033[1m$ \033[0m'
	for ((i = 0; i < ${#1}; i++)); do printf '%s' "${1:i:1}" && sleep 0.02; done
	echo && eval "$1" && sleep "${2:-1.5}"
}
answers() { for _ in $(seq "$1"); do dig @127.0.0.1 -p 5300 app.gslb.example.com +short && sleep "${2:-0.3}"; done; }
serve() { python3 -m http.server 8000 --bind "$1" >/dev/null 2>&1 & }

say "A node, an agent and two backends on this machine"
run "gslbctl init try --local --zone gslb.example.com --service app=127.0.0.1:8000,127.0.0.2:8000 | head -2"
serve 127.0.0.1 && serve 127.0.0.2 && second=$!
run "gslb-overwatch --config try/overwatch.yaml >node.log 2>&1 &" 0.5
run "gslb-agent --config try/agent.yaml >agent.log 2>&1 &" 0.5
until dig @127.0.0.1 -p 5300 app.gslb.example.com +short 2>/dev/null | grep -q '^127'; do sleep 0.2; done
sleep 4
run "gslbctl backends | cut -c1-98" 3
say "The answers rotate through both backends"
run "answers 4"
say "One backend stops: three failed checks later, only the other one is in the answers"
run "kill $second" 0.2
start=${EPOCHREALTIME/[.,]/}
until [ "$(answers 12 0 | sort -u)" = 127.0.0.1 ]; do sleep 0.1; done
took=$(((${EPOCHREALTIME/[.,]/} - start) / 100000))
say "All answers have the other address after $((took / 10)).$((took % 10)) s"
run "answers 4"
run "gslbctl backends | cut -c1-98" 3
run "gslbctl events --since 1m | cut -c1-98" 3
say "The backend starts again, and returns to the answers"
serve 127.0.0.2
until answers 4 0 | grep -q 127.0.0.2; do sleep 0.2; done
run "answers 4" 2
