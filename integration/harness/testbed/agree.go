package testbed

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// Agree waits until a node's journal of events agrees with its audit log, its metrics and its state: each reload and
// change in the log has one event, the counters equal the counts of the list, and the last event of each backend has
// the backend's status. Other changes must not be concurrent.
func Agree(t *testing.T, n *harness.Node) {
	t.Helper()
	Until(t, StartBound, "journal, audit log and metrics to say the same", func(ctx context.Context) (err error) {
		defer func() {
			if err != nil {
				t.Log(err)
			}
		}()
		events, err := allEvents(ctx, n)
		if err != nil {
			return err
		}
		if err := agreesWithAudit(ctx, n, events); err != nil {
			return err
		}
		if err := agreesWithState(ctx, n, events); err != nil {
			return err
		}
		return agreesWithCounters(t, n, events)
	})
}

// allEvents lists the journal of a node, oldest first.
func allEvents(ctx context.Context, n *harness.Node) (all []api.Event, err error) {
	for after := uint64(0); ; after = all[len(all)-1].Sequence {
		query := url.Values{"limit": {"1000"}, "after": {strconv.FormatUint(after, 10)}}
		page, err := n.Client.Events(ctx, query)
		if err != nil || len(page.Events) == 0 {
			return all, err
		}
		all = append(all, page.Events...)
	}
}

func agreesWithAudit(ctx context.Context, n *harness.Node, events []api.Event) error {
	audit, err := n.Client.AuditLog(ctx, url.Values{"actions": {"reload,create,update,delete"}})
	if err != nil {
		return err
	}
	times := map[uint64]int{}
	for _, e := range events {
		times[e.Audit]++
	}
	for _, e := range audit.Entries {
		if e.Status == api.AuditFailure && e.Action != api.AuditReload {
			continue // without an effect
		}
		if times[e.ID] != 1 {
			return fmt.Errorf("audit entry %d, %s of %s, has %d events", e.ID, e.Action, e.Resource, times[e.ID])
		}
	}
	return nil
}

// agreesWithState compares the last event of each backend with its status. It ignores events with state "more", which
// represent several events.
func agreesWithState(ctx context.Context, n *harness.Node, events []api.Event) error {
	backends, err := n.Client.Backends(ctx, api.BackendFilter{})
	if err != nil {
		return err
	}
	last := map[string]string{}
	for _, e := range events {
		if e.Kind == api.EventBackend {
			last[e.Subject] = e.State
		}
	}
	for _, b := range backends.Backends {
		id := fmt.Sprintf("%s:%s:%d", b.Service, b.Address, b.Port)
		if said := last[id]; said != "" && said != "more" && said != string(b.EffectiveStatus) {
			return fmt.Errorf("the last event of %s has state %s, the backend is %s", id, said, b.EffectiveStatus)
		}
	}
	return nil
}

// agreesWithCounters compares the events since the node's start with the metrics.
func agreesWithCounters(t *testing.T, n *harness.Node, events []api.Event) error {
	t.Helper()
	counts := map[api.EventKind]int{}
	for _, e := range events {
		if e.Kind == api.EventNode && e.State == "started" && e.Subject == n.Name {
			clear(counts)
		}
		counts[e.Kind]++
	}
	for kind, count := range counts {
		if metric := Metric(t, n, fmt.Sprintf("gslb_events_total{kind=%q}", kind)); int(metric) != count {
			return fmt.Errorf("%d events of kind %s are in the journal, and the metrics say %g", count, kind, metric)
		}
	}
	return nil
}
