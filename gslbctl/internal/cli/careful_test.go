package cli // inside: it shares fake_test.go

import (
	"fmt"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// lossOf returns the consequences of a change that leaves a name without an answer.
func lossOf(name string) api.ConsequenceList {
	return api.ConsequenceList{Total: 1, Names: []api.Consequence{{Name: name, Answer: api.AnswerNone,
		QueryTypes: []string{"A"}, Minimum: 1}}}
}

// Both nodes are queried before any change; the second node would lose a name.
func TestCareful_NothingChangesWhereANameWouldBeLost(t *testing.T) {
	const ask = "POST /api/v1/routing/consequences"
	server := fakeBackend("192.0.2.10", 443, "eu-1", "eu")
	for line, asked := range map[string]string{
		"drain " + server.ID:            `{"backends":["` + server.ID + `"]}`,
		"drain --region eu -y":          `{"regions":["eu"]}`,
		"drain EU -y":                   `{"regions":["eu"]}`, // regions are compared without case
		"drain eu -y":                   `{"regions":["eu"]}`, // it may have more servers than one request takes
		"servers drain " + server.ID:    `{"backends":["` + server.ID + `"]}`,
		"servers remove x:1.1.1.1:1 -y": `{"backends":["x:1.1.1.1:1"],"removed":true}`,
		"overrides set app.example.com 192.0.2.10 --healthy=false --reason r": `{"backends":["` + server.ID +
			`"],"removed":true}`,
		"weight app.example.com 192.0.2.10 0 --reason r": `{"backends":["` + server.ID + `"],"zero_weight":true}`,
		"agents revoke eu-1 --reason r -y":               `{"agents":["eu-1"],"removed":true}`,
		"agents unpin eu-1 -y":                           `{"agents":["eu-1"],"removed":true}`,
		"agents remove eu-1 -y":                          `{"agents":["eu-1"],"removed":true}`,
		"nodes revoke eu-1 -y":                           `{"agents":["eu-1"],"removed":true}`,
		"nodes reissue eu-1 -y":                          `{"agents":["eu-1"],"removed":true}`,
		"regions set eu --enabled=false":                 `{"regions":["eu"]}`,
		"brakes release app.example.com":                 `{"backends":["` + server.ID + `"]}`,
		"brakes release --region eu":                     `{"backends":["www.example.com:192.0.2.10:443"]}`,
	} {
		first, _ := drainingNode(t, server)
		second, _ := drainingNode(t, server)
		second.answers[ask] = lossOf("app.example.com")
		nodes := []*node{first, second}
		args := append(strings.Fields(line), "--api", documented(0), "--api", documented(1))
		r := call(t, cmdline.System{}, nodes, args...)
		if r.code != 1 || !strings.Contains(r.errors, "nothing was changed: app.example.com would be left with 0 of "+
			"at least 1 backend: no backend would be left to answer (A)") || !strings.Contains(r.errors, "--force") {
			t.Errorf("%s: %+v", line, r)
		}
		for _, n := range nodes {
			if changed := n.changes(); len(changed) > 0 {
				t.Errorf("%s changed %q", line, changed)
			}
			if all := fmt.Sprint(n.asked); !strings.Contains(all, ask+"  "+asked) {
				t.Errorf("%s asked %s, want %s", line, all, asked)
			}
		}
		r = call(t, cmdline.System{}, nodes, append(args, "--force")...)
		if !strings.Contains(r.errors, "warning: app.example.com would be left with 0") || len(first.changes()) != 1 ||
			len(second.changes()) != 1 || len(first.safe)+len(second.safe) != 0 {
			t.Errorf("%s --force: %+v, %q, %q", line, r, first.changes(), first.safe)
		}
	}
}

func TestCareful_ANodeRefusesWhatIsNoLongerSafe(t *testing.T) {
	server := fakeBackend("192.0.2.10", 443, "eu-1", "eu")
	for _, line := range []string{
		"drain " + server.ID, "servers drain " + server.ID, "servers remove " + server.ID + " -y",
		"overrides set app.example.com 192.0.2.10 --healthy=false --reason r", "agents revoke eu-1 --reason r -y",
		"agents unpin eu-1 -y", "agents remove eu-1 -y", "regions set eu --enabled=false",
		"agents unpin --service app.example.com --never-reported -y",
	} {
		n, _ := drainingNode(t, server)
		ask(t, line, n)
		if len(n.changes()) != 1 || len(n.safe) < 1 {
			t.Errorf("%s: %q, with if_safe %q", line, n.changes(), n.safe)
		}
	}
	for _, line := range []string{
		"overrides set app.example.com 192.0.2.10 --healthy --reason r", "regions set eu --priority 3",
		"undrain " + server.ID,
	} {
		n, _ := drainingNode(t, server)
		n.setOrders(api.OrderDrain, server)
		ask(t, line, n)
		if len(n.changes()) != 1 || len(n.safe) != 0 {
			t.Errorf("%s takes nothing away: %q, with if_safe %q", line, n.changes(), n.safe)
		}
	}
}

func TestDrainWait_EndsWith0OnlyWhereNamesAreAnswered(t *testing.T) {
	leaving, sibling := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.11", 443, "eu-1", "eu")
	leaving = drainedAt(leaving, "", 0)
	leaving.MayServe, leaving.Target, sibling.Target = false, "a.example.net", "a.example.net"
	const url = "http://127.0.0.1:18080"
	const still = "not drained: " + url + " still answers app.example.com with 192.0.2.10 (a.example.net)"
	for name, tc := range map[string]struct {
		enabled  bool
		byDNS    string // the host name that the node's DNS answers with
		byAPI    string // and what its API says that clients are answered
		backends []api.Backend
		words    string // why it is not drained, or no name is answered
	}{
		"no address":   {enabled: true, words: url + " no longer answers app.example.com: no address; gslbctl undrain"},
		"switched off": {},
		"a host name":  {enabled: true, byDNS: "b.example.net", byAPI: "b.example.net"},
		"its own host name, to clients": {enabled: true, byDNS: "b.example.net", byAPI: "a.example.net",
			backends: []api.Backend{sibling},
			words: still + " to clients in no region, because app.example.com:192.0.2.11:443 has the same host " +
				"name"},
		"its own host name, by DNS": {enabled: true, byDNS: "a.example.net", byAPI: "b.example.net",
			words: still + ", because no other backend of the name can serve; the drain continues, gslbctl undrain"},
	} {
		n, dns := drainingNode(t, append([]api.Backend{leaving}, tc.backends...)...)
		n.set("GET /api/v1/domains/app.example.com",
			api.DomainDetail{Domain: api.Domain{Domain: model.Domain{Name: "app.example.com", Enabled: tc.enabled}}})
		n.set("GET /api/v1/routing/answers", answersTo(map[string]string{"": tc.byAPI}))
		dns.answer("app.example.com")
		if tc.byDNS != "" {
			dns.alias("app.example.com", tc.byDNS)
		}
		r := ask(t, "drain "+leaving.ID+" --force --wait --within 10ms --dns "+dns.at, n)
		if (r.code == 1) != (tc.words != "") || r.code > 1 || !strings.Contains(r.errors, tc.words) ||
			strings.Contains(r.out, "no longer has traffic") == strings.HasPrefix(tc.words, still) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
