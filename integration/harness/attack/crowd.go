package attack

import (
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
)

// Crowd opens connections and calls behave with each, and closes them at the end of the test. The test fails if fewer
// than nine of ten connections open; on an overloaded machine some may fail.
func Crowd(t *testing.T, to netip.AddrPort, count int, behave func(context.Context, net.Conn)) {
	t.Helper()
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	var conns []net.Conn
	var failed error
	for i := range count {
		c, err := Stranger("tcp", i).DialContext(ctx, "tcp", to.String())
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

// Silent is a behavior for Crowd that sends nothing.
func Silent(context.Context, net.Conn) {}

// Dripping returns a behavior for Crowd that sends a text repeatedly, an octet at a time.
func Dripping(text string, every time.Duration) func(context.Context, net.Conn) {
	return func(ctx context.Context, c net.Conn) {
		sent := 0
		for range testbed.Every(ctx, every) {
			if _, err := c.Write([]byte{text[sent%len(text)]}); err != nil {
				return
			}
			sent++
		}
	}
}

// Deaf is a behavior for Crowd that sends 300 questions with large answers over DNS and never reads an answer.
func Deaf(ctx context.Context, c net.Conn) {
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

// OnAPI opens connections to an HTTP listener. A third of them send half a header, a third half a body, and a third
// drip a header.
func OnAPI(t *testing.T, to netip.AddrPort, count int) {
	t.Helper()
	half := func(text string) func(context.Context, net.Conn) {
		return func(_ context.Context, c net.Conn) {
			_, _ = io.WriteString(c, text)
			hold(c)
		}
	}
	Crowd(t, to, count/3, half("GET /api/v1/backends HTTP/1.1\r\nHost: x\r\n"))
	Crowd(t, to, count/3,
		half("POST /api/v1/domains HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
			"100000\r\n\r\n{\"name\":"))
	Crowd(t, to, count-2*(count/3), Dripping("GET / HTTP/1.1\r\nX: y", 200*time.Millisecond))
}

// hold reads and discards until the other side closes, so that this side never ends the connection.
func hold(c net.Conn) {
	_, _ = io.Copy(io.Discard, c)
}
