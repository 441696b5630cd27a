package integration_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// stormRate is how many packets a second each kind of packet storm sends. All kinds together, their senders and the
// node share two cores with whatever else runs; a node that has a core for itself takes some hundred times as many.
var stormRate = inFull(1500, 500)

// inFull is how much of something make test-long has (GSLB_FULL), or the little that make test-all has.
func inFull[T any](much, little T) T {
	if os.Getenv("GSLB_FULL") != "" {
		return much
	}
	return little
}

// slowest is what 99 of 100 answers have to stay under while a node is attacked.
const slowest = 20 * time.Millisecond

// busyFactor is how much longer than an echo a lookup may take where that is more than slowest. On a machine at rest an
// echo takes below half a millisecond, so that slowest counts; on one with ten runnable threads for each core, an echo
// that hardly runs is preferred to a node that is busy.
const busyFactor = 25

// burst is how often a storm sends what is due.
const burst = 5 * time.Millisecond

// storm sends packets at stormRate until ctx ends, from strangers' addresses and without reading an answer. It returns
// how many left.
func storm(ctx context.Context, to netip.AddrPort, packet func(*rand.Rand) []byte) (sent int) {
	random := rand.New(rand.NewPCG(1, uint64(to.Port())))
	var sockets []net.Conn
	for i := range 8 {
		if c, err := stranger("udp", i).DialContext(ctx, "udp", to.String()); err == nil {
			sockets = append(sockets, c)
			defer c.Close()
		}
	}
	tick := time.NewTicker(burst)
	defer tick.Stop()
	for begin := time.Now(); ctx.Err() == nil && len(sockets) > 0; {
		due := int(time.Since(begin).Seconds() * float64(stormRate))
		for due = min(due, sent+stormRate/10); sent < due; sent++ {
			_, _ = sockets[sent%len(sockets)].Write(packet(random))
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return sent
}

// storms starts some at once; the returned function ends them and says how many packets were sent.
func storms(t *testing.T, to netip.AddrPort, kinds ...func(*rand.Rand) []byte) (end func() int) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var sent atomic.Int64
	for _, kind := range kinds {
		all.Go(func() { sent.Add(int64(storm(ctx, to, kind))) })
	}
	return func() int {
		cancel()
		all.Wait()
		return int(sent.Load())
	}
}

// noise is random octets.
func noise(r *rand.Rand) []byte {
	p := make([]byte, 1+r.IntN(1400))
	for i := 0; i < len(p); i += 8 {
		var word [8]byte
		binary.BigEndian.PutUint64(word[:], r.Uint64())
		copy(p[i:], word[:])
	}
	return p
}

// query is a question as a resolver would send it.
func query(name string, qtype uint16, r *rand.Rand) []byte {
	m := new(dns.Msg).SetQuestion(name, qtype)
	m.Id = uint16(r.Uint32())
	m.SetEdns0(1232, true)
	p, err := m.Pack()
	if err != nil {
		panic(err) // the names are ours
	}
	return p
}

// malformed is what begins as a query and is none: cut off, with octets changed, with pointers in circles or forwards,
// with counts of what is not there, an answer, or a query followed by more.
func malformed(r *rand.Rand) []byte {
	p := query(testbed.AppName+".", dns.TypeA, r)
	switch r.IntN(6) {
	case 0:
		return p[:r.IntN(len(p))]
	case 1:
		for range 1 + r.IntN(8) {
			p[r.IntN(len(p))] = byte(r.Uint32())
		}
	case 2:
		binary.BigEndian.PutUint16(p[12:], 0xc000|uint16(r.IntN(32)))
	case 3:
		for i := 4; i < 12; i++ {
			p[i] = byte(r.Uint32())
		}
	case 4:
		p[2] |= 0x80
	case 5:
		p = append(p, noise(r)...)
	}
	return p
}

// randomName asks for a name that is not there and that nobody asked for before.
func randomName(r *rand.Rand) []byte {
	return query(fmt.Sprintf("r%x.%s.", r.Uint64(), testbed.ZoneName), dns.TypeA, r)
}

// anything asks for all types of a name.
func anything(r *rand.Rand) []byte {
	return query([]string{testbed.AppName + ".", testbed.ZoneName + "."}[r.IntN(2)], dns.TypeANY, r)
}

// crowd opens connections that behave as given until the test ends. On a machine that is too busy a few may not come
// about.
func crowd(t *testing.T, to netip.AddrPort, count int, behave func(context.Context, net.Conn)) {
	t.Helper()
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	var conns []net.Conn
	var failed error
	for i := range count {
		c, err := stranger("tcp", i).DialContext(ctx, "tcp", to.String())
		if err != nil {
			failed = err
			continue
		}
		conns = append(conns, c)
		all.Go(func() { behave(ctx, c) })
	}
	if len(conns) < count*9/10 {
		t.Errorf("only %d of %d connections came about: %v", len(conns), count, failed)
	}
	t.Cleanup(func() {
		cancel()
		for _, c := range conns {
			c.Close()
		}
		all.Wait()
	})
}

// silent says nothing.
func silent(context.Context, net.Conn) {}

// dripping sends a text an octet at a time.
func dripping(text string, every time.Duration) func(context.Context, net.Conn) {
	return func(ctx context.Context, c net.Conn) {
		for i := 0; testbed.Pause(ctx, every); i++ {
			if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
		}
	}
}

// deaf asks much and never reads an answer.
func deaf(ctx context.Context, c net.Conn) {
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p := query(testbed.ZoneName+".", dns.TypeDNSKEY, random)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(p))), p...)); err != nil ||
			ctx.Err() != nil {
			return
		}
	}
}

// tcpAnswers asks over a new TCP connection every 100 ms for a while and fails the test for each answer that is
// missing.
func tcpAnswers(t *testing.T, n *harness.Node, over time.Duration) {
	t.Helper()
	client := &dns.Client{Net: "tcp", Timeout: testbed.Patience}
	var times []time.Duration
	testbed.During(t, over, 100*time.Millisecond, func() {
		began := time.Now()
		r, _, err := client.Exchange(new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA), n.DNS.String())
		if err != nil || r.Rcode != dns.RcodeSuccess || len(r.Answer) == 0 {
			t.Errorf("over TCP: %v, %v", r, err)
			return
		}
		took := time.Since(began)
		testbed.InTime(t, "an answer over TCP", 3*harness.AnswerBound, began, began.Add(took))
		times = append(times, took)
	})
	if slices.Sort(times); len(times) == 0 {
		return
	}
	t.Logf("%d answers over TCP, slowest %s", len(times), times[len(times)-1].Round(time.Microsecond))
}

// p99 is what 99 of 100 lookups of appName since then stayed under, and how many there were.
func (s *site) p99(n *harness.Node, since time.Time) (time.Duration, int) {
	var times []time.Duration
	for _, a := range s.Watch.Since(n, testbed.AppName, since) {
		times = append(times, a.Took)
	}
	if len(times) == 0 {
		return 0, 0
	}
	slices.Sort(times)
	return times[len(times)*99/100], len(times)
}

// yardstick is a client that asks nobody but an echo, at the pace of a watch, while something is attacked: what machine
// and client add to each lookup meanwhile.
type yardstick struct {
	began time.Time
	end   func() time.Duration // its p99
}

// echoPart is the environment variable by which the program of these tests, started once more, is an echo and runs no
// test: in a process of its own, so that it has to wait for a processor like a node.
const echoPart = "INTEGRATION_ECHO"

// playEcho sends UDP packets back to where they came from, at an address that it prints, until its input ends.
func playEcho() int {
	echo, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Println(echo.LocalAddr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = echo.Close()
	}()
	for buf := make([]byte, 512); ; {
		n, from, err := echo.ReadFrom(buf)
		if err != nil {
			return 0
		}
		_, _ = echo.WriteTo(buf[:n], from)
	}
}

// newYardstick begins to measure; end has to be called.
func newYardstick(t *testing.T) *yardstick {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	echo := exec.Command(self)
	echo.Env = append(os.Environ(), echoPart+"=1")
	_, inErr := echo.StdinPipe() // closed by Wait, and by the end of this process
	out, outErr := echo.StdoutPipe()
	if err := errors.Join(inErr, outErr, echo.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = echo.Process.Kill(), echo.Wait() })
	at, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("udp", strings.TrimSpace(at))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var times []time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for testbed.Pause(ctx, testbed.Pace) {
			began := time.Now()
			_ = client.SetDeadline(began.Add(harness.AnswerBound))
			if _, err := client.Write(buf[:40]); err == nil {
				_, _ = client.Read(buf)
			}
			times = append(times, time.Since(began))
		}
	}()
	return &yardstick{began: time.Now(), end: func() time.Duration {
		cancel()
		<-done
		_ = client.Close()
		if len(times) == 0 {
			return 0
		}
		slices.Sort(times)
		return times[len(times)*99/100]
	}}
}

// steady checks that each lookup since the beginning of all had a good answer (I1), and that 99 of 100 since the
// yardstick's beginning took less than 20 ms, or on a machine that is too busy for that, less than busyFactor times
// what an echo took meanwhile.
func (s *site) steady(t *testing.T, n *harness.Node, y *yardstick) {
	t.Helper()
	s.steadyWithin(t, n, y, slowest)
}

// steadyWithin is steady with another bound for a machine that is not too busy.
func (s *site) steadyWithin(t *testing.T, n *harness.Node, y *yardstick, slowest time.Duration) {
	t.Helper()
	took, asked := s.p99(n, y.began)
	echo := y.end()
	t.Logf("%d lookups, p99 %s; of an echo %s", asked, took.Round(10*time.Microsecond), echo.Round(10*time.Microsecond))
	if asked == 0 || took > max(slowest, busyFactor*echo) {
		t.Errorf("p99 of %d lookups was %s, allowed are %s, or %d times the %s of an echo meanwhile", asked, took, slowest,
			busyFactor, echo)
	}
	s.NoFailures(t, n, s.Began)
}

// hold reads what comes until the end, so that only the sender decides what happens.
func hold(c net.Conn) {
	_, _ = io.Copy(io.Discard, c)
}
