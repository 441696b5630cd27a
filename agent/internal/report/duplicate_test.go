package report // inside: it uses Reporter.dial

import (
	"context"
	"encoding"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

// startFaked runs a reporter with links to fake nodes, by address.
func startFaked(t *testing.T, nodes map[string]*fakeNode, first ...string) (*Reporter, *logtest.Buffer, func()) {
	t.Helper()
	return startFakedIn(t, t.TempDir(), nodes, first...)
}

// startFakedIn is startFaked with a data directory.
func startFakedIn(t *testing.T, dir string, nodes map[string]*fakeNode, first ...string) (*Reporter, *logtest.Buffer,
	func()) {
	t.Helper()
	o := testOptions(t)
	logs := &logtest.Buffer{}
	o.Logger, o.Nodes, o.DataDir = zerolog.New(logs), first, dir
	if err := o.complete(); err != nil {
		t.Fatal(err)
	}
	pins, err := openPins(o.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	r := &Reporter{agent: newSelf(o), pins: pins, metrics: newMetrics(o.Registerer), dial: func(l *link) (peer, error) {
		n := nodes[l.address]
		n.set(func(n *fakeNode) { n.answered = l })
		return n, nil
	}}
	if err := r.Follow(first); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return r, logs, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// overtakes makes the node answer messages of epochs up to latest with a code, as after the enrollment of a later
// process.
func (n *fakeNode) overtakes(latest uint64, code wire.RejectCode) {
	n.set(func(n *fakeNode) {
		n.decide = func(r received) encoding.BinaryMarshaler {
			if r.sealed.Epoch > latest {
				return r.ack()
			}
			if r.sealed.InSession() {
				return nil // the node has the session of the later process
			}
			m := r.reject(code)
			m.Service, m.Epoch = "", latest
			return m
		}
	})
}

// A node accepts the later of two processes with one identity. The earlier process logs this, sends heartbeats at half
// the interval, and reports with a later epoch within two heartbeats after the later process has stopped.
func TestReporter_TakesItsIdentityBackWhenACopyStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		r, logs, stop := startFaked(t, map[string]*fakeNode{"ow:1": n}, "ow:1")
		defer stop()
		after(30 * time.Second)
		n.overtakes(500, wire.CodeDuplicate)
		after(30 * time.Second)
		s := r.Nodes()[0]
		if s.Connected || !s.Duplicate || len(s.Rejects) != 1 || s.Rejects[0].Code != wire.CodeDuplicate {
			t.Errorf("while the copy reports: %+v", s)
		}
		if got := testutil.ToFloat64(r.metrics.duplicate.WithLabelValues("ow:1")); got != 1 {
			t.Errorf("metric %v while the copy reports", got)
		}
		if got := strings.Count(logs.String(), "another process uses this agent's identity"); got != 1 {
			t.Errorf("%d log lines: %s", got, logs)
		}
		begun := time.Now()
		after(20 * time.Second)
		if beats := n.got(wire.TypeHeartbeat, begun); len(beats) < 3 || len(beats) > 5 {
			t.Errorf("%d heartbeats in 20 s while the copy reports", len(beats))
		}
		begun = time.Now()
		n.overtakes(500, wire.CodeNewEpoch)
		after(7 * time.Second)
		beats := n.got(wire.TypeHeartbeat, begun)
		if len(beats) == 0 || beats[len(beats)-1].sealed.Epoch <= 500 {
			t.Fatalf("%d heartbeats after the copy has stopped", len(beats))
		}
		if s := r.Nodes()[0]; !s.Connected || s.Duplicate || len(s.Rejects) != 0 {
			t.Errorf("after the copy has stopped: %+v", s)
		}
		if got := testutil.ToFloat64(r.metrics.duplicate.WithLabelValues("ow:1")); got != 0 {
			t.Errorf("metric %v after the copy has stopped", got)
		}
	})
}

// The agent ignores an epoch far ahead of the clock, because no later epoch could follow it.
func TestReporter_ANodeCannotUseUpTheEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		_, _, stop := startFaked(t, map[string]*fakeNode{"ow:1": n}, "ow:1")
		defer stop()
		after(30 * time.Second)
		begun := time.Now()
		n.overtakes(1<<63, wire.CodeNewEpoch)
		after(30 * time.Second)
		for _, beat := range n.got(wire.TypeHeartbeat, begun) {
			if beat.sealed.Epoch != 77 {
				t.Fatalf("epoch %d", beat.sealed.Epoch)
			}
		}
	})
}

// The Acks to the accepted process report that an earlier process also sends messages.
func TestReporter_TheBelievedProcessReportsTheDuplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		r, logs, stop := startFaked(t, map[string]*fakeNode{"ow:1": n}, "ow:1")
		defer stop()
		answer := func(duplicate bool) {
			n.set(func(n *fakeNode) {
				n.decide = func(r received) encoding.BinaryMarshaler {
					ack := r.ack()
					ack.Duplicate = duplicate
					return ack
				}
			})
			after(20 * time.Second)
		}
		answer(true)
		if s := r.Nodes()[0]; !s.Connected || !s.Duplicate {
			t.Errorf("while the other reports: %+v", s)
		}
		if got := strings.Count(logs.String(), "another process uses this agent's identity"); got != 1 {
			t.Errorf("%d log lines: %s", got, logs)
		}
		answer(false)
		if r.Nodes()[0].Duplicate || !strings.Contains(logs.String(), "no other process uses") {
			t.Errorf("afterwards: %+v %s", r.Nodes()[0], logs)
		}
	})
}

// A changed list of nodes takes effect without a restart: a new node receives the backends, a removed node receives a
// leave message, and the link to each remaining node stays the same.
func TestFollow_NodesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := map[string]*fakeNode{"a:1": newFakeNode(t), "b:1": newFakeNode(t), "c:1": newFakeNode(t)}
		r, _, stop := startFaked(t, nodes, "a:1", "b:1")
		defer stop()
		after(15 * time.Second)
		begun := time.Now()
		if err := r.Follow([]string{"c:1", "b:1"}); err != nil {
			t.Fatal(err)
		}
		after(15 * time.Second)
		gone, kept, come := nodes["a:1"], nodes["b:1"], nodes["c:1"]
		if len(gone.got(wire.TypeDeregister, begun)) == 0 || len(gone.got(wire.TypeDrain, begun)) != 0 {
			t.Error("the removed node got no goodbye, or a drain")
		}
		if n := len(kept.got(wire.TypeEnrol, begun)); n != 0 || len(kept.got(wire.TypeHeartbeat, begun)) == 0 {
			t.Errorf("the node that stays: %d enrolments", n)
		}
		if len(come.got(wire.TypeHeartbeat, begun)) == 0 {
			t.Error("the new node got no heartbeat")
		}
		if s := r.Nodes(); len(s) != 2 || s[0].Address != "c:1" || !s[0].Connected || !s[1].Connected {
			t.Errorf("nodes: %+v", s)
		}
		begun = time.Now()
		if err := r.Follow([]string{"b:1", "a:1"}); err != nil {
			t.Fatal(err)
		}
		after(15 * time.Second)
		if len(gone.got(wire.TypeHeartbeat, begun)) == 0 || len(gone.got(wire.TypeDeregister, begun)) != 0 {
			t.Error("the node that came back got no heartbeat, or a late goodbye")
		}
	})
}
