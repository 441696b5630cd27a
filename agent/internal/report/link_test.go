package report // inside: it uses status and streamsFirst

import (
	"encoding"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestLink_EnrolsAndReportsAtOnceThenEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		begun := time.Now()
		l := startLink(t, n)
		defer l.stop()
		after(time.Second)
		if e := n.got(wire.TypeEnrol, begun); len(e) != 1 || e[0].stream {
			t.Fatalf("%d enrolments", len(e))
		}
		beats := n.got(wire.TypeHeartbeat, begun)
		if len(beats) != 1 || beats[0].stream || beats[0].sealed.Epoch != 77 || beats[0].sealed.BootNonce != n.nonce {
			t.Fatalf("heartbeats after a second: %+v", beats)
		}
		var m wire.Heartbeat
		if err := m.UnmarshalBinary(beats[0].sealed.Payload); err != nil || m.IntervalMillis != 10000 ||
			len(m.Backends) != 1 || m.Figures.RTTMicros != uint32(2*oneWay/time.Microsecond) {
			t.Errorf("heartbeat %+v, %v", m, err)
		}
		after(100 * time.Second)
		if got := len(n.got(wire.TypeHeartbeat, begun)); got < 11 || got > 12 {
			t.Errorf("%d heartbeats in 101 s", got)
		}
		if s := l.status.read(); !s.Connected || s.NodeID != "ow-1" || s.RTT != 2*oneWay || s.Path != "udp" ||
			s.LastError != "" {
			t.Errorf("state %+v", s)
		}
		if l.count(t, "gslb_agent_heartbeat_failures_total", "") != 0 ||
			l.count(t, "gslb_agent_overwatch_connected", "") != 1 || n.greeted() != 1 {
			t.Errorf("%v failures, %d Hellos", l.count(t, "gslb_agent_heartbeat_failures_total", ""), n.greeted())
		}
	})
}

func TestLink_EnrolProvesTheTokenForThisProcessOfTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(time.Second)
		var m wire.Enrol
		if err := m.UnmarshalBinary(n.got(wire.TypeEnrol, time.Time{})[0].sealed.Payload); err != nil {
			t.Fatal(err)
		}
		want := identity.Proof(testToken, testService, l.options.Identity.KeyID, n.nonce, 77)
		if m.AgentID != "a1" || m.Region != "eu" || len(m.Proofs) != 1 || m.Proofs[0].MAC != want {
			t.Errorf("enrolment %+v", m)
		}
	})
}

func TestLink_NodeRestartIsNoticedWithin3s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(30 * time.Second)
		for _, outage := range []time.Duration{0, time.Second, 10 * time.Second, 10 * time.Minute} {
			n.set(func(n *fakeNode) { n.down = true })
			after(outage)
			back := time.Now()
			n.restart()
			after(3 * time.Second)
			if len(n.got(wire.TypeEnrol, back)) == 0 || len(n.got(wire.TypeHeartbeat, back)) == 0 {
				t.Errorf("after an outage of %s: no enrolment and heartbeat within 3 s", outage)
			}
			if s := l.status.read(); !s.Connected || s.LastError != "" {
				t.Errorf("after an outage of %s: %+v", outage, s)
			}
			after(20 * time.Second)
		}
	})
}

func TestLink_ANodeThatComesLaterIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.down = true
		l := startLink(t, n)
		defer l.stop()
		after(10 * time.Minute)
		if got := n.greeted(); got < 40 || got > 60 {
			t.Errorf("%d Hellos in 10 minutes, want one in at most 15 s", got)
		}
		if text := l.logs.String(); strings.Count(text, "overwatch node not reached") != 1 {
			t.Errorf("log: %s", text)
		}
		if s := l.status.read(); s.Connected || s.LastError != "connection refused" {
			t.Errorf("state %+v", s)
		}
		n.set(func(n *fakeNode) { n.down = false })
		after(3 * time.Second)
		if !l.status.read().Connected {
			t.Error("not connected 3 s after the node has come")
		}
	})
}

func TestLink_ShortCutNeedsNoNewEnrolment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) { n.down = true })
		after(time.Minute)
		if l.status.read().Connected {
			t.Error("still connected")
		}
		healed := time.Now()
		n.set(func(n *fakeNode) { n.down = false })
		after(2 * time.Second)
		if got := n.got(wire.TypeHeartbeat, healed); len(got) == 0 {
			t.Error("no heartbeat within 2 s of the healing")
		}
		if got := n.got(wire.TypeEnrol, healed); len(got) != 0 || !l.status.read().Connected {
			t.Errorf("%d enrolments after the healing", len(got))
		}
	})
}

// The same is true if the next heartbeat is due before the timeout of the previous Ack.
func TestLink_ALostHeartbeatIsAStreamBeforeTheNextIsDue(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			n := newFakeNode(t)
			l := startLinkWith(t, n, func(o *Options) { o.Interval = interval })
			defer l.stop()
			after(time.Minute)
			n.set(func(n *fakeNode) { n.noUDP = true })
			begun := time.Now()
			after(4 * oneWay) // longer than a stream takes
			for heard := 1; heard < 5; heard++ {
				after(interval + interval/2)
				streams := 0
				for _, b := range n.got(wire.TypeHeartbeat, begun) {
					if b.stream {
						streams++
					}
				}
				if streams < heard {
					t.Fatalf("%d heartbeats every %s got through after %s", streams, interval, time.Since(begun))
				}
			}
		})
	}
}

func TestLink_BlockedDatagramsMeanTCP(t *testing.T) {
	for _, atStart := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n := newFakeNode(t)
			n.noUDP = atStart
			l := startLink(t, n)
			defer l.stop()
			after(20 * time.Second)
			n.set(func(n *fakeNode) { n.noUDP = true })
			after(20 * time.Second)
			begun := time.Now()
			after(100 * time.Second)
			beats := n.got(wire.TypeHeartbeat, begun)
			if len(beats) < 9 {
				t.Errorf("%d heartbeats in 100 s", len(beats))
			}
			for i, b := range beats {
				if !b.stream {
					t.Error("a heartbeat went by datagram")
				}
				if i > 0 && b.at.Sub(beats[i-1].at) < 9*time.Second {
					t.Errorf("a heartbeat %s after the one before, though nothing has changed", b.at.Sub(beats[i-1].at))
				}
			}
			if s := l.status.read(); !s.Connected || s.Path != "tcp" {
				t.Errorf("state %+v", s)
			}
			changed := time.Now()
			l.queueChange(testBackend())
			after(time.Second)
			if len(n.got(wire.TypeTransition, changed)) == 0 {
				t.Error("no transition")
			}
			n.restart() // no ping tells
			after(25 * time.Second)
			if got := n.got(wire.TypeHeartbeat, changed); got[len(got)-1].sealed.BootNonce != n.nonce {
				t.Error("the restart was not noticed")
			}
			n.set(func(n *fakeNode) { n.noUDP = false })
			after(15 * time.Second)
			if s := l.status.read(); !s.Connected || s.Path != "udp" || time.Since(s.LastAck) > 15*time.Second {
				t.Errorf("after the healing: %+v", s)
			}
		})
	}
}

func TestLink_UnacknowledgedDatagramsAreRepeatedAsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		tried := 0 // under the node's lock
		// Pings pass: the path loses only large packets.
		n.set(func(n *fakeNode) { n.lossy = func([]byte) bool { tried++; return true } })
		begun := time.Now()
		after(60 * time.Second)
		n.set(func(*fakeNode) {
			if tried != lossesBeforeStreams {
				t.Errorf("%d heartbeats went by datagram first, want %d", tried, lossesBeforeStreams)
			}
		})
		if beats := n.got(wire.TypeHeartbeat, begun); len(beats) < 6 || !l.status.read().Connected {
			t.Errorf("%d heartbeats in 60 s, state %+v", len(beats), l.status.read())
		}
		if l.count(t, "gslb_agent_heartbeat_failures_total", "") != 0 {
			t.Error("failures counted although streams were acknowledged")
		}
		n.set(func(n *fakeNode) { n.lossy = nil })
		after(70 * time.Second)
		if l.status.read().Path != "udp" {
			t.Error("datagrams are not tried again")
		}
	})
}

// The agent sends datagrams to a new process of a node, for example after a repair of its address or firewall,
// regardless of previous losses.
func TestLink_ANodeThatRestartedIsSentDatagrams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) { n.lossy = func([]byte) bool { return true } })
		after(20 * time.Second) // two are lost, so the next is a stream
		n.restart()
		n.set(func(n *fakeNode) { n.lossy = nil })
		after(5 * time.Second)
		beats := n.got(wire.TypeHeartbeat, time.Time{})
		if last := beats[len(beats)-1]; last.sealed.BootNonce != n.nonce || last.stream {
			t.Errorf("the last heartbeat was a stream: %v, for the new process: %v", last.stream,
				last.sealed.BootNonce == n.nonce)
		}
	})
}

func TestLink_StreamsBlockedLeavesDatagrams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) { n.noTCP = true })
		begun := time.Now()
		l.queueChange(testBackend())
		after(30 * time.Second)
		if len(n.got(wire.TypeHeartbeat, begun)) < 3 || len(n.got(wire.TypeTransition, begun)) == 0 ||
			!l.status.read().Connected {
			t.Errorf("%d heartbeats, %d transitions, state %+v", len(n.got(wire.TypeHeartbeat, begun)),
				len(n.got(wire.TypeTransition, begun)), l.status.read())
		}
	})
}

func TestLink_HeavyLossKeepsTheNodeInformed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		i := 0
		n.lossy = func([]byte) bool { i++; return i%5 < 3 } // 60 %
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		begun := time.Now()
		after(5 * time.Minute)
		beats := n.got(wire.TypeHeartbeat, begun)
		for i := 1; i < len(beats); i++ {
			if gap := beats[i].at.Sub(beats[i-1].at); gap > 15*time.Second {
				t.Errorf("%s between two heartbeats", gap)
			}
		}
	})
}

func TestLink_ANodeThatForgotTheAgentHearsItsEnrolmentAgain(t *testing.T) {
	for _, interval := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second,
		10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			n := newFakeNode(t)
			l := startLinkWith(t, n, func(o *Options) { o.Interval = interval })
			defer l.stop()
			after(5 * time.Second)
			known := false
			n.set(func(n *fakeNode) {
				n.decide = func(r received) encoding.BinaryMarshaler {
					if r.kind() == wire.TypeEnrol {
						known = true
					}
					if !known {
						return nil // an unknown key is not answered
					}
					return r.ack()
				}
			})
			begun := time.Now()
			after(30 * time.Second)
			if len(n.got(wire.TypeEnrol, begun)) != 1 || !l.status.read().Connected {
				t.Errorf("interval %s: %d enrolments, state %+v", interval, len(n.got(wire.TypeEnrol, begun)),
					l.status.read())
			}
		})
	}
}

// Answers that arrive after the repetition, or after the next heartbeat, are accepted.
func TestLink_AnswersFromFarAwayCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.oneWay = 150 * time.Millisecond
		l := startLinkWith(t, n, func(o *Options) { o.Interval = 250 * time.Millisecond })
		defer l.stop()
		after(5 * time.Second)
		for range 3 {
			before := l.status.read().LastAck
			after(time.Second)
			if last := l.status.read().LastAck; !last.After(before) {
				t.Errorf("no Ack was taken since %s", time.Since(last))
			}
		}
		if failed := l.count(t, "gslb_agent_heartbeat_failures_total", ""); failed != 0 {
			t.Errorf("%v failures counted although each heartbeat was acknowledged", failed)
		}
		n.set(func(n *fakeNode) {
			n.decide = func(r received) encoding.BinaryMarshaler {
				if r.kind() == wire.TypeHeartbeat {
					return r.reject(wire.CodeNotEnrolled)
				}
				return r.ack()
			}
		})
		begun := time.Now()
		after(5 * time.Second)
		if len(n.got(wire.TypeEnrol, begun)) == 0 {
			t.Error("it did not enrol after a Reject")
		}
	})
}

// Occasional complete losses of heartbeats, with other heartbeats in between, cause no new enrollment.
func TestLink_LossesThatAreFarApartNeedNoNewEnrolment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		lose := 0 // heartbeats, on both paths; under the node's lock
		n.decide = func(r received) encoding.BinaryMarshaler {
			if r.kind() == wire.TypeHeartbeat && lose > 0 {
				if r.stream {
					lose--
				}
				return nil
			}
			return r.ack()
		}
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		begun := time.Now()
		for range 3 {
			n.set(func(*fakeNode) { lose = 1 })
			after(25 * time.Second) // in which the next one is lost and the one after it is not
		}
		if got := n.got(wire.TypeEnrol, begun); len(got) != 0 {
			t.Errorf("it enrolled %d times", len(got))
		}
		n.set(func(*fakeNode) { lose = 2 })
		after(35 * time.Second)
		if got := n.got(wire.TypeEnrol, begun); len(got) == 0 {
			t.Error("two lost in a row, while pings are answered, and it did not enrol")
		}
	})
}

// After a success, the next failure starts with short pauses, regardless of previous failures.
func TestLink_PausesBeginShortAfterEachSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.down, n.noUDP = true, true // so that no ping tells that it is back
		l := startLink(t, n)
		defer l.stop()
		after(3 * time.Minute)
		n.set(func(n *fakeNode) { n.down = false })
		after(time.Minute)
		n.set(func(n *fakeNode) { n.down = true })
		before := n.greeted()
		after(20 * time.Second) // with no ping, it is noticed when the next Hello is due, within 10
		if tries := n.greeted() - before; tries < 4 {
			t.Errorf("%d attempts in 20 s: the pauses are those of the time before it was reached", tries)
		}
	})
}
