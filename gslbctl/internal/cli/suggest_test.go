package cli // inside: it uses nearest

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

// For a name that no node knows, the error suggests a similar name from the completion.
func TestErrors_SayWhatMayBeMeant(t *testing.T) {
	for _, tc := range []struct{ args, refuses, words string }{
		{"domains show ap.example.com", "GET /api/v1/domains/ap.example.com", "did you mean app.example.com?\n"},
		{"domains show APP.example.con", "GET /api/v1/domains/APP.example.con", "did you mean app.example.com?\n"},
		{"domains show www", "GET /api/v1/domains/www", "did you mean www.example.com?\n"},
		{"domains set app.example.com --policy weightd", "PATCH /api/v1/domains/app.example.com",
			"nothing was changed; did you mean weighted?\n"},
		{"domains set app.example.com --policy WEIGHTED", "PATCH /api/v1/domains/app.example.com",
			"nothing was changed; did you mean weighted?\n"},
		{"domains set app.example.com --regions eu,su", "PATCH /api/v1/domains/app.example.com",
			"nothing was changed; did you mean eu or us?\n"},
		{"overrides set ap.example.com 192.0.2.10:443 --healthy --reason r",
			"PUT /api/v1/overrides/ap.example.com/192.0.2.10:443", "did you mean app.example.com?\n"},
		{"overrides set app.example.com 192.0.2.10:44 --healthy --reason r",
			"PUT /api/v1/overrides/app.example.com/192.0.2.10:44", "did you mean 192.0.2.10:443?\n"},
		{"regions show euu", "GET /api/v1/regions/euu", "did you mean eu?\n"},
		{"drain eu-2", "", "nothing was changed: gslbctl servers -o name lists the servers; did you mean eu-1?\n"},
		{"config set dns default_ttl=-1", "PATCH /api/v1/config/dns", "nothing was changed\n"},
		{"domains show nothing.like.it", "GET /api/v1/domains/nothing.like.it", "no\n"},
		{"domains show app.example.com", "GET /api/v1/domains/app.example.com", "no\n"},
	} {
		n := startNode(t)
		if tc.refuses != "" {
			n.answers[tc.refuses] = &api.Error{Status: 400, Message: "no"}
		}
		r := ask(t, tc.args, n)
		if r.code != 1 || !strings.HasSuffix(r.errors, tc.words) || strings.Count(r.errors, "did you mean") > 1 {
			t.Errorf("%s: %+v, want %q", tc.args, r, tc.words)
		}
	}
	if found := cmdline.Nearest(strings.Repeat("a", 1<<20), []string{"a"}); found != nil {
		t.Errorf("a huge name: %q", found)
	}
}

// For an empty list because of an unknown filter name, the message suggests a similar name.
func TestLists_SayWhatMayBeMeant(t *testing.T) {
	const backends, decisions = "GET /api/v1/overwatch/backends?", "GET /api/v1/routing/decisions?"
	for _, tc := range []struct {
		args, asked string
		list        any
		words       string
	}{
		{"backends list --service ap.example.com", backends + "service=ap.example.com", api.BackendList{},
			"No backend matches; did you mean app.example.com?\n"},
		{"backends list --region euu", backends + "region=euu", api.BackendList{}, "did you mean eu?\n"},
		{"backends list --region eu", backends + "region=eu", api.BackendList{}, "No backend matches.\n"},
		{"routing decisions --algorithm weightd", decisions + "algorithm=weightd", api.RoutingDecisionList{},
			"did you mean weighted?\n"},
	} {
		n := startNode(t)
		n.answers[tc.asked] = tc.list
		r := ask(t, tc.args, n)
		if r.code != 0 || !strings.HasSuffix(r.out, tc.words) {
			t.Errorf("%s: %+v, want %q", tc.args, r, tc.words)
		}
	}
}

// The error of a change without effect states once that nothing was changed.
func TestErrors_SayThatNothingWasChanged(t *testing.T) {
	const unpin = "DELETE /api/v1/overwatch/agents/eu-1"
	for status, certain := range map[int]bool{400: true, 403: true, 404: true, 409: true, 500: false, 503: true,
		507: true} {
		nodes := []*node{startNode(t), startNode(t)}
		for _, n := range nodes {
			n.answers[unpin] = &api.Error{Status: status, Message: "no"}
		}
		for _, several := range []bool{false, true} {
			args := []string{"agents", "unpin", "eu-1", "-y", "--api", documented(0)}
			if several {
				args = append(args, "--api", documented(1))
			}
			r := call(t, cmdline.System{}, nodes, args...)
			if r.code != 1 || strings.Count(r.errors, "nothing was changed") != map[bool]int{true: 1}[certain] ||
				several && strings.Count(r.out+r.errors, "no\n") > 1 {
				t.Errorf("%d: %+v", status, r)
			}
		}
	}
	gone := dead(t)
	r := call(t, cmdline.System{}, nil, "agents", "unpin", "eu-1", "-y", "--api", gone)
	if r.code != 2 || !strings.Contains(r.errors, "nothing was changed") || strings.Count(r.errors, gone) != 1 {
		t.Errorf("nobody there: %+v", r)
	}
	r = call(t, cmdline.System{}, nil, "agents", "--api", gone, "--api", dead(t))
	if r.code != 2 || strings.Count(r.errors, gone) != 1 || strings.Count(r.errors, "nothing listens there") > 1 {
		t.Errorf("two dead nodes: %+v", r)
	}
}

// A name outside every zone of the nodes requires --new-zone, because resolvers find it only after its delegation.
func TestDomainsAdd_ANewZoneIsAskedFor(t *testing.T) {
	for args, sent := range map[string]bool{
		"shop.example.org":            false,
		"example.com.evil.org":        false,
		"badexample.com":              false,
		"shop":                        false,
		"shop.example.org --new-zone": true,
		"shop.example.com":            true,
		"EXAMPLE.com.":                true,
	} {
		n := startNode(t)
		n.answers["GET /api/v1/config/dns"] = api.DNSConfigAnswer{Config: api.DNSConfig{Zones: []string{"example.com"}}}
		r := ask(t, "domains add "+args, n)
		if changed := len(n.changes()) > 0; changed != sent ||
			strings.Contains(r.errors, "--new-zone") == sent || !sent && !strings.Contains(r.errors,
			"nothing was changed") {
			t.Errorf("%s: %+v, sent %q", args, r, n.changes())
		}
	}
}
