package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// A rollover starts on one node, and the other nodes are requested to fetch it. Without a zone, the command changes
// nothing.
func TestDNSSECRoll_TellsOneNode(t *testing.T) {
	for args, sent := range map[string]string{
		"dnssec roll example.com": `POST /api/v1/dnssec/rollover  {"zone":"example.com"}`,
		"dnssec roll example.com --emergency --take-over --yes": `POST /api/v1/dnssec/rollover  ` +
			`{"zone":"example.com","emergency":true,"take_over":true}`,
		"dnssec roll example.com --emergency " +
			"--yes": `POST /api/v1/dnssec/rollover  {"zone":"example.com","emergency":true}`,
		"dnssec roll example.com --cancel":  `DELETE /api/v1/dnssec/rollover/example.com`,
		"dnssec roll example.com --confirm": `POST /api/v1/dnssec/rollover/example.com/confirm`,
		"dnssec roll example.com --now":     `POST /api/v1/dnssec/rollover  {"zone":"example.com"}`,
		"dnssec roll":                       "",
		"dnssec roll example.com --status":  "",
	} {
		nodes := []*node{startNode(t), startNode(t)}
		r := ask(t, args, nodes...)
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

// A transition without an answer may have been started, so the command does not try the next node. It tries the next
// node only if the first node has certainly not received the request.
func TestDNSSECRoll_WithoutAnAnswerMayBeMade(t *testing.T) {
	const rollover = " /api/v1/dnssec/rollover"
	for args, request := range map[string]string{
		"roll example.com":                   "POST" + rollover,
		"roll example.com --emergency --yes": "POST" + rollover,
		"roll example.com --cancel":          "DELETE" + rollover + "/example.com",
		"roll example.com --confirm":         "POST" + rollover + "/example.com/confirm",
		"sign example.com":                   "POST" + rollover + "/example.com/sign",
		"unsign example.com --yes":           "POST" + rollover + "/example.com/unsign",
	} {
		nodes := []*node{startNode(t), startNode(t)}
		nodes[0].set(request, breaksOff)
		r := ask(t, "dnssec "+args, nodes...)
		if r.code != fleet.Degraded || !strings.Contains(r.errors, "it may have made the change: look before you "+
			"repeat it") ||
			len(nodes[1].changes()) > 0 {
			t.Errorf("%s: %+v, then %q", args, r, nodes[1].changes())
		}
		n := startNode(t)
		line := append([]string{"dnssec"}, strings.Fields(args)...)
		r = call(t, cmdline.System{}, []*node{n}, append(line, "--api", dead(t), "--api", documented(0))...)
		if r.code != fleet.OK || !strings.HasPrefix(strings.Join(n.changes(), ","), request) {
			t.Errorf("%s, where the first is down: %+v, %q", args, r, n.changes())
		}
		r = call(t, cmdline.System{}, nil, append(line, "--api", dead(t))...)
		if r.code != fleet.NotAsked || !strings.Contains(r.errors, "nothing listens on") {
			t.Errorf("%s, where all are down: %+v", args, r)
		}
	}
}

func TestDNSSECRoll_SaysWhatIsWrong(t *testing.T) {
	n := startNode(t)
	n.set("POST /api/v1/dnssec/rollover", &api.Error{Status: 409, Message: "example.com: a roll is under way"})
	if r := ask(t, "dnssec roll example.com", n); r.code != 1 || !strings.Contains(r.errors, "a roll is under way") {
		t.Errorf("refused: %+v", r)
	}
	if r := ask(t, "dnssec roll --cancel", n); r.code != 2 || !strings.Contains(r.errors, "name the zone") {
		t.Errorf("without a zone: %+v", r)
	}
}

// The command prints the stages before a change starts. With --dry-run it starts no change. If a node cannot return the
// stages, the change starts without them.
func TestDNSSECRoll_TellsWhenEachStageComes(t *testing.T) {
	n := startNode(t)
	r := ask(t, "dnssec roll example.com --emergency --dry-run", n)
	if r.code != 0 || !strings.Contains(r.out, "(in 1d2h)") || !strings.Contains(r.out, "the parent to have") ||
		len(n.changes()) != 0 {
		t.Errorf("dry run: %+v, %v", r, n.changes())
	}
	r = ask(t, "dnssec roll example.com", n)
	if stages, begun := strings.Index(r.out, "(in 1d2h)"), strings.Index(r.out, "rolls to key 23456"); stages < 0 ||
		begun < stages {
		t.Errorf("begun: %+v", r)
	}
	n.set("POST /api/v1/dnssec/rollover?dry_run=true", &api.Error{Status: 400, Message: "dry_run is unknown"})
	if r := ask(t, "dnssec roll example.com", n); r.code != 0 {
		t.Errorf("of an older node: %+v", r)
	}
	if r := ask(t, "dnssec roll example.com --dry-run", n); r.code != 1 ||
		!strings.Contains(r.errors, "dry_run is unknown") {
		t.Errorf("of an older node, dry run: %+v", r)
	}
}

// dnssec roll and dnssec rolls name the same next stage and time. A time in the past is not counted.
func TestDNSSECRoll_NamesTheNextStage(t *testing.T) {
	for want, until := range map[string]*time.Time{
		"offered in 1h": pointer(now.Add(time.Hour)), "offered now": pointer(now.Add(-3 * time.Second)), "offered": nil,
	} {
		n := startNode(t)
		roll := fakeRoll()
		roll.WaitsUntil = until
		n.set("GET /api/v1/dnssec/rollover", api.Rolls{Enabled: true, Rolls: []api.Roll{roll}})
		n.set("POST /api/v1/dnssec/rollover", roll)
		for _, command := range []string{"dnssec rolls", "dnssec roll example.com"} {
			r := ask(t, command, n)
			last := strings.Split(strings.TrimSpace(r.out), "\n")
			line := last[len(last)-1]
			if !strings.Contains(line, want) || !strings.Contains(line, "offered") ||
				until == nil && strings.Contains(line, "offered in") {
				t.Errorf("%s with the time %v: %q, want %q", command, until, line, want)
			}
		}
	}
}

// An emergency rollover requires confirmation after the stages are printed. Other rollovers do not.
func TestDNSSECRoll_AsksBeforeAnUrgentChange(t *testing.T) {
	for typed, code := range map[string]int{"y\n": 0, "n\n": 1} {
		n := startNode(t)
		r := call(t, cmdline.System{Asks: true, In: strings.NewReader(typed)}, []*node{n}, "dnssec", "roll",
			"example.com",
			"--emergency", "--api", documented(0))
		if r.code != code || !strings.Contains(r.out, "(in 1d2h)") || !strings.Contains(r.errors,
			"The old key of example.com is out of use") || (len(n.changes()) == 0) != (code == 1) {
			t.Errorf("%q: %+v, %v", typed, r, n.changes())
		}
	}
}

// The command check uses the node with the least progress in its rollover.
func TestDNSSECCheck_SaysWhatIsSafeNow(t *testing.T) {
	server := unsigned(t)
	behind, ahead := startNode(t), startNode(t)
	further := fakeRoll()
	further.Stage, further.Advice = api.RollAlone, []api.RollAdvice{{Act: api.RollReplaceDS, Safe: true}}
	ahead.set("GET /api/v1/dnssec/rollover", api.Rolls{Enabled: true, Rolls: []api.Roll{further}})
	check := func(more ...string) string {
		t.Helper()
		r := call(t, cmdline.System{}, []*node{behind, ahead}, append([]string{"dnssec", "check", "example.com", "--ds",
			"34505 13 2 B07EE2C9BEB4D06CB52B1F96B9B2A2C6C6EEF2B4EA5F6D1E1A5CBA2AC1F0B0A7", "--api", documented(1),
			"--api", documented(0), "--dns", server, "--dns", server}, more...)...)
		return r.out + r.errors
	}
	out := check()
	for _, said := range []string{
		"(in 1h) for example.com.: to give the parent the DS record of key 23456 and take all others out: resolvers " +
			"that",
		"Not safe now for example.com.: to take key 34505 away from the nodes: resolvers that hold the DS record",
		"Safe now for example.com.: gslbctl dnssec roll example.com --cancel\n"} {
		if strings.Count(out, said) != 1 {
			t.Errorf("%q is not there once in\n%s", said, out)
		}
	}
	if out := check("-o", "json"); !strings.Contains(out, `"act": "replace_ds"`) || !strings.Contains(out,
		`"until": "20`) {
		t.Errorf("in JSON:\n%s", out)
	}
	further.Stage = api.RollDone
	for _, n := range []*node{behind, ahead} {
		n.set("GET /api/v1/dnssec/rollover", api.Rolls{Enabled: true, Rolls: []api.Roll{further}})
	}
	if out := check(); !strings.Contains(out, "Safe now for example.com.: gslbctl dnssec roll example.com\n") ||
		!strings.Contains(out, "Not safe now for example.com.: to take its key away") {
		t.Errorf("without a change:\n%s", out)
	}
	if out := check("--server", server); strings.Contains(out, "afe now") {
		t.Errorf("without an API:\n%s", out)
	}
}
