package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// A roll is told to one node, and the others are asked to hear of it. Without a zone nothing is changed.
func TestDNSSECRoll_TellsOneNode(t *testing.T) {
	for args, sent := range map[string]string{
		"dnssec roll example.com":             `POST /api/v1/dnssec/rollover  {"zone":"example.com"}`,
		"dnssec roll example.com --emergency": `POST /api/v1/dnssec/rollover  {"zone":"example.com","emergency":true}`,
		"dnssec roll example.com --cancel":    `DELETE /api/v1/dnssec/rollover/example.com`,
		"dnssec roll example.com --confirm":   `POST /api/v1/dnssec/rollover/example.com/confirm`,
		"dnssec roll":                         "",
		"dnssec roll example.com --status":    "",
	} {
		nodes := []*node{startNode(t), startNode(t)}
		r := call(t, System{}, nodes, append(strings.Fields(args), "--api", documented(0), "--api", documented(1))...)
		if r.code != 0 || r.errors != "" || !strings.Contains(r.out, "23456") {
			t.Errorf("%s: %+v", args, r)
		}
		const sync = "POST /api/v1/dnssec/sync"
		want := []string{sent + "," + sync, sync}
		if sent == "" {
			want = []string{"", ""}
		}
		for i, n := range nodes {
			if got := strings.Join(n.changes(), ","); got != want[i] {
				t.Errorf("%s: node %d was sent %q, want %q", args, i, got, want[i])
			}
		}
	}
}

func TestDNSSECRoll_SaysWhatIsWrong(t *testing.T) {
	n := startNode(t)
	n.set("POST /api/v1/dnssec/rollover", &api.Error{Status: 409, Message: "example.com: a roll is under way"})
	if r := call(t, System{}, []*node{n}, "dnssec", "roll", "example.com", "--api", documented(0)); r.code != 1 ||
		!strings.Contains(r.errors, "a roll is under way") {
		t.Errorf("refused: %+v", r)
	}
	if r := call(t, System{}, []*node{n}, "dnssec", "roll", "--cancel", "--api", documented(0)); r.code != 2 ||
		!strings.Contains(r.errors, "name the zone") {
		t.Errorf("without a zone: %+v", r)
	}
}
