package cli // inside: it uses exitDegraded, exitNotAsked and exitWell

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// fakeAudit returns a log of two entries with a valid hash chain.
func fakeAudit() api.AuditList {
	list := api.AuditList{Total: 2, Limit: api.DefaultPageLimit, GeneratedAt: now}
	previous := ""
	for i, e := range []api.AuditEntry{
		{Action: "override", Resource: "override", ResourceID: "app.example.com 192.0.2.11:443", Actor: "127.0.0.1",
			ActorType: api.ActorUser, Status: api.AuditSuccess},
		{Action: "reload", Resource: "config", ResourceID: "ow-1", Actor: "SIGHUP", ActorType: api.ActorSystem,
			Status: api.AuditFailure},
	} {
		e.ID, e.Timestamp, e.PreviousHash = uint64(i+1), now.Add(time.Duration(i-60)*time.Minute), previous
		e.Details, e.Before, e.After = map[string]string{}, json.RawMessage("null"), json.RawMessage(`{"a":"<b>"}`)
		e.Hash, _ = e.Sum()
		previous = e.Hash
		list.Entries = append(list.Entries, e)
	}
	return list
}

func TestAuditVerify_NamesTheEntryThatBreaksTheChain(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func([]api.AuditEntry) []api.AuditEntry
		says  string
		code  int
	}{
		"sound":  {func(l []api.AuditEntry) []api.AuditEntry { return l }, "whole: 2 entries", fleet.OK},
		"pruned": {func(l []api.AuditEntry) []api.AuditEntry { return l[1:] }, "whole: 1 entry", fleet.OK},
		"edited": {func(l []api.AuditEntry) []api.AuditEntry { l[1].Status = api.AuditSuccess; return l },
			"entry 2 was changed", fleet.Degraded},
		"moved": {func(l []api.AuditEntry) []api.AuditEntry { l[0], l[1] = l[1], l[0]; return l }, "out of order",
			fleet.Degraded},
		"removed": {func(l []api.AuditEntry) []api.AuditEntry { l[1].ID = 3; l[1].Hash, _ = l[1].Sum(); return l },
			"entries are missing", fleet.Degraded},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t)
			list := fakeAudit()
			list.Entries = test.spoil(list.Entries)
			list.Total = len(list.Entries)
			n.answers["GET /api/v1/audit-logs"] = list
			r := ask(t, "audit verify", n)
			if r.code != test.code || !strings.Contains(r.out, test.says) || r.errors != "" {
				t.Errorf("exit code %d: %s%s, want %q", r.code, r.out, r.errors, test.says)
			}
		})
	}
}

// The command also verifies the chains of rejections and of other nodes' changes, which have their own numbers. A node
// of an earlier version lacks these chains.
func TestAuditVerify_ChecksTheOtherChains(t *testing.T) {
	for action, first := range map[string]uint64{api.AuditRefused: api.FirstRefusal,
		api.AuditReceive: api.FirstReceived} {
		path := "GET /api/v1/audit-logs?actions=" + action + "&sort_order=asc"
		n := startNode(t)
		list := fakeAudit()
		previous := ""
		for i := range list.Entries {
			e := &list.Entries[i]
			e.ID, e.PreviousHash = first+uint64(i), previous
			e.Hash, _ = e.Sum()
			previous = e.Hash
		}
		n.answers[path] = list
		if r := ask(t, "audit verify", n); r.code != fleet.OK || !strings.Contains(r.out, "whole: 4 entries") {
			t.Errorf("%s: %+v", action, r)
		}
		list.Entries[1].Actor = "nobody"
		if r := ask(t, "audit verify", n); r.code != fleet.Degraded ||
			!strings.Contains(r.out, fmt.Sprintf("entry %d was changed", first+1)) {
			t.Errorf("%s: %+v", action, r)
		}
		n.answers[path] = &api.Error{Status: 400, Message: "actions is not one of these"}
		if r := ask(t, "audit verify", n); r.code != fleet.OK || !strings.Contains(r.out, "whole: 2 entries") {
			t.Errorf("%s, an earlier version: %+v", action, r)
		}
	}
}

func TestAudit_FlagsChooseEntries(t *testing.T) {
	for command, path := range map[string]string{"list": "/api/v1/audit-logs", "tail": "/api/v1/audit-logs",
		"export": "/api/v1/audit-logs/export"} {
		n := startNode(t)
		n.answers["GET /api/v1/audit-logs/export"] = map[string]any{"entries": []any{}}
		r := ask(t, "audit "+command+" --since 1d --actor deploy --actor 192.0.2.1 --action drain,refused --search app",
			n)
		n.mu.Lock()
		asked := strings.Join(n.asked, "\n")
		n.mu.Unlock()
		if want := "GET " + path + " actions=drain%2Crefused&actors=deploy%2C192.0.2.1"; r.code != fleet.OK ||
			!strings.HasPrefix(asked, want) || !strings.Contains(asked, "&search=app") ||
			!strings.Contains(asked, "start_time=2026-01-01T03%3A04%3A05Z") {
			t.Errorf("%s: %+v asked %s, want %s", command, r, asked, want)
		}
		if r := ask(t, "audit "+command+" --since -1h", n); r.code != fleet.NotAsked || !strings.Contains(r.errors,
			"--since") {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

func TestAuditTail_TheNewestComesLast(t *testing.T) {
	n := startNode(t)
	list := fakeAudit()
	slices.Reverse(list.Entries) // as a node answers unless it is told otherwise
	n.answers["GET /api/v1/audit-logs"] = list
	r := ask(t, "audit tail", n)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != fleet.OK || len(lines) != 2 || !strings.Contains(lines[0], "override") ||
		!strings.Contains(lines[1], "reload") {
		t.Errorf("exit code %d: %q %s", r.code, r.out, r.errors)
	}
	r = ask(t, "-o json audit tail --lines 2", n)
	if lines := strings.Split(strings.TrimSpace(r.out), "\n"); r.code != fleet.OK || len(lines) != 2 ||
		!strings.HasPrefix(lines[0], `{"id":1,`) {
		t.Errorf("exit code %d: %q %s", r.code, r.out, r.errors)
	}
	var entries []map[string]any
	r = ask(t, "-o yaml audit tail", n)
	if err := yaml.Unmarshal([]byte(r.out), &entries); err != nil || len(entries) != 2 {
		t.Errorf("%v: %s", err, r.out)
	}
	if r = ask(t, "-o name audit tail", n); r.out != "1\n2\n" {
		t.Errorf("%+v", r)
	}
	if r = ask(t, "-o wide audit tail", n); strings.Count(r.out, "  from ") != 2 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--lines", "0"}, {"--lines", "1001"}, {"-o", "csv"}} {
		if r := call(t, cmdline.System{}, []*node{n}, append([]string{"--api", documented(0), "audit", "tail"},
			args...)...); r.code == fleet.OK {
			t.Errorf("%v: %s", args, r.out)
		}
	}
}

// Each node is queried from its own last entry, independently of the other nodes. Old entries are not printed as new.
func TestAuditTail_GoesOnWhereEachNodeWasLeft(t *testing.T) {
	const lines = 2
	app := newApp(cmdline.System{})
	var out strings.Builder
	app.Out = &out
	since, seen := map[string]time.Time{}, map[string]bool{}
	logs := map[string][]api.AuditEntry{} // by node, the newest first
	write := func(node string, ago time.Duration) {
		id := uint64(len(logs[node]) + 1)
		e := api.AuditEntry{ID: id, Timestamp: now.Add(-ago), Actor: fmt.Sprintf("%s-%d", node, id)}
		logs[node] = append([]api.AuditEntry{e}, logs[node]...)
	}
	look := func(want string, nodes ...string) {
		t.Helper()
		out.Reset()
		g := fleet.Gathered[api.AuditList]{Nodes: make([]fleet.Asked, 2)}
		for _, node := range nodes {
			query := tailQuery(url.Values{}, lines, since, node)
			limit, _ := strconv.Atoi(query.Get("limit"))
			start, _ := time.Parse(time.RFC3339Nano, query.Get("start_time"))
			var list api.AuditList
			for _, e := range logs[node] {
				if len(list.Entries) < limit && !e.Timestamp.Before(start) {
					list.Entries = append(list.Entries, e)
				}
			}
			g.Answers = append(g.Answers, fleet.Answer[api.AuditList]{Node: node, Value: list})
		}
		if err := app.printTail(g, lines, since, seen); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, strings.Fields(line)[4])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("printed %q, want %s", got, want)
		}
	}
	for _, ago := range []time.Duration{10*time.Minute + 2*time.Second, 10*time.Minute + time.Second,
		10 * time.Minute} {
		write("ns1", ago)
		write("ns2", ago+5*time.Minute)
	}
	look("ns1-2 ns1-3", "ns1", "ns2", "ns3")
	look("", "ns1", "ns2", "ns3")
	write("ns1", 0)
	look("ns1-4", "ns1")
	write("ns2", 5*time.Minute) // while it cannot be asked
	look("", "ns1")
	for range lines + 1 {
		write("ns3", time.Minute) // the first of its entries
	}
	look("ns2-4 ns3-1 ns3-2 ns3-3", "ns1", "ns2", "ns3")
	look("", "ns1", "ns2", "ns3")
	recent := url.Values{"start_time": {now.Format(time.RFC3339)}} // --since
	if q := tailQuery(recent, lines, since, "ns1"); q.Get("start_time") != recent.Get("start_time") {
		t.Errorf("asks for what was before --since: %v", q)
	}
}

func TestAuditExport_WritesANewFileThatIsWholeOrNone(t *testing.T) {
	n := startNode(t)
	n.answers["GET /api/v1/audit-logs/export"] = map[string]any{"entries": []any{}}
	path := filepath.Join(t.TempDir(), "audit.json")
	export := func(args ...string) int {
		return call(t, cmdline.System{}, []*node{n}, append([]string{"--api", documented(0), "audit", "export"},
			args...)...).code
	}
	if code := export("--file", path); code != fleet.OK {
		t.Fatal(code)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "entries") {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if export("--file", path) == fleet.OK {
		t.Error("a file that exists was overwritten")
	}
	if export("--format", "xml") == fleet.OK {
		t.Error("a format that does not exist was taken")
	}
	delete(n.answers, "GET /api/v1/audit-logs/export")
	if other := path + "2"; export("--file", other) == fleet.OK {
		t.Error("an error was no error")
	} else if _, err := os.Stat(other); err == nil {
		t.Error("half a file stays")
	}
}
