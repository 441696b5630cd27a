package cli // inside: it uses follow and exitDegraded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// twoAt returns a node with two servers at 192.0.2.10, and the requests that drain them.
func twoAt(t *testing.T) (n *node, first, second string) {
	t.Helper()
	a, b := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.10", 444, "eu-1", "eu")
	n, _ = drainingNode(t, a, b)
	return n, "POST /api/v1/servers/" + a.ID + "/drain", "POST /api/v1/servers/" + b.ID + "/drain"
}

// The error of an interrupted change of several servers contains the completed changes.
func TestErrors_SayWhatWasDoneBefore(t *testing.T) {
	for name, end := range map[string]struct {
		answer any
		words  string
	}{
		"refused": {&api.Error{Status: 409, Message: "nothing was changed: a drain is in force"},
			"answered 409: a drain is in force"},
		"broken off": {breaksOff, "EOF"},
	} {
		n, _, second := twoAt(t)
		n.answers[second] = end.answer
		r := ask(t, "drain 192.0.2.10 --yes", n)
		if r.code != fleet.Degraded || !strings.Contains(r.errors, "server app.example.com:192.0.2.10:443 is "+
			"draining") ||
			!strings.Contains(r.errors, "; then: ") || !strings.Contains(r.errors, end.words) ||
			strings.Contains(r.errors, fleet.NothingChanged) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	n, first, _ := twoAt(t)
	n.answers[first] = &api.Error{Status: 409, Message: "a drain is in force"}
	if r := ask(t, "drain 192.0.2.10 --yes", n); r.code != fleet.Degraded || !strings.Contains(r.errors,
		fleet.NothingChanged) {
		t.Errorf("refused at once: %+v", r)
	}
}

// An empty name, for example of an unset variable, does not match the servers without an agent.
func TestDrain_OfAnEmptyNameIsRefused(t *testing.T) {
	for _, verb := range []string{"drain", "undrain"} {
		n, _, _ := twoAt(t)
		if r := call(t, cmdline.System{}, []*node{n}, verb, "", "--api", documented(0)); r.code == fleet.OK ||
			!strings.Contains(r.errors, "the name is empty") || len(n.changes()) > 0 {
			t.Errorf("%s: %+v, %q", verb, r, n.changes())
		}
	}
}

// After a change of several servers, the output contains the command that reverts the change for all of them.
func TestChanges_OfSeveralServersNameWhatTakesAllBack(t *testing.T) {
	for line, back := range map[string]string{
		"drain 192.0.2.10 --yes":                             "gslbctl undrain 192.0.2.10",
		"weight app.example.com 192.0.2.10 7 --reason r":     "gslbctl weight app.example.com:192.0.2.10 --clear",
		"weight app.example.com 192.0.2.10:444 7 --reason r": "",
	} {
		n, _, _ := twoAt(t)
		n.answers["PUT /api/v1/overwatch/backends/app.example.com/192.0.2.10/444/weight"] = fakeOrders().Orders[1]
		r := ask(t, line, n)
		if r.code != fleet.OK || strings.HasSuffix(r.out, "\n"+back+" reverts all of it\n") != (back != "") {
			t.Errorf("%s: %+v", line, r)
		}
		if r := ask(t, line+" -o json", n); r.code != fleet.OK || strings.Contains(r.out, "takes all of it back") {
			t.Errorf("%s to programs: %+v", line, r)
		}
	}
}

// A change without an answer may have been made, so the exit code is not 2 (no request was sent).
func TestErrors_OfAChangeWithoutAnAnswerSayThatItMayBeMade(t *testing.T) {
	n := startNode(t)
	n.answers[added] = breaksOff
	r := ask(t, "domains add shop.example.com", n)
	if r.code != fleet.Degraded || !strings.Contains(r.errors, "it may have made the change: look before you repeat "+
		"it") {
		t.Errorf("%+v", r)
	}
	n.set("GET /api/v1/domains", breaksOff)
	if r := ask(t, "domains", n); r.code != fleet.NotAsked || strings.Contains(r.errors, "may have") {
		t.Errorf("a question: %+v", r)
	}
}

// If the replicating node does not know an object, the command makes the change on the nodes that know it.
func TestShare_WhatTheToldNodeKnowsInPartGoesToEach(t *testing.T) {
	a, b := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.10", 444, "eu-1", "eu")
	var nodes []*node
	for _, known := range [][]api.Backend{{a}, {a, b}, {a, b}} {
		n, _ := drainingNode(t, known...)
		nodes = append(nodes, n)
	}
	replicating(nodes, 0, false)
	r := call(t, cmdline.System{}, nodes, append(threeNodes(), "drain", "192.0.2.10", "--yes")...)
	for i, n := range nodes[1:] {
		if !slices.ContainsFunc(n.changes(), func(c string) bool { return strings.Contains(c, b.ID+"/drain") }) {
			t.Errorf("node %d was not told of what it alone knows: %q", i+1, n.changes())
		}
	}
	if r.code != fleet.OK || !strings.Contains(r.out, b.ID+" is draining") {
		t.Errorf("%+v", r)
	}
}

// After the first answer, following continues during an outage of all nodes. Before the first answer, or after an
// output error, it ends.
func TestFollow_GoesOnOverAnOutage(t *testing.T) {
	down := &api.UnreachableError{Node: "http://ns1", Err: syscall.ECONNREFUSED}
	closed := errors.New("broken pipe")
	for name, tc := range map[string]struct {
		looks []error // of each look; then the user interrupts
		want  error
		said  int // lines
	}{
		"an outage":             {[]error{nil, down, down, nil, down, nil}, nil, 2},
		"never an answer":       {[]error{down, nil}, down, 0},
		"a closed output":       {[]error{nil, closed, nil}, closed, 0},
		"refused after a while": {[]error{nil, &api.Error{Status: 503, Message: "starting"}, nil}, nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			a := newApp(cmdline.System{Err: &said})
			ctx, stop := context.WithCancel(t.Context())
			looks := tc.looks
			err := a.Follow(ctx, true, func() (missing, err error) {
				if err, looks = looks[0], looks[1:]; len(looks) == 0 {
					stop()
				}
				return nil, err
			})
			stop()
			if !errors.Is(err, tc.want) || strings.Count(said.String(), "\n") != tc.said {
				t.Errorf("%s: %v, %q", name, err, said.String())
			}
		})
	}
}
