package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

const (
	// drainLook is the time between two looks while waiting.
	drainLook = time.Second
	// drainMargin is the extra waiting time after the drain and the TTL.
	drainMargin = time.Minute
)

// drainWait waits until all nodes report that servers are safe to stop.
type drainWait struct {
	app     *app
	nodes   []drainNode
	servers []api.Backend
	ttl     time.Duration // longest TTL of the servers' domains
	until   time.Time     // time when waiting ends without success
	said    string        // topic of the last progress line: traffic or ttl
	note    sync.Mutex    // protects the output of concurrent nodes
}

// drainState is the state of servers on one node or on all nodes.
type drainState struct {
	safe   bool          // safe to stop
	reason string        // a sentence: why the servers may still have traffic; "" if only cached answers have them
	left   time.Duration // until cached answers have expired
}

// drained is the outcome of waiting.
type drained struct {
	Servers     []string `json:"servers"`
	Drained     bool     `json:"drained"`
	WaitSeconds int64    `json:"wait_seconds"`
	Reason      string   `json:"reason,omitempty"`     // why not
	Unanswered  []string `json:"unanswered,omitempty"` // sentences about names that a node no longer answers
}

// newDrainWait checks that the API and the DNS server of each node answer, and reads the TTLs.
func (a *app) newDrainWait(ctx context.Context, servers []api.Backend, f drainFlags) (*drainWait, error) {
	list, err := a.Nodes()
	if err != nil {
		return nil, err
	}
	nodes := make([]drainNode, len(list))
	for i, n := range list {
		nodes[i] = drainNode{Node: n}
	}
	w := &drainWait{app: a, nodes: nodes, servers: servers}
	ttls, failed := make([]time.Duration, len(nodes)), make([]error, len(nodes))
	stop := a.Progress("asking " + render.Count(len(nodes), "node", "nodes"))
	fleet.ForEach(len(nodes), func(i int) { ttls[i], failed[i] = w.prepared(ctx, nodes[i]) })
	stop()
	if err := cmp.Or(failed...); err != nil {
		sentence := "nothing was drained, because --wait requires every node: " + err.Error()
		if len(nodes) > 1 {
			sentence += "; if the node is out of service, give the other nodes with --api"
		}
		return nil, &fleet.Error{Code: fleet.NotAsked, Message: sentence}
	}
	w.ttl = slices.Max(ttls)
	within := f.within
	if within == 0 {
		within = w.ttl + max(f.order.over, w.ttl) + drainMargin
	}
	w.until = time.Now().Add(within)
	return w, nil
}

// prepared sends a node the requests that drainWait will repeat, and returns the longest TTL of the servers' domains.
// The error is a sentence.
func (w *drainWait) prepared(ctx context.Context, n drainNode) (ttl time.Duration, err error) {
	asked := map[string]bool{}
	for _, s := range w.servers {
		if asked[s.Service] {
			continue
		}
		asked[s.Service] = true
		detail, err := n.Domain(ctx, s.Service)
		if fleet.IsNotFound(err) {
			continue // answers of the node never contain it
		}
		if err != nil {
			_, sentence := fleet.Explain(err)
			return 0, errors.New(sentence)
		}
		ttl = max(ttl, time.Duration(detail.Domain.TTL)*time.Second)
	}
	if _, err := n.answered(ctx, w.servers[0], w.app.Timeout); err != nil {
		return 0, errors.New(fleet.ExplainDNS(err, n.DNS))
	}
	return ttl, nil
}

// run polls the nodes until all report that the servers are safe to stop.
func (w *drainWait) run(ctx context.Context) error {
	began := time.Now()
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for {
		state := w.pollNodes(ctx)
		switch {
		case ctx.Err() != nil:
			w.clear()
			return &fleet.Error{Code: fleet.Degraded, Message: "stopped waiting; the drain continues, gslbctl " +
				"undrain reverts it"}
		case state.safe:
			w.clear()
			return w.report(drained{Drained: true, Unanswered: w.unanswered(ctx)}, began)
		case time.Now().After(w.until):
			w.clear()
			return w.report(drained{Reason: state.timedOut()}, began)
		}
		w.printProgress(state)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// pollNodes polls all nodes concurrently and returns the least safe state.
func (w *drainWait) pollNodes(ctx context.Context) drainState {
	states := make([]drainState, len(w.nodes))
	fleet.ForEach(len(w.nodes), func(i int) { states[i] = w.lookAt(ctx, &w.nodes[i]) })
	return joined(states)
}

// joined returns the least safe of states, with all reasons.
func joined(states []drainState) drainState {
	all := drainState{safe: true}
	var reasons []string
	for _, s := range states {
		all.safe, all.left = all.safe && s.safe, max(all.left, s.left)
		if s.reason != "" {
			reasons = append(reasons, s.reason)
		}
	}
	all.reason = strings.Join(reasons, "; ")
	return all
}

// lookAt returns the state of the servers as one node reports it.
func (w *drainWait) lookAt(ctx context.Context, n *drainNode) drainState {
	states := make([]drainState, 0, len(w.servers))
	for _, s := range w.servers {
		list, err := n.Backends(ctx, api.BackendFilter{Service: s.Service})
		if err != nil {
			_, sentence := fleet.Explain(err)
			return drainState{reason: sentence}
		}
		i := slices.IndexFunc(list.Backends, func(b api.Backend) bool { return b.ID == s.ID })
		state := drainState{safe: true} // the node does not know the server
		switch {
		case i < 0:
		case list.Backends[i].Drain == nil:
			state = drainState{reason: fmt.Sprintf("%s is no longer drained at %s", s.ID, n.Client.Node())}
		case list.Backends[i].Drain.Stage == "":
			state = w.stateOfOld(ctx, n, s, list.Backends)
		default:
			state = w.stateOf(ctx, n, &list.Backends[i], list)
		}
		if states = append(states, state); state.reason != "" {
			break
		}
	}
	return joined(states)
}

// stateOf returns the state of a drained server that a node reports in a list.
func (w *drainWait) stateOf(ctx context.Context, n *drainNode, b *api.Backend, list api.BackendList) drainState {
	switch b.Drain.Stage {
	case api.DrainSafe:
		return drainState{safe: true}
	case api.DrainCached:
		state := drainState{}
		if b.Drain.SafeAt != nil {
			state.left = b.Drain.SafeAt.Sub(list.GeneratedAt)
		}
		return state
	case api.DrainAnswered:
		clients, err := n.clientsAnswered(ctx, *b)
		if err != nil {
			_, sentence := fleet.Explain(err)
			return drainState{reason: sentence}
		}
		return drainState{reason: w.stillAnswered(*n, *b, clients, list.Backends)}
	}
	return drainState{reason: fmt.Sprintf("%s still has %.0f%% of its share at %s", b.ID, 100*b.Share, n.Client.Node())}
}

// timedOut returns why waiting ended, and the next step.
func (s drainState) timedOut() string {
	if s.reason != "" {
		return s.reason + "; the drain continues, gslbctl undrain reverts it"
	}
	return fmt.Sprintf("resolvers may use it for another %s; repeat the command", render.Span(s.left))
}

// unanswered returns a sentence for each node and server name for which the node returns neither an address of the
// server's family nor a host name.
func (w *drainWait) unanswered(ctx context.Context) []string {
	sentences := make([][]string, len(w.nodes))
	fleet.ForEach(len(w.nodes), func(i int) {
		asked := map[string]bool{}
		for _, s := range w.servers {
			six := strings.Contains(s.Address, ":")
			if key := fmt.Sprint(s.Service, six); !asked[key] {
				asked[key] = true
				sentences[i] = append(sentences[i], w.nodes[i].unanswered(ctx, s.Service, six, w.app.Timeout)...)
			}
		}
	})
	return slices.Concat(sentences...)
}

// printProgress prints the progress: one changing line on a terminal, or else a new line for each change of the text.
func (w *drainWait) printProgress(s drainState) {
	text, topic := s.reason, "traffic"
	if text == "" {
		text, topic = "no node answers with it; cached answers expire in "+render.Span(s.left), "ttl"
	}
	switch {
	case w.app.Tells:
		fmt.Fprintf(w.app.Err, "\r\x1b[K%s", render.Printable(text))
	case w.said != topic:
		fmt.Fprintln(w.app.Err, render.Printable(text))
	}
	w.said = topic
}

func (w *drainWait) clear() {
	if w.app.Tells {
		fmt.Fprint(w.app.Err, "\r\x1b[K")
	}
}

func (w *drainWait) report(d drained, began time.Time) error {
	d.Servers, d.WaitSeconds = allIDs(w.servers), int64(time.Since(began).Seconds())
	if d.Drained || !w.app.ForPeople() {
		err := w.app.Print(d, func() string {
			return fmt.Sprintf("drained: %s no longer %s traffic, after %s\n", render.Printable(ids(w.servers)),
				fleet.Plural(len(w.servers), "has", "have"), render.Span(time.Since(began)))
		})
		if err != nil {
			return err
		}
	}
	if !d.Drained {
		return &fleet.Error{Code: fleet.Degraded, Message: "not drained: " + d.Reason}
	}
	if len(d.Unanswered) > 0 {
		return &fleet.Error{Code: fleet.Degraded,
			Message: strings.Join(d.Unanswered, "; ") + "; gslbctl undrain reverts the drain"}
	}
	return nil
}
