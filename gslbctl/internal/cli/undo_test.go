package cli // inside: it looks at nodes

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

const askLast = "POST /api/v1/audit-logs/last/undo?dry_run=true"

// threeWithLast returns three replicating nodes, each with another last change of the user.
func threeWithLast(t *testing.T, last ...any) []*node {
	nodes := startNodes(t, len(last))
	replicating(nodes, 0, false)
	for i, answer := range last {
		nodes[i].answers[askLast] = answer
	}
	return nodes
}

// If the latest change cannot be undone, the command names it and undoes no older change.
func TestUndo_RefusesWhereTheNewestChangeCannotBeUndone(t *testing.T) {
	older := api.Undone{Entry: 7, At: now.Add(-time.Hour), Action: "weight", Resource: "server", ResourceID: "y",
		Version: api.FormatVersion(5, 0)}
	newest := api.Undone{Entry: 3, At: now.Add(-2 * time.Hour), Action: "apply", Resource: "document",
		ResourceID: "shop",
		Version:    api.FormatVersion(6, 0)} // the clock of its node is behind
	nodes := threeWithLast(t, &api.Error{Status: 409, Message: "entry 3, apply of document shop, cannot be undone: x",
		Undo: &newest}, older, older)
	r := ask(t, "undo", nodes...)
	if r.code != fleet.Degraded || !slices.Equal(sentTo(nodes), []int{0, 0, 0}) ||
		!strings.Contains(r.errors, "apply of document shop, cannot be undone: x; nothing was changed") ||
		!strings.Contains(r.errors, "made at 2026-01-02 01:04:05 UTC") {
		t.Errorf("%+v, %v", r, sentTo(nodes))
	}
	// A node of an earlier version does not report the time of the change that it refuses to undo.
	nodes = threeWithLast(t, &api.Error{Status: 409, Message: "entry 3 cannot be undone"}, older, older)
	r = ask(t, "undo", nodes...)
	if r.code != fleet.Degraded || !slices.Equal(sentTo(nodes), []int{0, 0, 0}) ||
		!strings.Contains(r.errors, "does not say when") {
		t.Errorf("of an earlier version: %+v, %v", r, sentTo(nodes))
	}
}

// The command undoes the latest change by the shared clock of the nodes, on all nodes that made a part of it.
func TestUndo_TakesTheNewestChangeBackOnEachNodeThatMadeIt(t *testing.T) {
	made := func(entry uint64, version int64, change string) api.Undone {
		return api.Undone{Success: true, Entry: entry, At: now.Add(-time.Duration(version) * time.Minute),
			Action:   "drain",
			Resource: "server", ResourceID: "y", Change: change, Version: api.FormatVersion(version, 0)}
	}
	nodes := threeWithLast(t, made(4, 20, "c"), made(5, 10, "other"), made(6, 30, "c"))
	for i, path := range []string{"4", "5", "6"} {
		nodes[i].answers["POST /api/v1/audit-logs/"+path+"/undo"] = api.Undone{Message: "the drain of server y and " +
			"of 3 more is undone"}
	}
	r := ask(t, "undo", nodes...)
	if r.code != fleet.OK || !slices.Equal(sentTo(nodes), []int{1, 0, 1}) ||
		!strings.Contains(r.out, "of 3 more is undone (made at 2026-01-02 02:34:05 UTC)") {
		t.Errorf("%+v, %v", r, sentTo(nodes))
	}
}

// A node that the context gains between the question of top and its confirmation has nothing to undo.
func TestUndo_LeavesANewNodeUnchanged(t *testing.T) {
	nodes := startNodes(t, 2)
	var out strings.Builder
	a := newApp(cmdline.System{Out: &out, Err: io.Discard, Getenv: func(string) string { return "" },
		Now: func() time.Time { return now }})
	a.Timeout, a.API = time.Minute, []string{nodes[0].url}
	found, err := a.findLast(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.API = append(a.API, nodes[1].url)
	if err := a.undoFound(t.Context(), found); err != nil || !slices.Equal(sentTo(nodes), []int{1, 0}) ||
		!strings.Contains(out.String(), "nothing to undo") {
		t.Errorf("%v, %v, %q", err, sentTo(nodes), out.String())
	}
}

// All requests of a command have the same id. The next command has another id. A command that serves requests
// sends no id.
func TestChanges_OfOneCommandHaveOneID(t *testing.T) {
	n, _, _ := twoAt(t)
	for range 2 {
		if r := ask(t, "drain 192.0.2.10 --yes", n); r.code != fleet.OK {
			t.Fatalf("%+v", r)
		}
	}
	ids := slices.Compact(slices.Clone(n.changeIDs))
	if len(n.changeIDs) < 4 || len(ids) != 2 || len(ids[0]) < 16 || len(ids[0]) > api.MaxChangeID {
		t.Errorf("%q", n.changeIDs)
	}
}
