package trust_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/wire"
)

// bomb returns a pattern of 225 000 instructions. The pattern of each i differs, so that a node cannot reuse a compiled
// pattern.
func bomb(i int) string {
	return fmt.Sprintf("(?:%03d%s){1000}b", i, strings.Repeat("a", 222))
}

// bombs returns the maximum number of backends of an agent, each with a pattern that needs much memory of a node.
func bombs() []wire.Backend {
	all := make([]wire.Backend, wire.MaxBackends)
	for i := range all {
		all[i] = report(evilName, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 81, 0, 1}), uint16(2000+i)))
		all[i].Check.BodyMatches = bomb(i)
	}
	return all
}

// An agent with 64 backends, each with a check whose pattern has 225 000 instructions, costs a node no memory, neither
// while it reports nor after a restart with the stored backends.
func TestPattern_TakesNoMemory(t *testing.T) {
	s := newStand(t)
	s.start(t)
	begin, evil := time.Now(), s.pinned(t, "evil", evilName)
	s.reports(t, evil, bombs())
	s.staysSound(t, "with the patterns")
	s.good(t, begin)

	evil.Close()
	if err := errors.Join(s.node.Stop(), s.node.Start()); err != nil {
		t.Fatal(err)
	}
	s.serves(t)
	begin = time.Now()
	s.staysSound(t, "after a restart")
	s.good(t, begin)
}

// staysSound lets the node make some checks of each backend, and then checks its memory.
func (s *stand) staysSound(t *testing.T, what string) {
	t.Helper()
	s.checked(t, 6)
	sound(t, s.node.Unit, what)
}

// A pattern that needs minutes for an answer of 1 MiB uses no processor time of a node, especially after the agent has
// left.
func TestPattern_TakesNoProcessor(t *testing.T) {
	s := newStand(t)
	s.start(t)
	begin, evil := time.Now(), s.pinned(t, "evil", evilName)
	var asked atomic.Int64
	body := []byte(strings.Repeat("a", 1<<20))
	var backends []wire.Backend
	for range 2 {
		at := serve(t, evil.Source, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			_, _ = w.Write(body)
		})
		b := report(evilName, at)
		b.Check.BodyMatches = "(?:" + strings.Repeat("a?", 110) + "){1000}b"
		backends = append(backends, b)
	}
	s.reports(t, evil, backends)
	s.checked(t, 6) // it may connect and ask for nothing
	t.Logf("the node asked %d times", asked.Load())
	if err := evil.Send(wire.TypeDeregister, &wire.Deregister{Reason: "gone"}, true); err != nil {
		t.Fatal(err)
	}
	s.checked(t, 2) // what was under way
	began, before := time.Now(), testbed.Cpu(t, s.node.PID())
	s.checked(t, 6)
	if took, over := testbed.Cpu(t, s.node.PID())-before, time.Since(began); took > over/3 {
		t.Errorf("the node took %s of processor time in %s after the agent had left", took, over)
	}
	s.good(t, begin)
}

// serve runs an HTTP server at an address until the test ends.
func serve(t *testing.T, addr netip.Addr, h http.HandlerFunc) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	server.Start()
	t.Cleanup(server.Close)
	return netip.MustParseAddrPort(l.Addr().String())
}
