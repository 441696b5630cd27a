package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
)

// fakeScreen is a terminal whose keys a test presses.
type fakeScreen struct {
	width, height int
	events        chan screen.Event
	frames        []string
	closed        int
}

func (s *fakeScreen) Size() (width, height int)   { return s.width, s.height }
func (s *fakeScreen) Events() <-chan screen.Event { return s.events }
func (s *fakeScreen) Close() error                { s.closed++; return nil }
func (s *fakeScreen) Draw(lines []string) error {
	s.frames = append(s.frames, strings.Join(lines, "\n"))
	return nil
}

// numbered is a picture whose body has a head and lines.
type numbered struct{ top, body []string }

func (p numbered) lines(tab int) (top, body []string) {
	return append([]string{}, p.top...), append([]string{[]string{"HEAD", "OTHER HEAD"}[max(0, tab)]}, p.body...)
}

func liveView(gather func(n int) (picture, error)) view {
	n := 0
	return view{title: "test", tabs: []string{"one", "two"}, gather: func(context.Context) (picture, error) {
		n++
		return gather(n)
	}}
}

func TestLive_KeysScrollAndChooseAndQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeScreen{width: 20, height: 8, events: make(chan screen.Event)}
		a := &app{System: System{Now: time.Now, Getenv: func(string) string { return "" }, OpenScreen: func() (Screen, error) { return s, nil }}, output: outputTable}
		shown := numbered{top: []string{"top"}, body: strings.Split("0 a;1 b;2 c;3 d;4 e;5 f", ";")}
		ended := make(chan error)
		go func() {
			ended <- a.live(t.Context(), liveView(func(int) (picture, error) { return shown, nil }), liveFlags{interval: time.Second})
		}()
		shows := func(has, hasNot string) {
			t.Helper()
			synctest.Wait()
			frame := s.frames[len(s.frames)-1]
			if !strings.Contains(frame, has) || hasNot != "" && strings.Contains(frame, hasNot) || strings.Count(frame, "\n") != s.height-1 {
				t.Errorf("%q: want %q and not %q", frame, has, hasNot)
			}
		}
		shows("HEAD\n0 a\n1 b\n2 c\n", "3 d")
		s.events <- screen.Down
		shows("HEAD\n1 b\n", "0 a")
		s.events <- screen.End
		shows("5 f\n", "2 c")
		s.events <- screen.Up
		shows("HEAD\n2 c\n", "5 f")
		s.events <- screen.Next
		shows("OTHER HEAD\n0 a", "")
		s.events <- screen.Second
		s.events <- screen.Fourth // there is none
		shows("[2 two]", "[1 one]")
		s.height = 4
		s.events <- screen.Resized
		shows("top", "3 d")
		s.width, s.height = 0, 1
		s.events <- screen.Resized
		synctest.Wait()
		s.events <- screen.Quit
		if err := <-ended; err != nil || s.closed == 0 {
			t.Errorf("%v, closed %d times", err, s.closed)
		}
	})
}

func TestLive_NodeThatIsGoneIsToldAndMistakesEndIt(t *testing.T) {
	gone := &api.UnreachableError{Node: "http://node1", Err: errors.New("gone")}
	synctest.Test(t, func(t *testing.T) {
		s := &fakeScreen{width: 200, height: 24, events: make(chan screen.Event)}
		a := &app{System: System{Now: time.Now, Getenv: func(string) string { return "" }, OpenScreen: func() (Screen, error) { return s, nil }}, output: outputTable}
		v := liveView(func(n int) (picture, error) {
			if n == 2 {
				return nil, gone
			}
			return numbered{body: []string{"line"}}, nil
		})
		if err := a.live(t.Context(), v, liveFlags{interval: time.Second, count: 3}); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(s.frames, "\n")
		if !strings.Contains(all, "node1: gone") || strings.Contains(s.frames[len(s.frames)-1], "gone") {
			t.Errorf("%s", all)
		}
		mistake := errors.New("a mistake")
		v = liveView(func(int) (picture, error) { return nil, mistake })
		if err := a.live(t.Context(), v, liveFlags{interval: time.Second}); !errors.Is(err, mistake) {
			t.Errorf("a mistake: %v", err)
		}
	})
}

func TestLive_PanicGivesTheTerminalBack(t *testing.T) {
	s := &fakeScreen{width: 80, height: 24, events: make(chan screen.Event)}
	a := &app{System: System{Now: time.Now, Getenv: func(string) string { return "" }, OpenScreen: func() (Screen, error) { return s, nil }}, output: outputTable}
	defer func() {
		if recover() == nil || s.closed != 1 {
			t.Errorf("closed %d times", s.closed)
		}
	}()
	_ = a.live(t.Context(), liveView(func(int) (picture, error) { panic("a fault") }), liveFlags{interval: time.Second})
	t.Error("it went on")
}

func TestWatchFlag_RepeatsAListBelowOneAnother(t *testing.T) {
	nodes := []*node{startNode(t)}
	r := call(t, System{}, nodes, "agents", "--watch", "--count", "2", "--interval", "100ms", "-o", "name", "--api", documented(0))
	if r.code != 0 || r.out != "eu-1\nlab-7\nus-1\neu-1\nlab-7\nus-1\n" {
		t.Errorf("%+v", r)
	}
	r = call(t, System{}, nodes, "status", "-w", "--count", "2", "--interval", "100ms", "--api", documented(0))
	if r.code != 0 || strings.Count(r.out, "2026-01-02T03:04:05Z  gslbctl status\n") != 2 || strings.Count(r.out, "6 things need attention") != 2 {
		t.Errorf("%+v", r)
	}
	for args, says := range map[string]string{
		"agents --count 2":                             "about --watch",
		"agents --watch --interval 1ms":                "--interval is 1ms",
		"agents --watch --count -1":                    "--count is -1",
		"agents --watch --api ftp://x":                 "the scheme",
		"watch --interval 0s":                          "--interval is 0s",
		"watch --count 1 --api " + dead(t):             "nothing listens on",
		"agents list -w --count 1 --api a --context b": "give one of them",
	} {
		if r := call(t, System{}, nil, strings.Fields(args)...); !strings.Contains(r.errors, says) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestWatch_ShowsWhatNodesAndTheirDNSSayAndWhereTheyDisagree(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	healthy, _ := fakeBackends()
	healthy[0].EffectiveStatus, healthy[0].Reason = api.EffectiveUnhealthy, "this node's own checks fail"
	nodes[1].answers["GET /api/v1/overwatch/backends"] = api.BackendList{Backends: healthy, Total: len(healthy)}
	first := startDNS(t, map[string][][4]byte{"app.example.com": {{192, 0, 2, 10}}, "www.example.com": nil})
	second := startDNS(t, map[string][][4]byte{"app.example.com": {{192, 0, 2, 11}}, "www.example.com": nil})
	args := []string{"watch", "--count", "1", "--api", documented(0), "--api", documented(1), "--dns", first.at, "--dns", second.at}
	r := call(t, System{}, nodes, args...)
	if r.code != 0 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "watch", r.out)
	r = call(t, System{}, nodes, append(args, "-o", "json")...)
	if r.code != 0 || !strings.Contains(r.out, `"192.0.2.11"`) {
		t.Errorf("%+v", r)
	}
}

func TestWatch_ListsBackendsAsNodesDo(t *testing.T) {
	n := nodeAround{}
	for _, address := range []string{"10.0.0.100", "10.0.0.9", "2001:db8::1"} {
		n.Backends = append(n.Backends, api.Backend{ID: "a:" + address + ":80", Service: "a", Address: address, Port: 80})
	}
	table := (&around{app: &app{System: System{Now: time.Now}}, Nodes: []nodeAround{n}}).backends()
	for i, want := range []string{"10.0.0.9:80", "10.0.0.100:80", "[2001:db8::1]:80"} {
		if got := table.Rows[i][1].Text; got != want {
			t.Errorf("row %d is of %s, want %s", i, got, want)
		}
	}
}
