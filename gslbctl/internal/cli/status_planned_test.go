package cli // inside: it uses plannedWindows

import (
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// The status shows a planned drain of a region as a single line, regardless of the nodes that report it.
func TestStatus_ListsPlannedWindowsOnce(t *testing.T) {
	order := func(address string, starts time.Duration, reason string) api.Order {
		return api.Order{Kind: api.OrderDrain, Service: "app.example.com", Address: address, Share: pointer(0.1),
			CreatedBy: "ops", Reason: reason, StartsAt: pointer(now.Add(starts)), ExpiresAt: pointer(now.Add(starts +
				time.Hour))}
	}
	one := []api.Order{order("192.0.2.11:443", 2*time.Hour, "move"), order("192.0.2.10:443", 2*time.Hour, "move")}
	other := append([]api.Order{order("192.0.2.12:443", time.Hour, "")}, one...)
	list := plannedWindows([]nodeStatus{{Planned: one}, {Planned: other}})
	want := "\nplanned:\n" +
		"  - drain to 10% of app.example.com 192.0.2.12:443 from 2026-01-02 04:04:05 UTC until 2026-01-02 05:04:05 " +
		"UTC, by ops\n" +
		"  - drain to 10% of app.example.com 192.0.2.10:443 and 1 more from 2026-01-02 05:04:05 UTC until " +
		"2026-01-02 06:04:05 UTC, by ops: move\n"
	if got := plannedText(list, now); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := plannedText(plannedWindows(nil), now); got != "" {
		t.Errorf("without any: %q", got)
	}
	n := startNode(t)
	for _, format := range []string{"table", "json"} {
		if r := ask(t, "status -o "+format, n); !strings.Contains(r.out, "drain to 25%") {
			t.Errorf("status -o %s does not list the planned drain: %+v", format, r)
		}
	}
}
