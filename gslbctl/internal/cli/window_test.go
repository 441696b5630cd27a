package cli // inside: it uses parseMoment and zoned

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

func TestParseMoment_TakesWhatPeopleType(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	evening := time.Date(2026, 3, 28, 21, 30, 0, 0, berlin) // the night in which clocks jump from 02:00 to 03:00
	for text, want := range map[string]string{
		"22:00":                     "2026-03-28 22:00:00 CET (21:00:00 UTC)",
		"22:00:05":                  "2026-03-28 22:00:05 CET (21:00:05 UTC)",
		"today 23:59":               "2026-03-28 23:59:00 CET (22:59:00 UTC)",
		" Tomorrow  03:00 ":         "2026-03-29 03:00:00 CEST (01:00:00 UTC)",
		"2026-04-01 02:00":          "2026-04-01 02:00:00 CEST (00:00:00 UTC)",
		"2026-03-28T21:00:00Z":      "2026-03-28 22:00:00 CET (21:00:00 UTC)",
		"2026-03-29t02:00:00+00:00": "2026-03-29 04:00:00 CEST (02:00:00 UTC)",
	} {
		if at, err := cmdline.ParseMoment(text, evening); err != nil || cmdline.Zoned(at, evening) != want {
			t.Errorf("%q: %s %v, want %s", text, cmdline.Zoned(at, evening), err, want)
		}
	}
	for text, words := range map[string]string{
		"today":                "2026-03-28 00:00:00 CET (23:00:00 UTC), which has passed",
		"21:30":                `the next is "tomorrow 21:30"`,
		"2026-03-28T20:00:00Z": "has passed",
		"tomorrow 02:30":       "jumps over it",
		"":                     "is no time",
		"10pm":                 "is no time",
		"25:00":                "is no time",
		"tomorrow":             "is no time",
		"2026-02-30 10:00":     "is no time",
		"next week 10:00":      "is no time",
	} {
		if at, err := cmdline.ParseMoment(text, evening); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %s %v, want an error with %q", text, at, err, words)
		}
	}
	if got := cmdline.Zoned(now, now); got != "2026-01-02 03:04:05 UTC" {
		t.Error(got)
	}
}

func TestUndo_OfAnEntryAsksOneNodeAndOnlyForceTakesTheLast(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	one := []string{"--api", documented(0)}
	r := call(t, cmdline.System{}, nodes[:1], append([]string{"undo", "7"}, one...)...)
	if r.code != 0 || r.out != "the drain of server y is undone\n" || len(nodes[0].safe) != 1 {
		t.Errorf("%+v, %q", r, nodes[0].safe)
	}
	r = ask(t, "undo 7", nodes...)
	if r.code == 0 || !strings.Contains(r.errors, "nothing was changed") || len(nodes[1].changes()) != 0 {
		t.Errorf("%+v", r)
	}
	if r = call(t, cmdline.System{}, nodes[:1], append([]string{"undo", "drain"}, one...)...); r.code == 0 ||
		!strings.Contains(r.errors, `"drain"`) {
		t.Errorf("%+v", r)
	}
	nodes[0].answers["POST /api/v1/audit-logs/7/undo"] = &api.Error{Status: 409, Message: "entry 9 cannot be undone"}
	if r = call(t, cmdline.System{}, nodes[:1], append([]string{"undo", "--force"}, one...)...); r.code != 1 ||
		!strings.Contains(r.errors, "entry 9 cannot be undone; nothing was changed") || len(nodes[0].safe) != 1 {
		t.Errorf("%+v, %q", r, nodes[0].safe)
	}
}

// The command undoes the last change on the node that made it. A node that was down has another last change, which
// stays.
func TestUndo_OfTheLastChangeLeavesAnother(t *testing.T) {
	const last, undo = "POST /api/v1/audit-logs/last/undo?dry_run=true", "POST /api/v1/audit-logs/"
	nodes := startNodes(t, 3)
	for i, change := range []struct {
		entry uint64
		id    string
		ago   time.Duration
	}{{7, "y", time.Second}, {5, "another", time.Hour}, {9, "y", 2 * time.Second}} {
		nodes[i].answers[last] = api.Undone{Success: true, Entry: change.entry, At: now.Add(-change.ago),
			Action:   "drain",
			Resource: "server", ResourceID: change.id}
		nodes[i].answers[undo+"9/undo"] = api.Undone{Message: "undone"}
		nodes[i].answers[undo+"7/undo"] = api.Undone{Message: "undone"}
	}
	r := ask(t, "undo", nodes...)
	if r.code != 0 || !slices.Equal(sentTo(nodes), []int{1, 0, 1}) ||
		!strings.Contains(r.out, "server another: it stays") || !strings.Contains(nodes[2].changes()[0], "/9/undo") {
		t.Errorf("%+v, %v", r, sentTo(nodes))
	}
	// Between nodes with replication, the command undoes the change only on the node that made it.
	nodes = startNodes(t, 3)
	replicating(nodes, 0, false)
	nodes[0].answers[last] = api.Undone{Entry: 5, At: now.Add(-time.Hour), Action: "drain", ResourceID: "another"}
	r = ask(t, "undo", nodes...)
	if counts := sentTo(nodes); r.code != 0 || counts[0] != 0 || counts[1]+counts[2] != 1 {
		t.Errorf("%+v, %v", r, counts)
	}
	// The silent node may have made the change.
	r = call(t, cmdline.System{}, nodes[:2], "undo", "--api", documented(0), "--api", documented(1), "--api", dead(t))
	if r.code != 1 || !strings.Contains(r.errors, "may be in its audit log") {
		t.Errorf("%+v", r)
	}
}

func TestWindows_AreSentWithTheirBeginningAndShownBack(t *testing.T) {
	n := startNode(t)
	n.answers["PUT /api/v1/overrides/app.example.com/192.0.2.11:443"] = api.Override{Service: "app.example.com",
		Address: "192.0.2.11:443", StartsAt: pointer(now.Add(time.Hour)), ExpiresAt: pointer(now.Add(2 * time.Hour))}
	for _, tc := range []struct{ line, sent, out string }{
		{"overrides|set|app.example.com|192.0.2.11:443|--healthy=false|--reason|r|--at|04:04:05|--for|1h|--force",
			`"starts_at":"2026-01-02T04:04:05Z","expires_in":"1h0m0s"`,
			"will be unhealthy from 2026-01-02 04:04:05 UTC until 2026-01-02 05:04:05 UTC"},
		{"servers|drain|app.example.com:192.0.2.12:443|--at|tomorrow 02:00|--force",
			`"starts_at":"2026-01-03T02:00:00Z"`,
			"will drain from 2026-01-03 02:00:00 UTC"},
	} {
		r := call(t, cmdline.System{}, []*node{n}, append(strings.Split(tc.line, "|"), "--api", documented(0))...)
		sent := n.changes()
		if r.code != 0 || !strings.Contains(r.out, tc.out) || !strings.Contains(sent[len(sent)-1], tc.sent) {
			t.Errorf("%s: %+v, sent %q", tc.line, r, sent)
		}
	}
	before := len(n.changes())
	for line, words := range map[string]string{
		"overrides|set|app.example.com:192.0.2.11:443|--healthy|true|--reason|r":          "write --healthy=true",
		"weight|app.example.com|192.0.2.10:443|7|--reason|r|--at|01:00":                   "has passed",
		"weight|app.example.com|192.0.2.10:443|7":                                         "--reason",
		"weight|app.example.com|192.0.2.10:443":                                           "the weight is missing",
		"weight|app.example.com|192.0.2.10:443|1001|--reason|r":                           "0 to 1000",
		"weight|app.example.com|192.0.2.10:443|7|--clear":                                 "one of them",
		"weight|app.example.com|192.0.2.10:443|--clear|--reason|r":                        "--reason",
		"weight|app.example.com|192.0.2.10:443|7|--reason|r|--for|1h|--expires-in|1h":     "one of them",
		"weight|app.example.com|192.0.2.10:443|7|--reason|r|--expires-in|0s":              "above zero",
		"weight|www.example.com|192.0.2.10:443|7|--reason|r":                              "no node knows",
		"servers|drain|app.example.com:192.0.2.12:443|--to|100%":                          "below 100%",
		"weight|192.0.2.11:443|--clear":                                                   "has no weight to clear; nothing",
		"drain|--region|moon":                                                             "in the region \"moon\"",
		"servers|drain|app.example.com:192.0.2.12:443|--to|half":                          "below 100%",
		"drain|app.example.com:192.0.2.10:443|--wait|--to|25%":                            "--to",
		"drain|app.example.com:192.0.2.10:443|--wait|--at|22:00":                          "--at",
		"overrides|set|app.example.com|192.0.2.11:443|--healthy=true|--reason|r|--at|now": "is no time",
	} {
		r := call(t, cmdline.System{}, []*node{n}, append(strings.Split(line, "|"), "--api", documented(0))...)
		if r.code == 0 || !strings.Contains(r.errors, words) || len(n.changes()) != before {
			t.Errorf("%s: %+v, want an error with %q", line, r, words)
		}
	}
}
