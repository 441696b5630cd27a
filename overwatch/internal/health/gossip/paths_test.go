package gossip // inside: it uses maxPaths, newPaths and origin

import (
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/wire"
)

func TestPaths_AnswersGoWhereTheAgentWasProvenToBe(t *testing.T) {
	now := time.Now()
	direct, proven, pinged := netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:2"),
		netip.MustParseAddrPort("192.0.2.3:3")
	stream := origin{netip.MustParseAddrPort("192.0.2.4:4"), true}
	p := newPaths()
	if got := p.answerAddresses(key(1), 5, stream, now); len(got) != 0 {
		t.Errorf("an unknown agent is answered at %v", got)
	}
	if got := p.answerAddresses(key(1), 5, origin{direct, false}, now); len(got) != 1 || got[0] != direct {
		t.Errorf("a datagram is answered at %v", got)
	}
	p.recordPing([]byte(frame.AgentName(key(1), 5)), pinged, now)
	if got := p.answerAddresses(key(1), 5, stream, now); len(got) != 1 || got[0] != pinged {
		t.Errorf("a stream is answered at %v", got)
	}
	if got := p.answerAddresses(key(1), 6, stream, now); len(got) != 0 {
		t.Errorf("another process of the agent is answered at %v", got)
	}
	p.recordVerified(key(1), origin{addr: proven}, now)
	if got := p.answerAddresses(key(1), 5, stream, now); len(got) != 2 || got[0] != proven || got[1] != pinged {
		t.Errorf("a stream is answered at %v", got)
	}
	p.recordPing([]byte(frame.AgentName(key(1), 5)), proven, now)
	if got := p.answerAddresses(key(1), 5, stream, now); len(got) != 1 || got[0] != proven {
		t.Errorf("a stream is answered at %v", got)
	}
	if got := p.answerAddresses(key(1), 5, stream, now.Add(pingedFor+1)); len(got) != 1 || got[0] != proven {
		t.Errorf("after the ping has aged: %v", got)
	}
	if got := p.answerAddresses(key(1), 5, stream, now.Add(verifiedFor+1)); len(got) != 0 {
		t.Errorf("after everything has aged: %v", got)
	}
}

func TestPaths_AreBounded(t *testing.T) {
	p, now := newPaths(), time.Now()
	for i := range maxPaths + 1000 {
		p.recordPing([]byte(fmt.Sprint(i)), netip.MustParseAddrPort("192.0.2.1:1"), now)
		p.recordVerified(key(i), origin{addr: netip.MustParseAddrPort("192.0.2.1:1")}, now)
	}
	p.recordPing(nil, netip.MustParseAddrPort("192.0.2.1:1"), now)
	if len(p.pings) != maxPaths || len(p.verified) != maxPaths {
		t.Errorf("%d and %d paths are remembered, at most %d may be", len(p.pings), len(p.verified), maxPaths)
	}
}

// A connection from an address proves the address. The source of a datagram does not.
func TestPaths_AnAddressIsProvedByAConnection(t *testing.T) {
	p, now := newPaths(), time.Now()
	mine, spoofed := netip.MustParseAddrPort("192.0.2.1:5"), netip.MustParseAddrPort("169.254.169.254:5")
	if got := p.provedAddress(key(1), 5, origin{mine, false}); got.IsValid() {
		t.Errorf("a datagram alone proves %s", got)
	}
	p.recordGreeting(frame.AgentName(key(1), 5), mine.Addr(), now)
	p.recordGreeting(frame.AgentName(key(2), 5), spoofed.Addr(), now) // another agent, which is there
	p.recordGreeting("", spoofed.Addr(), now)
	for _, tc := range []struct {
		from origin
		want netip.Addr
	}{
		{origin{mine, false}, mine.Addr()},
		{origin{netip.AddrPortFrom(mine.Addr(), 9), false}, mine.Addr()},
		{origin{spoofed, false}, netip.Addr{}},
		{origin{spoofed, true}, spoofed.Addr()},
	} {
		if got := p.provedAddress(key(1), 5, tc.from); got != tc.want {
			t.Errorf("%+v proves %s, want %s", tc.from, got, tc.want)
		}
	}
	if got := p.provedAddress(key(1), 6, origin{mine, false}); got.IsValid() {
		t.Errorf("another process of the agent proves %s", got)
	}
	for i := range maxPaths + 100 {
		p.recordGreeting(strconv.Itoa(i), mine.Addr(), now)
	}
	if n := len(p.greetings); n > maxPaths {
		t.Errorf("%d greetings are kept", n)
	}
}

func TestPaths_ShowTheSourceOfTheNewestMessage(t *testing.T) {
	p, now := newPaths(), time.Now()
	udp, tcp := netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:2")
	if got := p.latest(key(1)); got.IsValid() {
		t.Errorf("never heard, from %s", got)
	}
	p.recordVerified(key(1), origin{addr: udp}, now)
	if got := p.latest(key(1)); got != udp {
		t.Errorf("heard from %s", got)
	}
	p.recordVerified(key(1), origin{tcp, true}, now.Add(1))
	if got := p.latest(key(1)); got != netip.AddrPortFrom(tcp.Addr(), 0) {
		t.Errorf("after a stream: heard from %s", got)
	}
	p.recordVerified(key(1), origin{netip.AddrPortFrom(udp.Addr(), 9), true}, now.Add(2))
	if got := p.latest(key(1)); got != udp {
		t.Errorf("after a stream from the same address: heard from %s", got)
	}
}

func TestByOurClock_MovesTheTimeOfACheck(t *testing.T) {
	for _, ahead := range []time.Duration{0, -time.Hour, time.Hour} {
		sent := time.Now().Add(ahead)
		b := wire.Backend{CheckedAtMillis: uint64(sent.Add(-time.Minute).UnixMilli())}
		convertCheckTime(&b, sent.UnixMilli())
		if ago := time.Since(time.UnixMilli(int64(b.CheckedAtMillis))); (ago - time.Minute).Abs() > 10*time.Second {
			t.Errorf("by a clock that is %s ahead, a check of a minute ago was %s ago", ahead, ago)
		}
	}
	never := wire.Backend{}
	if convertCheckTime(&never, 1); never.CheckedAtMillis != 0 {
		t.Errorf("%+v", never)
	}
}
