package cli

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/dnsask"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

const (
	// drainLook is the time between two looks while waiting.
	drainLook = time.Second
	// drainQuestions is how often each look asks a node's DNS for one name: a
	// server with a small share is not in every answer.
	drainQuestions = 8
	// drainMargin is what waiting may take beyond the drain and the TTL.
	drainMargin = time.Minute
)

// drainWait waits until servers have no traffic any more.
type drainWait struct {
	app     *app
	nodes   []target
	servers []api.Backend
	ttl     time.Duration // the longest that resolvers keep an answer with one of them
	until   time.Time     // when waiting ends without success
	quiet   time.Time     // since when no node answers with any of them; zero while one does
	reason  string        // why one does
	said    string        // the last line of progress where there is no terminal
}

// drained is how waiting ended.
type drained struct {
	Servers     []string `json:"servers"`
	Drained     bool     `json:"drained"`
	WaitSeconds int64    `json:"wait_seconds"`
	Reason      string   `json:"reason,omitempty"` // why not
}

// newDrainWait sees whether all that waiting takes is there: each node's API
// and its DNS, and the TTLs.
func (a *app) newDrainWait(ctx context.Context, servers []api.Backend, f drainFlags) (*drainWait, error) {
	nodes, err := a.named()
	if err != nil {
		return nil, err
	}
	w := &drainWait{app: a, nodes: nodes, servers: servers}
	for _, n := range nodes {
		for _, s := range servers {
			detail, err := n.Domain(ctx, s.Service)
			if err != nil {
				return nil, fmt.Errorf("the TTL of %s: %w", s.Service, err)
			}
			w.ttl = max(w.ttl, time.Duration(detail.Domain.TTL)*time.Second)
		}
		if _, err := n.answered(ctx, servers[0], a.timeout); err != nil {
			return nil, &outcome{exitNotAsked, fmt.Sprintf("nothing was drained, since --wait cannot ask the DNS of %s: %s", n.Node(), dnsSentence(err, n.dns))}
		}
	}
	within := f.within
	if within == 0 {
		within = w.ttl + max(f.over, w.ttl) + drainMargin
	}
	w.until = time.Now().Add(within)
	return w, nil
}

// answered asks a node's DNS whether it answers with a server's address.
func (n target) answered(ctx context.Context, s api.Backend, timeout time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	address, err := netip.ParseAddr(s.Address)
	if err != nil {
		return false, err
	}
	conn, err := dnsask.Dial(ctx, n.dns)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	for range drainQuestions {
		answer, err := conn.Ask(ctx, concrete(s.Service), address.Is6())
		if err != nil {
			return false, err
		}
		if slices.Contains(answer.Addresses, address) {
			return true, nil
		}
	}
	return false, nil
}

// concrete is a name that a wildcard answers.
func concrete(name string) string { return strings.Replace(name, "*", "any", 1) }

// run looks until no node has answered with a server for as long as resolvers
// keep what they were told.
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
			return &outcome{exitDegraded, "stopped waiting; the drain goes on, gslbctl undrain takes it back"}
		case w.reason == "" && left <= 0:
			w.clear()
			return w.report(drained{Drained: true}, began)
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

// look says why a server may still get traffic; nothing if none does. All
// nodes are asked at once.
func (w *drainWait) look(ctx context.Context) string {
	reasons := make([]string, len(w.nodes))
	atOnce(len(w.nodes), func(i int) { reasons[i] = w.lookAt(ctx, w.nodes[i]) })
	reasons = slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" })
	return strings.Join(reasons, "; ")
}

func (w *drainWait) lookAt(ctx context.Context, n target) string {
	for _, s := range w.servers {
		list, err := n.Backends(ctx, api.BackendFilter{Service: s.Service})
		if err != nil {
			_, sentence := verdict(err)
			return sentence
		}
		i := slices.IndexFunc(list.Backends, func(b api.Backend) bool { return b.ID == s.ID })
		if i >= 0 && list.Backends[i].MayServe && list.Backends[i].Share > 0 {
			return fmt.Sprintf("%s still has %.0f%% of its share at %s", s.ID, 100*list.Backends[i].Share, n.Node())
		}
		switch yes, err := n.answered(ctx, s, w.app.timeout); {
		case err != nil:
			return dnsSentence(err, n.dns)
		case yes:
			return w.stillAnswered(n, s, list.Backends)
		}
	}
	return ""
}

// stillAnswered says why a node answers with a server whose share is nothing.
func (w *drainWait) stillAnswered(n target, s api.Backend, all []api.Backend) string {
	reason := fmt.Sprintf("%s still answers %s with %s", n.Node(), s.Service, s.Address)
	ours := func(b api.Backend) bool {
		return slices.ContainsFunc(w.servers, func(s api.Backend) bool { return s.ID == b.ID })
	}
	same := slices.IndexFunc(all, func(b api.Backend) bool { return b.Address == s.Address && !ours(b) })
	if same >= 0 {
		return reason + ", since " + all[same].ID + " is at that address too: drain " + s.Address
	}
	if !slices.ContainsFunc(all, func(b api.Backend) bool { return b.MayServe && b.Share > 0 && !ours(b) }) {
		return reason + ", since nothing else of it may serve"
	}
	return reason
}

// timedOut says why waiting ended, and the next step.
func (w *drainWait) timedOut(left time.Duration) string {
	if w.reason != "" {
		return w.reason + "; the drain goes on, gslbctl undrain takes it back"
	}
	return fmt.Sprintf("resolvers may use it for another %s; run the same command again", render.Span(left))
}

// tell shows how far it is: on a terminal one line that changes, elsewhere a
// line whenever what it says changes.
func (w *drainWait) tell(left time.Duration) {
	what, state := w.reason, "traffic"
	if what == "" {
		what, state = "no node answers with it any more; resolvers forget it", "ttl"
	}
	if w.app.Tells {
		text := what
		if state == "ttl" {
			text += " in " + render.Span(left)
		}
		fmt.Fprintf(w.app.Err, "\r\x1b[K%s", render.Printable(text))
		return
	}
	if state == "ttl" && w.said != state {
		fmt.Fprintf(w.app.Err, "%s in %s\n", render.Printable(what), render.Span(left))
	}
	if state == "traffic" && w.said != state {
		fmt.Fprintln(w.app.Err, render.Printable(what))
	}
	w.said = state
}

func (w *drainWait) clear() {
	if w.app.Tells {
		fmt.Fprint(w.app.Err, "\r\x1b[K")
	}
}

func (w *drainWait) report(d drained, began time.Time) error {
	for _, s := range w.servers {
		d.Servers = append(d.Servers, s.ID)
	}
	d.WaitSeconds = int64(time.Since(began).Seconds())
	if d.Drained || !w.app.forPeople() {
		err := w.app.print(d, func() error {
			_, err := fmt.Fprintf(w.app.Out, "drained: %s no longer %s traffic, after %s\n", render.Printable(ids(w.servers)), has(len(w.servers)), render.Span(time.Since(began)))
			return err
		})
		if err != nil {
			return err
		}
	}
	if !d.Drained {
		return &outcome{exitDegraded, "not drained: " + d.Reason}
	}
	return nil
}

func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}
