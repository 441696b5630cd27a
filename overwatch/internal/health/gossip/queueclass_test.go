package gossip // inside: it uses maxClassMessages and maxSenderMessages

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

func key(i int) (k identity.KeyID) {
	binary.BigEndian.PutUint32(k[1:], uint32(i))
	return k
}

func from(host string, stream bool) origin {
	return origin{netip.AddrPortFrom(netip.MustParseAddr(host), 7), stream}
}

func waiting(k identity.KeyID, o origin, size int) arrival {
	return arrival{message: make([]byte, size), head: identity.Envelope{KeyID: k}, from: o}
}

func TestLane_SourcesTakeTurns(t *testing.T) {
	l := newQueueClass()
	for i := range 5 {
		l.add(waiting(key(i), from("192.0.2.1", false), 10))
	}
	l.add(waiting(key(100), from("192.0.2.2", false), 10))
	l.add(waiting(key(200), from("192.0.2.1", true), 10)) // streams of the host are a separate source
	var order []identity.KeyID
	for {
		a, ok := l.removeNext()
		if !ok {
			break
		}
		order = append(order, a.head.KeyID)
	}
	want := []identity.KeyID{key(0), key(100), key(200), key(1), key(2), key(3), key(4)}
	if len(order) != len(want) {
		t.Fatalf("%d messages, want %d", len(order), len(want))
	}
	for i := range want {
		if order[i] != want[i] {
			t.Errorf("message %d is of key %x, want %x", i, order[i][:5], want[i][:5])
		}
	}
	if l.count != 0 || l.octets != 0 || len(l.senders) != 0 || len(l.sources) != 0 {
		t.Errorf("an empty lane remembers %+v", l)
	}
}

// A holder of the gossip key can write the key id of any agent into a message. The message counts toward the limit of
// the sender.
func TestLane_AForgedKeyIDTakesNoPlaceOfTheAgent(t *testing.T) {
	l := newQueueClass()
	for i := range 10 * maxSenderMessages {
		for _, host := range []string{"198.51.100.1", "192.0.2.1"} { // the second is the agent's own address
			forged := from(host, i%2 == 0)
			forged.addr = netip.AddrPortFrom(forged.addr.Addr(), 4000)
			if host == "192.0.2.1" && forged.stream {
				continue // the source of the agent's own streams
			}
			l.add(waiting(key(1), forged, 10))
		}
	}
	for i := range maxSenderMessages {
		if fault := l.add(waiting(key(1), from("192.0.2.1", i%2 == 0), 10)); fault != frame.None {
			t.Fatalf("the agent's message %d: %s", i, fault)
		}
	}
}

func TestLane_OneSenderHasFewPlaces(t *testing.T) {
	l := newQueueClass()
	for i := range maxSenderMessages {
		if fault := l.add(waiting(key(1), from("192.0.2.1", false), 10)); fault != frame.None {
			t.Fatalf("message %d: %s", i, fault)
		}
	}
	if fault := l.add(waiting(key(1), from("192.0.2.1", false), 10)); fault != dropAgentLimit {
		t.Errorf("fault %q", fault)
	}
	if fault := l.add(waiting(key(2), from("192.0.2.1", false), 10)); fault != frame.None {
		t.Errorf("another key: %q", fault)
	}
}

func TestLane_FloodFromOneSourceLeavesRoomForOthers(t *testing.T) {
	l := newQueueClass()
	for i := range maxClassMessages + 100 { // forged key ids, all different
		l.add(waiting(key(i), from("198.51.100.1", false), 100))
	}
	if l.count != maxClassMessages {
		t.Fatalf("%d messages wait", l.count)
	}
	for i := range 50 {
		k := key(1<<20 + i)
		if l.add(waiting(k, from("192.0.2.1", false),
			100)); l.senders[senderOf(waiting(k, from("192.0.2.1", false), 0))] != 1 {
			t.Fatalf("message %d of the honest source was dropped", i)
		}
	}
	if l.count != maxClassMessages {
		t.Errorf("%d messages wait", l.count)
	}
	l.removeNext()
	if a, _ := l.removeNext(); a.head.KeyID != key(1<<20) {
		t.Error("the honest source has to wait for more than one message of the flood")
	}
}

func TestLane_HoldsItsLimitOfOctets(t *testing.T) {
	l := newQueueClass()
	for i := range 2 * maxClassOctets / (64 << 10) {
		l.add(waiting(key(i), from("192.0.2.1", i%2 == 0), 64<<10))
	}
	if l.octets > maxClassOctets {
		t.Errorf("%d octets wait, at most %d may", l.octets, maxClassOctets)
	}
}

func TestHostOf_AnIPv6HostIsItsWholeSubnet(t *testing.T) {
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:1%eth0")
	if trust.HostOf(a) != trust.HostOf(b) || trust.HostOf(a) == trust.HostOf(netip.MustParseAddr("2001:db8:0:1::1")) {
		t.Error("hosts of one /64 count apart, or of two together")
	}
	if trust.HostOf(netip.MustParseAddr("192.0.2.1")) == trust.HostOf(netip.MustParseAddr("192.0.2.2")) {
		t.Error("two IPv4 addresses count as one")
	}
}
