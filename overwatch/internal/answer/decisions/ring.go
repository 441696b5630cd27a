package decisions

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// RingSize is how many sampled answers a socket keeps.
const RingSize = 1024

// ring keeps the last sampled answers of a socket. One goroutine writes; readers find out by the sequence number of a slot whether
// it was written meanwhile, and leave it out then.
type ring struct {
	next  atomic.Uint64 // the number of the next sample, from 0
	slots [RingSize]slot
}

// slot is one sampled answer. Its sequence is odd while it is written, and then twice the number of the sample plus 2.
type slot struct {
	sequence atomic.Uint64
	at       atomic.Int64 // Unix time, in nanoseconds
	key      atomic.Uint64
	client   atomic.Uint64 // network
	basis    atomic.Pointer[policy.Basis]
}

func (r *ring) put(at time.Time, key uint64, basis *policy.Basis, client uint64) {
	n := r.next.Load()
	s := &r.slots[n%RingSize]
	s.sequence.Store(2*n + 1)
	s.at.Store(at.UnixNano())
	s.key.Store(key)
	s.client.Store(client)
	s.basis.Store(basis)
	s.sequence.Store(2*n + 2)
	r.next.Store(n + 1)
}

// get reads sample n; ok is false if it is not there or no longer.
func (r *ring) get(n uint64) (d Decision, ok bool) {
	s := &r.slots[n%RingSize]
	if s.sequence.Load() != 2*n+2 {
		return Decision{}, false
	}
	d = Decision{At: time.Unix(0, s.at.Load()), Steered: unpack(s.key.Load(), s.basis.Load()), Client: prefix(s.client.Load())}
	return d, s.sequence.Load() == 2*n+2
}

const isIPv4 = 1 << 63

// network is as much of a client's address as is kept, the first 24 bits of an IPv4 address and 48 of an IPv6 one, as a number.
func network(client netip.Addr) uint64 {
	client = client.Unmap()
	if client.Is4() {
		octets := client.As4()
		return isIPv4 | uint64(binary.BigEndian.Uint32(octets[:])>>8)
	}
	octets := client.As16()
	return binary.BigEndian.Uint64(octets[:8]) >> 16
}

func prefix(network uint64) netip.Prefix {
	if network&isIPv4 != 0 {
		var octets [4]byte
		binary.BigEndian.PutUint32(octets[:], uint32(network<<8))
		return netip.PrefixFrom(netip.AddrFrom4(octets), 24)
	}
	var octets [16]byte
	binary.BigEndian.PutUint64(octets[:], network<<16)
	return netip.PrefixFrom(netip.AddrFrom16(octets), 48)
}
