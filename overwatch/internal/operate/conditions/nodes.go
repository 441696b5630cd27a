package conditions

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/shared/api"
)

// unheardFor is the time without a message after which a node is reported. A restart takes less time.
const unheardFor = 30 * time.Second

// walkNodes reports peers that do not answer, nodes without gossip messages, node IDs that two nodes use, and failures
// that other nodes cannot confirm at present. Each node has at most one condition.
func (j *Judge) walkNodes(to report) {
	lost := map[string]bool{}
	for _, p := range listed(j.o.LostPeers) {
		name := cmp.Or(p.Node, p.URL)
		lost[name] = true
		to(api.NodeUnheard, name, func() (string, string) { return describeLost(name, &p), "gslbctl gossip nodes" })
	}
	for _, n := range listed(j.o.Unheard) {
		if lost[n.Node] || j.o.Now().Sub(n.Since) < unheardFor {
			continue
		}
		to(api.NodeUnheard, n.Node, func() (string, string) {
			const command = "gslbctl gossip nodes"
			if n.NeverSeen {
				return fmt.Sprintf("no node has answered at %s (overwatch.gossip.seeds) since %s", n.Node,
					moment(n.Since)), command
			}
			return fmt.Sprintf("node %s was last seen %s: it is down, or cut off from this node", n.Node,
				moment(n.Since)), command
		})
	}
	for _, s := range listed(j.o.SharedIDs) {
		to(api.NodeIDShared, s.Node, func() (string, string) { return describeShared(&s), "gslbctl status" })
	}
	if j.o.NoAgreement != nil {
		if why := j.o.NoAgreement(); why != "" {
			to(api.NoAgreement, "agreement", fixed(why, "gslbctl gossip nodes"))
		}
	}
}

func describeLost(name string, p *replication.LostPeer) string {
	text := fmt.Sprintf("node %s does not answer since %s: it is down, or cut off from this node", name, moment(p.Since))
	if p.Lacks > 0 {
		text += fmt.Sprintf("; it lacks %d objects of this node", p.Lacks)
	}
	if p.Joining {
		text += "; objects and deletions older than overwatch.replication.tombstone_retention are not exchanged until it " +
			"answers, or is removed from the peers"
	}
	return text
}

func describeShared(s *replication.SharedID) string {
	who := "two other nodes have"
	if s.Own {
		who = "another node has this node's"
	}
	at := ""
	if len(s.URLs) > 0 {
		at = " (" + strings.Join(s.URLs, ", ") + ")"
	}
	return fmt.Sprintf("%s id %s%s: give each node its own overwatch.identity.node_id, and restart it", who,
		s.Node, at)
}

// lostURLs returns the URLs of the peers that do not answer.
func (j *Judge) lostURLs() map[string]bool {
	urls := map[string]bool{}
	for _, p := range listed(j.o.LostPeers) {
		urls[p.URL] = true
	}
	return urls
}
