package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

const (
	// drainLook is the time between two looks while waiting.
	drainLook = time.Second
	// drainQuestions is the number of queries for one name at a node in each look: a server with a
	// small share is not in every answer.
	drainQuestions = 8
	// drainMargin is the time that waiting may take beyond the drain and the TTL.
	drainMargin = time.Minute
)

// drainWait waits until servers get no more traffic.
type drainWait struct {
	app     *app
	nodes   []drainNode
	servers []api.Backend
	ttl     time.Duration // the longest known time that resolvers cache an answer with a server
	until   time.Time     // when waiting ends without success
	quiet   time.Time     // since when no node answers with a server; zero while one does
	reason  string        // why a node still does
	said    string        // topic of the last progress line: traffic or ttl
}

// drained is the outcome of waiting.
type drained struct {
	Servers     []string `json:"servers"`
	Drained     bool     `json:"drained"`
	WaitSeconds int64    `json:"wait_seconds"`
	Reason      string   `json:"reason,omitempty"`     // why not
	Unanswered  []string `json:"unanswered,omitempty"` // sentences about names that a node no longer answers
}

// newDrainWait checks that each node's API and DNS answer, and reads the TTLs.
func (a *app) newDrainWait(ctx context.Context, servers []api.Backend, f drainFlags) (*drainWait, error) {
	list, err := a.Nodes()
	if err != nil {
		return nil, err
	}
	nodes := make([]drainNode, len(list))
	for i, n := range list {
		nodes[i] = drainNode{n}
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

// prepared sends a node the requests that waiting will send, and returns the longest TTL of the
// servers' domains. The error is a sentence.
func (w *drainWait) prepared(ctx context.Context, n drainNode) (ttl time.Duration, err error) {
	asked := map[string]bool{}
	for _, s := range w.servers {
		if asked[s.Service] {
			continue
		}
		asked[s.Service] = true
		detail, err := n.Domain(ctx, s.Service)
		if fleet.IsNotFound(err) {
			continue // the node never answers with it
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

// run looks until no node has answered with a server for the time that resolvers cache answers.
func (w *drainWait) run(ctx context.Context) error {
	began := time.Now()
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for {
		w.reason = w.look(ctx)
		switch {
		case w.reason != "":
			w.quiet = time.Time{}
		case w.quiet.IsZero():
			w.quiet = time.Now() // until now, one may have done so since the look before
		}
		left := w.ttl - time.Since(w.quiet)
		switch {
		case ctx.Err() != nil:
			w.clear()
			return &fleet.Error{Code: fleet.Degraded, Message: "stopped waiting; the drain continues, gslbctl " +
				"undrain reverts it"}
		case w.reason == "" && left <= 0:
			w.clear()
			return w.report(drained{Drained: true, Unanswered: w.unanswered(ctx)}, began)
		case time.Now().After(w.until):
			w.clear()
			return w.report(drained{Reason: w.timedOut(left)}, began)
		}
		w.tell(left)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// look asks all nodes concurrently. It returns the reason why a server can still receive traffic, or "".
func (w *drainWait) look(ctx context.Context) string {
	reasons := make([]string, len(w.nodes))
	fleet.ForEach(len(w.nodes), func(i int) { reasons[i] = w.lookAt(ctx, w.nodes[i]) })
	reasons = slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" })
	return strings.Join(reasons, "; ")
}

func (w *drainWait) lookAt(ctx context.Context, n drainNode) string {
	for _, s := range w.servers {
		list, err := n.Backends(ctx, api.BackendFilter{Service: s.Service})
		if err != nil {
			_, sentence := fleet.Explain(err)
			return sentence
		}
		i := slices.IndexFunc(list.Backends, func(b api.Backend) bool { return b.ID == s.ID })
		if i >= 0 && list.Backends[i].MayServe && list.Backends[i].Share > 0 {
			return fmt.Sprintf("%s still has %.0f%% of its share at %s", s.ID, 100*list.Backends[i].Share,
				n.Client.Node())
		}
		switch clients, err := n.clientsAnswered(ctx, s); {
		case err != nil:
			_, sentence := fleet.Explain(err)
			return sentence
		case clients != "":
			return w.stillAnswered(n, s, clients, list.Backends)
		}
		switch yes, err := n.answered(ctx, s, w.app.Timeout); {
		case err != nil:
			return fleet.ExplainDNS(err, n.DNS)
		case yes:
			return w.stillAnswered(n, s, "", list.Backends)
		}
	}
	return ""
}

// timedOut returns why waiting ended, and the next step.
func (w *drainWait) timedOut(left time.Duration) string {
	if w.reason != "" {
		return w.reason + "; the drain continues, gslbctl undrain reverts it"
	}
	return fmt.Sprintf("resolvers may use it for another %s; repeat the command", render.Span(left))
}

// unanswered returns a sentence for each node and name of the servers without an address of their family, and
// without a host name.
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

// tell shows progress: one changing line on a terminal, else a new line whenever the text changes.
func (w *drainWait) tell(left time.Duration) {
	text, state := w.reason, "traffic"
	if text == "" {
		text, state = "no node answers with it; cached answers expire in "+render.Span(left), "ttl"
	}
	switch {
	case w.app.Tells:
		fmt.Fprintf(w.app.Err, "\r\x1b[K%s", render.Printable(text))
	case w.said != state:
		fmt.Fprintln(w.app.Err, render.Printable(text))
	}
	w.said = state
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
