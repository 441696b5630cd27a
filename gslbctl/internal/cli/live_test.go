package cli // inside: it uses app, nodeOverview and overview

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
)

func TestLive_TerminalShowsTheView(t *testing.T) {
	var shown screen.Live
	a := newApp(cmdline.System{
		Now: time.Now, Getenv: func(string) string { return "" },
		ShowLive: func(_ context.Context, l screen.Live) error { shown = l; return nil },
	})
	a.Output = cmdline.Table
	v := screen.Live{Title: "test", Tabs: []string{"one"}}
	if err := a.Watch(t.Context(), v, cmdline.WatchFlags{Interval: time.Minute, Count: 7}); err != nil {
		t.Fatal(err)
	}
	if shown.Title != "test" || len(shown.Tabs) != 1 || shown.Interval != time.Minute || shown.Count != 7 || !a.Quiet {
		t.Errorf("%+v, quiet %v", shown, a.Quiet)
	}
	gone := &api.UnreachableError{Node: "http://node1", Err: errors.New("gone\x1b[2J")}
	for _, tc := range []struct {
		err         error
		first, ends bool
		says        string
	}{
		{gone, true, false, "node1: gone\ufffd[2J"},
		{errors.New("a mistake"), true, true, "a mistake"},
		{errors.New("a mistake"), false, false, "a mistake"},
	} {
		if says, ends := shown.Trouble(tc.err, tc.first); !strings.Contains(says, tc.says) || ends != tc.ends {
			t.Errorf("%v, first %v: %q, ends %v", tc.err, tc.first, says, ends)
		}
	}
}

func TestWatchFlag_RepeatsAListBelowOneAnother(t *testing.T) {
	nodes := []*node{startNode(t)}
	r := ask(t, "agents --watch --count 2 --interval 100ms -o name", nodes...)
	if r.code != 0 || r.out != "eu-1\nlab-7\nus-1\neu-9\neu-1\nlab-7\nus-1\neu-9\n" {
		t.Errorf("%+v", r)
	}
	r = ask(t, "status -w --count 2 --interval 100ms", nodes...)
	if r.code != 0 || strings.Count(r.out, "2026-01-02T03:04:05Z  gslbctl status\n") != 2 ||
		strings.Count(r.out, "3 things need attention") != 2 {
		t.Errorf("%+v", r)
	}
	for args, says := range map[string]string{
		"agents --count 2":                             "require --watch",
		"agents --watch --interval 1ms":                "--interval is 1ms",
		"agents --watch --count -1":                    "--count is -1",
		"agents --watch --api ftp://x":                 "the scheme",
		"watch --interval 0s":                          "--interval is 0s",
		"watch --count 1 --api " + dead(t):             "nothing listens on",
		"agents list -w --count 1 --api a --context b": "give one of them",
	} {
		if r := call(t, cmdline.System{}, nil, strings.Fields(args)...); !strings.Contains(r.errors, says) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestTop_ShowsWhatNodesAndTheirDNSSayAndWhereTheyDisagree(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	healthy, _ := fakeBackends()
	healthy[0].EffectiveStatus, healthy[0].Reason = api.EffectiveUnhealthy, "own checks fail"
	nodes[1].answers["GET /api/v1/overwatch/backends"] = api.BackendList{Backends: healthy, Total: len(healthy)}
	first := startDNS(t, map[string][][4]byte{"app.example.com": {{192, 0, 2, 10}}, "www.example.com": nil})
	second := startDNS(t, map[string][][4]byte{"app.example.com": {{192, 0, 2, 11}}, "www.example.com": nil})
	args := []string{"top", "--count", "1", "--api", documented(0), "--api", documented(1), "--dns", first.at,
		"--dns",
		second.at}
	r := call(t, cmdline.System{}, nodes, args...)
	if r.code != 0 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "top", r.out)
	r = call(t, cmdline.System{}, nodes, append(args, "-o", "json")...)
	if r.code != 0 || !strings.Contains(r.out, `"192.0.2.11"`) {
		t.Errorf("%+v", r)
	}
	first.alias("app.example.com", "app.cdn.example")
	if r = call(t, cmdline.System{}, nodes, args...); !strings.Contains(r.out, " app.cdn.example ") {
		t.Errorf("a name that is answered with a name: %s", r.out)
	}
}

func TestTop_ListsBackendsAsNodesDo(t *testing.T) {
	n := nodeOverview{}
	for _, address := range []string{"10.0.0.100", "10.0.0.9", "2001:db8::1"} {
		n.Backends = append(n.Backends, api.Backend{ID: "a:" + address + ":80", Service: "a", Address: address,
			Port: 80})
	}
	table := (&overview{app: newApp(cmdline.System{Now: time.Now}), Nodes: []nodeOverview{n}}).backends()
	for i, want := range []string{"10.0.0.9:80", "10.0.0.100:80", "[2001:db8::1]:80"} {
		if got := table.Rows[i][1].Text; got != want {
			t.Errorf("row %d is of %s, want %s", i, got, want)
		}
	}
}
