package cli // inside: it uses gathered, nodeEvent and reply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

func fakeEvents(first uint64, sentences ...string) api.EventList {
	list := api.EventList{Total: len(sentences), Newest: first, GeneratedAt: now}
	for i, s := range sentences {
		list.Newest = first + uint64(i)
		list.Events = append(list.Events, api.Event{Sequence: list.Newest, Time: now, Kind: api.EventBackend,
			Severity: api.EventWarning, Sentence: s})
	}
	return list
}

func TestEvents_PrintsTheNewestLast(t *testing.T) {
	n := startNode(t)
	n.answers["GET /api/v1/events"] = fakeEvents(7, "b is \x1b[31munhealthy", "b is healthy")
	say := func(args ...string) result {
		return call(t, cmdline.System{}, []*node{n}, append([]string{"--api", documented(0), "events"}, args...)...)
	}
	lines := strings.Split(strings.TrimSpace(say("--kind", "backend,name", "--since", "1h").out), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[1], "warning   backend       b is healthy") ||
		strings.Contains(lines[0], "\x1b") {
		t.Errorf("%q", lines)
	}
	if !n.wasAsked("/api/v1/events kinds=backend%2Cname&since=2026-01-02T02") {
		t.Errorf("asked: %v", n.asked)
	}
	if r := say("list"); r.code != 0 || !strings.Contains(r.out, "b is healthy") {
		t.Errorf("events list: %+v", r)
	}
	if r := say("all"); r.code != 2 || !strings.Contains(r.errors, `unexpected argument "all"`) {
		t.Errorf("events all: %+v", r)
	}
	r := say("--at", "yesterday 14:05")
	if !n.wasAsked("/api/v1/events since=2026-01-01T14%3A00%3A00Z&until=2026-01-01T14%3A10%3A00Z") {
		t.Errorf("%+v, asked: %v", r, n.asked)
	}
	if r := say("-o", "name"); r.out != "7\n8\n" {
		t.Errorf("%+v", r)
	}
	if r := say("-o", "json"); strings.Count(r.out, "\n") != 2 || !strings.Contains(r.out, `"node":"http://`) {
		t.Errorf("%+v", r)
	}
	var list []nodeEvent
	if r := say("-o", "yaml"); yaml.Unmarshal([]byte(r.out), &list) != nil || len(list) != 2 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--lines", "0"}, {"--lines", "1001"}, {"--since", "-1h"}, {"-o", "csv"}, {"more"},
		{"--at", "1h", "--until", "1h"}, {"--until", "1h", "-f"}, {"--at", "2030-01-01"}} {
		if r := say(args...); r.code == fleet.OK {
			t.Errorf("%v: %s", args, r.out)
		}
	}
}

func TestEvents_EqualOnesOfSeveralNodesAreOneLine(t *testing.T) {
	nodes := startNodes(t, 3)
	for i, n := range nodes {
		list := fakeEvents(7, "b is unhealthy", fmt.Sprintf("only %d", i), "b is unhealthy")
		list.Events[0].Time = now.Add(time.Duration(i) * time.Second)
		list.Events[1].Time = now.Add(5 * time.Second)
		list.Events[2].Time = now.Add(time.Duration(i) * 20 * time.Second) // too far apart
		if i == 2 {
			list.Events = list.Events[:2]
			list.Total = 9
		}
		n.answers["GET /api/v1/events"] = list
	}
	r := ask(t, "events --until 0s", nodes...)
	for line, want := range map[string]int{"  all 3 nodes  warning   backend       b is unhealthy\n": 1,
		"b is unhealthy\n": 3, "  http://" + documented(1) + "  warning   backend       only 1\n": 1} {
		if got := strings.Count(r.out, line); got != want {
			t.Errorf("%d times %q, want %d:\n%s", got, line, want, r.out)
		}
	}
	if !strings.Contains(r.errors, documented(2)+" has 7 more events of this period before these") {
		t.Errorf("%s", r.errors)
	}
	if r := ask(t, "events -o json", nodes...); strings.Count(r.out, "\n") != 8 {
		t.Errorf("%s", r.out)
	}
}

// The command requests further events after the last event of each node. It continues after an incomplete page, and
// reports events that a node no longer stores.
func TestEvents_GoesOnBehindWhatItHas(t *testing.T) {
	after := map[string]uint64{}
	app := newApp(cmdline.System{})
	var out, errors strings.Builder
	app.Out, app.Err = &out, &errors
	print := func(list api.EventList) {
		g := fleet.Gathered[api.EventList]{Nodes: []fleet.Asked{{Node: "n"}},
			Answers: []fleet.Answer[api.EventList]{{Node: "n", Value: list}}}
		if err := app.printEvents(g, after, false); err != nil {
			t.Fatal(err)
		}
	}
	first := fakeEvents(7, "a", "b")
	first.Total = 50 // only the newest are shown
	print(first)
	if after["n"] != 8 {
		t.Errorf("after %d, want 8", after["n"])
	}
	more := fakeEvents(9, "c")
	more.Total, more.Newest, more.Missed = 2000, 4000, true
	print(more)
	if after["n"] != 9 || !strings.Contains(errors.String(), "events of n are missing here") {
		t.Errorf("after %d, want 9: %s", after["n"], errors.String())
	}
	print(api.EventList{Newest: 4001})
	if after["n"] != 4001 || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("%s: %s", fmt.Sprint(after), out.String())
	}
}
