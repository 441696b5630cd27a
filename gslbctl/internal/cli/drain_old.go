package cli

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/gslbctl/internal/dnsask"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// Nodes of version 0.9.0 do not report when a server is safe to stop. This file derives the state from their DNS
// answers. Delete the file when gslbctl no longer supports 0.9.0.

// drainQuestions is the number of queries for one name that each poll sends to a node. A server with a small share is
// not in every answer.
const drainQuestions = 8

// oldDrains is the state of servers on a node of version 0.9.0.
type oldDrains struct {
	quiet map[string]time.Time // time since which no answer of the node contains a server, by id
}

// stateOfOld returns the state of a server on a node of version 0.9.0.
func (w *drainWait) stateOfOld(ctx context.Context, n *drainNode, s api.Backend, all []api.Backend) drainState {
	if n.old == nil {
		n.old = &oldDrains{quiet: make(map[string]time.Time)}
		w.tellOld(n)
	}
	if reason := w.trafficAtOld(ctx, n, s, all); reason != "" {
		delete(n.old.quiet, s.ID)
		return drainState{reason: reason}
	}
	if n.old.quiet[s.ID].IsZero() {
		n.old.quiet[s.ID] = time.Now() // answers of the node may have contained the server until now
	}
	left := w.ttl - time.Since(n.old.quiet[s.ID])
	return drainState{safe: left <= 0, left: left}
}

// tellOld prints how gslbctl determines that servers on a node are safe to stop.
func (w *drainWait) tellOld(n *drainNode) {
	w.note.Lock()
	defer w.note.Unlock()
	w.clear()
	fmt.Fprintf(w.app.Err, "%s does not report when a server is safe to stop, as version 0.9.0: gslbctl queries its "+
		"answers, and then waits for the TTL of the name\n", n.Client.Node())
}

// trafficAtOld returns the reason why a server can still receive traffic, or "".
func (w *drainWait) trafficAtOld(ctx context.Context, n *drainNode, s api.Backend, all []api.Backend) string {
	i := slices.IndexFunc(all, func(b api.Backend) bool { return b.ID == s.ID })
	if all[i].MayServe && all[i].Share > 0 {
		return fmt.Sprintf("%s still has %.0f%% of its share at %s", s.ID, 100*all[i].Share, n.Client.Node())
	}
	switch clients, err := n.clientsAnswered(ctx, s); {
	case err != nil:
		_, sentence := fleet.Explain(err)
		return sentence
	case clients != "":
		return w.stillAnswered(*n, s, clients, all)
	}
	switch yes, err := n.answered(ctx, s, w.app.Timeout); {
	case err != nil:
		return fleet.ExplainDNS(err, n.DNS)
	case yes:
		return w.stillAnswered(*n, s, "", all)
	}
	return ""
}

// answered reports whether a DNS answer of a node contains a server's address or host name.
func (n drainNode) answered(ctx context.Context, s api.Backend, timeout time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	address, err := netip.ParseAddr(s.Address)
	if err != nil {
		return false, err
	}
	conn, err := dnsask.Dial(ctx, n.DNS)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	for range drainQuestions {
		answer, err := conn.Ask(ctx, concrete(s.Service), address.Is6())
		if err != nil {
			return false, err
		}
		if slices.Contains(answer.Addresses, address) || answer.Alias != "" && sameName(answer.Alias, s.Target) {
			return true, nil
		}
	}
	return false, nil
}
