package conditions

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// walkRejected reports the nodes with a certificate that agents reject. Agents that do not enroll indicate that they
// reject this node. Reports of agents list the rejected other nodes.
func (j *Judge) walkRejected(to report) {
	if j.o.Rejecting != nil {
		if count, from := j.o.Rejecting(); count > 0 {
			to(api.NodeRejected, "", func() (string, string) { return describeRejecting(count, from), "gslbctl agents list" })
		}
	}
	for _, one := range listed(j.o.Rejected) {
		to(api.NodeRejected, one.NodeID, func() (string, string) {
			return fmt.Sprintf("%s the certificate of node %s (%s): if it was reinstalled, set "+
					"overwatch.dnssec.key_sync.secret on all nodes, or delete its file in overwatch_pins/ of each agent; if it "+
					"was not, another machine uses its address", rejecters(one.Agents), one.NodeID,
					shortened(one.KeyID.Fingerprint())),
				"gslbctl gossip nodes"
		})
	}
}

func describeRejecting(count int, from netip.Addr) string {
	who := "an agent"
	if count > 1 {
		who = fmt.Sprintf("%d agents", count)
	}
	return fmt.Sprintf("agents reject this node's certificate: %s (one at %s) reached it and did not enroll, since "+
		"another certificate is pinned; restore overwatch.crt and overwatch.key, or set overwatch.dnssec.key_sync.secret "+
		"on all nodes so that a peer introduces the certificate, or delete this node's file in overwatch_pins/ of each agent",
		who, from)
}

// rejecters returns the names of at most three agents.
func rejecters(agents []string) string {
	const shown = 3
	if more := len(agents) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more agents reject", strings.Join(agents[:shown], ", "), more)
	}
	if len(agents) == 1 {
		return agents[0] + " rejects"
	}
	return strings.Join(agents, ", ") + " reject"
}

const (
	// peersWait is the maximum time after the start in which a node is not ready because peers serve names that it does
	// not serve.
	peersWait = time.Minute
	// firstAnswerWait is the maximum time after the start in which a node waits for the first answers of its peers.
	firstAnswerWait = 5 * time.Second
)

// behindPeers returns the reason why this node is not ready although its peers serve; "" if it is ready. After the
// first "" that follows the answers of the peers, and after peersWait, it always returns "".
func (j *Judge) behindPeers() string {
	if j.o.PeersServe == nil || j.caughtUp.Load() {
		return ""
	}
	since := j.o.Now().Sub(j.began)
	if since >= peersWait {
		j.caughtUp.Store(true)
		return ""
	}
	served, pending := j.o.PeersServe()
	if pending && since < firstAnswerWait {
		return "the other nodes have not answered yet"
	}
	steered, missing := map[string]bool{}, 0
	for _, d := range j.o.Domains() {
		steered[d.Name] = true
	}
	for _, name := range served {
		if steered[name] && !serves(j.o.View, name) {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("other nodes serve %d names that have no backend here yet", missing)
	}
	j.caughtUp.Store(!pending)
	return ""
}

// serves reports whether a backend of the name may serve.
func serves(view *registry.View, name string) bool {
	return slices.ContainsFunc(view.Service(name), func(b *registry.Backend) bool { return b.MayServe })
}

// Serving returns the domains with a backend that may serve, for peers that have just started.
func Serving(view *registry.View, domains []Domain) (names []string) {
	for _, d := range domains {
		if serves(view, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}
