package trust_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness/agent"
	"gslb.internal/shared/wire"
)

// crowd enrols new agents of a service at the same time, and returns the number of accepted agents and the number of
// agents that were refused because of a limit.
func (s *stand) crowd(t *testing.T, service string, count int, source func(int) netip.Addr) (taken, limited int64) {
	t.Helper()
	var group sync.WaitGroup
	var yes, no atomic.Int64
	dir, next := t.TempDir(), atomic.Int64{}
	for range 8 {
		group.Go(func() {
			for i := int(next.Add(1)); i <= count; i = int(next.Add(1)) {
				a, err := agent.New(agent.Options{
					Dir: dir, Name: fmt.Sprintf("crowd-%s-%d", source(i), i), Cipher: s.cipher, Node: s.node.Gossip, Source: source(i),
					Tokens: map[string]string{service: s.Tokens[service]},
				})
				if err != nil {
					t.Error(err)
					return
				}
				if err = a.Register(); err == nil {
					yes.Add(1)
				} else if agent.Refused(err, wire.CodeLimit) {
					no.Add(1)
				}
				a.Close()
			}
		})
	}
	group.Wait()
	return yes.Load(), no.Load()
}

// The number of pins by one service token is limited by the rate of one source and by a total. Agents of other services
// can still enrol, and log and memory stay small. One command of an operator removes all agents that have never
// reported.
func TestPins_AFloodOfEnrolmentsIsBounded(t *testing.T) {
	const few, many, most, burst, rate = 400, 1200, 1024, 100, 10
	s := newStand(t)
	s.start(t)
	begin := time.Now()
	one := func(int) netip.Addr { return netip.AddrFrom4([4]byte{127, 82, 0, 1}) }
	taken, limited := s.crowd(t, evilName, few, one)
	seconds := time.Since(begin).Seconds()
	t.Logf("from one source: %d pins in %.1f s, %d times a limit was named", taken, seconds, limited)
	if allowed := burst + rate*seconds + 1; float64(taken) > allowed {
		t.Errorf("%d pins in %.1f s from one source, allowed are %.0f", taken, seconds, allowed)
	}
	if limited == 0 {
		t.Error("no agent was told of the limit")
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		own := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{127, 83, byte(i >> 8), byte(i)}) }
		more, _ := s.crowd(t, evilName, many, own)
		t.Logf("each from an address of its own: %d pins more", more)
	}()
	honest := s.agent(t, "honest", calmName)
	asked := time.Now()
	until(t, "the honest agent to be pinned", func(context.Context) error { return honest.Register() })
	t.Logf("an agent of another service was pinned after %s", time.Since(asked).Round(time.Millisecond))
	<-done
	until(t, "the honest agent's report", func(context.Context) error {
		return honest.Heartbeat(time.Second, []wire.Backend{report(calmName, netip.AddrPortFrom(honest.Source, 1))})
	})

	of := func() (evil int) {
		list, err := s.node.Client.Agents(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list.Total - 1 // the honest one
	}
	if pins := of(); pins > most || pins == 0 {
		t.Errorf("%d pins of the attacked service, want %d at most", pins, most)
	}
	sound(t, s.node.Unit, "after the enrolments")
	if info, err := os.Stat(s.node.Log); err != nil || info.Size() > 1<<20 {
		t.Errorf("the log has %d octets (%v)", info.Size(), err)
	}
	s.good(t, begin)

	s.control(t, "agents", "unpin", "--service", evilName, "--never-reported", "--yes")
	if pins := of(); pins != 0 {
		t.Errorf("%d pins that never reported are left", pins)
	}
	until(t, "the honest agent's next report", func(context.Context) error {
		return honest.Heartbeat(time.Second, []wire.Backend{report(calmName, netip.AddrPortFrom(honest.Source, 1))})
	})
}
