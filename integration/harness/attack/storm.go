package attack

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
)

// burst is the interval at which a storm sends its packets.
const burst = 5 * time.Millisecond

// Storms sends packets of each kind at a steady rate, which is higher with GSLB_FULL, until end is called. end returns
// the number of packets sent.
func Storms(t *testing.T, to netip.AddrPort, kinds ...func(*rand.Rand) []byte) (end func() int) {
	rate := testbed.InFull(1500, 500) // per second: a node with a dedicated core handles about a hundred times as many
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var sent atomic.Int64
	for _, kind := range kinds {
		all.Go(func() { sent.Add(int64(storm(ctx, rate, to, kind))) })
	}
	return func() int {
		cancel()
		all.Wait()
		return int(sent.Load())
	}
}

// storm sends packets at a rate until ctx ends, from addresses of strangers, and reads no answers. It returns the
// number of packets.
func storm(ctx context.Context, rate int, to netip.AddrPort, packet func(*rand.Rand) []byte) (sent int) {
	random := rand.New(rand.NewPCG(1, uint64(to.Port())))
	var sockets []net.Conn
	for i := range 8 {
		if c, err := Stranger("udp", i).DialContext(ctx, "udp", to.String()); err == nil {
			sockets = append(sockets, c)
			defer c.Close()
		}
	}
	tick := time.NewTicker(burst)
	defer tick.Stop()
	for begin := time.Now(); ctx.Err() == nil && len(sockets) > 0; {
		due := int(time.Since(begin).Seconds() * float64(rate))
		for due = min(due, sent+rate/10); sent < due; sent++ {
			_, _ = sockets[sent%len(sockets)].Write(packet(random))
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return sent
}

// Noise returns 1 to 1400 random octets.
func Noise(r *rand.Rand) []byte {
	p := make([]byte, 1+r.IntN(1400))
	for i := 0; i < len(p); i += 8 {
		var word [8]byte
		binary.BigEndian.PutUint64(word[:], r.Uint64())
		copy(p[i:], word[:])
	}
	return p
}

// Framed returns noise after the start of a gslb gossip frame.
func Framed(r *rand.Rand) []byte {
	return append([]byte("\xf4\x06gslb/1\x01"), Noise(r)...)
}

// query returns a query as a resolver sends it.
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

// Malformed returns a damaged query: truncated, with changed octets, with a compression pointer as its name, with
// changed flags and counts, marked as a response, or followed by noise.
func Malformed(r *rand.Rand) []byte {
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
		p = append(p, Noise(r)...)
	}
	return p
}

// RandomName returns a query for a random name, which does not exist.
func RandomName(r *rand.Rand) []byte {
	return query(fmt.Sprintf("r%x.%s.", r.Uint64(), testbed.ZoneName), dns.TypeA, r)
}

// Anything returns a query for all types (ANY) of a name.
func Anything(r *rand.Rand) []byte {
	return query([]string{testbed.AppName + ".", testbed.ZoneName + "."}[r.IntN(2)], dns.TypeANY, r)
}

// Stranger returns a dialer from one of sixty loopback addresses that no agent uses, so that limits per address affect
// only the stranger.
func Stranger(network string, i int) *net.Dialer {
	from := net.IPv4(127, 66, 0, byte(1+i%60))
	d := &net.Dialer{Timeout: 3 * time.Second, LocalAddr: &net.TCPAddr{IP: from}}
	if network == "udp" {
		d.LocalAddr = &net.UDPAddr{IP: from}
	}
	return d
}
