#!/bin/sh
# prepare.sh writes the configurations of compose.yaml into run/, and .env with the user of the containers. It runs at
# the root of the repository after `make bin/gslbctl`. GSLBCTL is another path of gslbctl, RUN and ENV are other paths
# of the results. It changes nothing if run/ exists: delete run/ and .env for a new cluster.
set -eu
here=$(dirname "$0")
run=${RUN:-$here/run}
[ ! -e "$run" ] || exit 0
umask 077
GSLB_CONFIG=$run/contexts.yaml "${GSLBCTL:-bin/gslbctl}" init "$run" --zone gslb.example.com \
	--node ns1=172.28.0.11 --node ns2=172.28.0.12 --check http:/hostname \
	--service app=172.28.0.21:8000,172.28.0.22:8000 >/dev/null
# The published port of the API: requests come from the gateway of the network.
sed -i 's,^\( *\)- "127.0.0.1/32"$,&\n\1- "172.28.0.1/32",' "$run"/overwatch-ns*.yaml
# init writes one agent for all backends. Here each site has an agent for its own backend.
for site in 1 2; do
	awk -v own="172.28.0.2$site" '
		/^    - service:/ { item = $0; next }
		item != ""        { keep = index($0, own) > 0; if (keep) print item; item = "" }
		/^  backends:/    { print; inside = 1; next }
		!inside || keep
	' "$run/agent.yaml" >"$run/agent-$site.yaml"
	mkdir "$run/ns$site" "$run/agent$site"
done
rm "$run/agent.yaml"
{
	echo "GSLB_USER=$(id -u):$(id -g)"
	echo "GSLB_TOKEN=$(cat "$run/admin.token")"
} >"${ENV:-$here/.env}"
