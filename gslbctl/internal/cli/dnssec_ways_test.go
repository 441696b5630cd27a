package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

// A zone becomes unsigned after the operator has seen the stages and confirmed. Signing requires no confirmation.
// --dry-run changes nothing.
func TestDNSSECUnsign_SaysFirstWhatComes(t *testing.T) {
	const unsign, sync = "POST /api/v1/dnssec/rollover/example.com/unsign", "POST /api/v1/dnssec/sync"
	const sign = "POST /api/v1/dnssec/rollover/example.com/sign"
	for args, c := range map[string]struct {
		typed, sent string
		code        int
	}{
		"dnssec unsign example.com":           {"y\n", unsign + "," + sync, 0},
		"dnssec unsign  example.com":          {"n\n", "", 1},
		"dnssec unsign example.com --yes":     {"", unsign + "," + sync, 0},
		"dnssec unsign example.com --dry-run": {"", "", 0},
		"dnssec sign example.com":             {"", sign + "," + sync, 0},
		"dnssec sign example.com --dry-run":   {"", "", 0},
	} {
		n := startNode(t)
		r := call(t, cmdline.System{Asks: true, In: strings.NewReader(c.typed)}, []*node{n},
			append(strings.Fields(args), "--api", documented(0))...)
		if r.code != c.code || !strings.Contains(r.out, "(in 1d2h)") || strings.Join(n.changes(), ",") != c.sent {
			t.Errorf("%s: %+v, %v", args, r, n.changes())
		}
		if asked := strings.Contains(r.errors, "forged answers"); asked != (c.typed != "") {
			t.Errorf("%s asks: %v: %+v", args, asked, r)
		}
		if c.sent != "" && !strings.Contains(r.out, "example.com. goes unsigned: it is offered") {
			t.Errorf("%s says %s", args, r.out)
		}
	}
	n := startNode(t)
	if r := ask(t, "dnssec unsign example.com", n); r.code != 2 || len(n.changes()) > 0 {
		t.Errorf("without a terminal: %+v", r)
	}
}

// rolls, ds and check report a zone that becomes unsigned. check accepts an unsigned zone.
func TestDNSSECUnsign_IsTold(t *testing.T) {
	server, n := unsigned(t), startNode(t)
	way := fakeWay()
	n.set("GET /api/v1/dnssec/rollover", api.Rolls{Enabled: true, Rolls: []api.Roll{fakeRoll(), way}})
	n.set("GET /api/v1/dnssec/ds", api.DSRecords{Enabled: true, NoDS: []string{"example.com."}})
	run := func(code int, args ...string) string {
		t.Helper()
		r := call(t, cmdline.System{}, []*node{n}, append(append([]string{"dnssec"}, args...), "--api",
			documented(0))...)
		if r.code != code {
			t.Errorf("%v: %+v", args, r)
		}
		return r.out
	}
	says := func(out string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("%q is not in\n%s", part, out)
			}
		}
	}
	says(run(0, "rolls"), "goes unsigned", "take it out there")
	says(run(0, "ds"), "example.com. must have no DS record in its parent")
	check := []string{"check", "example.com", "--dns", server, "--resolver", server}
	says(run(1, check...), "Not safe now for example.com.: to give the parent a DS record: the nodes",
		"Safe now for example.com.: to take all DS records out of the parent\n", "roll example.com --cancel")
	way.Stage = api.RollDone
	way.Advice = way.Advice[:1]
	n.set("GET /api/v1/dnssec/rollover", api.Rolls{Enabled: true, Rolls: []api.Roll{fakeRoll(), way}})
	says(run(0, check...), "Not safe now for example.com.: to give the parent a DS record",
		"Safe now for example.com.: gslbctl dnssec sign example.com\n")
}

// --force names the skipped nodes and the risk, and sends the request to every node after a confirmation.
func TestDNSSECRoll_ForceNamesTheRisk(t *testing.T) {
	const sent = "POST /api/v1/dnssec/rollover/example.com/force"
	for args, c := range map[string]struct {
		typed string
		code  int
		sent  bool
	}{
		"--force":           {"y\n", 0, true},
		"--force ":          {"n\n", 1, false},
		"--force --yes":     {"", 0, true},
		"--force --dry-run": {"", 0, false},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		r := call(t, cmdline.System{Asks: true, In: strings.NewReader(c.typed)}, nodes, append([]string{"dnssec",
			"roll",
			"example.com", "--api", documented(0), "--api", documented(1)}, strings.Fields(args)...)...)
		said := strings.Contains(r.errors, "Stop http://192.0.2.3:8080 and move its")
		if r.code != c.code || !strings.Contains(r.out, "nothing listens there") || !said ||
			!strings.Contains(r.errors, "it breaks this") {
			t.Errorf("%s: %+v", args, r)
		}
		for _, n := range nodes {
			if got := strings.Join(n.changes(), ","); got != map[bool]string{true: sent}[c.sent] {
				t.Errorf("%s sent %q", args, got)
			}
		}
	}
	n := startNode(t)
	n.set(sent+"?dry_run=true", &api.Error{Status: 409, Message: "no unreachable node blocks it"})
	if r := ask(t, "dnssec roll example.com --force --yes", n); r.code != 1 ||
		!strings.Contains(r.errors, "blocks it") || len(n.changes()) > 0 {
		t.Errorf("nothing to force: %+v", r)
	}
	for name, c := range map[string]struct {
		second any
		code   int
		words  string
	}{
		"refuses": {&api.Error{Status: 409, Message: "try again in a minute"}, 1,
			" answered 409: try again in a minute"},
		"breaks off": {breaksOff, 0, "no answer from http://" + documented(1)},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		nodes[1].set(sent, c.second)
		r := ask(t, "dnssec roll example.com --force --yes", nodes...)
		if r.code != c.code || !strings.Contains(r.out, "example.com. continues without these nodes") ||
			!strings.Contains(r.errors, "not on every node: ") || !strings.Contains(r.errors, c.words) {
			t.Errorf("one %s: %+v", name, r)
		}
	}
	n = startNode(t)
	n.set(sent, breaksOff)
	if r := ask(t, "dnssec roll example.com --force --yes", n); r.code != 1 ||
		!strings.Contains(r.errors, "it may have made the change") || strings.Contains(r.out, "goes on") {
		t.Errorf("no answer: %+v", r)
	}
}
