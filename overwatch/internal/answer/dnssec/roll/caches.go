package roll

import "time"

// Caches has the longest TTLs of the RRsets that resolvers may hold. A node stores them with its Progress: a wait never
// becomes shorter when TTLs are lowered after the Roll has begun. Zero values are of nodes before version 0.10.
type Caches struct {
	DNSKEY  time.Duration `json:"dnskey,omitempty"`
	Answers time.Duration `json:"answers,omitempty"`
	DS      time.Duration `json:"ds,omitempty"` // as seen at the parent
}

func (c Caches) max(other Caches) Caches {
	return Caches{DNSKEY: max(c.DNSKEY, other.DNSKEY), Answers: max(c.Answers, other.Answers), DS: max(c.DS, other.DS)}
}

// valid reports whether the fields can be TTLs.
func (c Caches) valid() bool {
	return min(c.DNSKEY, c.Answers, c.DS) >= 0 && max(c.DNSKEY, c.Answers, c.DS) <= maxTTL
}

// NoteTTLs raises Longest to the TTLs that this node has seen and to the Longest of the peers in the same Roll. It
// reports whether Longest has changed.
func (p *Progress) NoteTTLs(seen Caches, peers []Peer) (changed bool) {
	before := p.Longest
	p.Longest = p.longest(peers).max(seen)
	return p.Longest != before
}

// Inherit raises Longest to the TTLs of the Progress that p replaces, as far as caches may still hold RRsets with these
// TTLs. before may be nil.
func (p *Progress) Inherit(before *Progress, now time.Time) {
	if before == nil {
		return
	}
	held := func(ttl time.Duration) time.Duration {
		if before.UnderWay() || now.Before(before.Since.Add(ttl)) {
			return ttl
		}
		return 0
	}
	p.Longest = p.Longest.max(Caches{DNSKEY: held(before.Longest.DNSKEY), Answers: held(before.Longest.Answers),
		DS: held(before.Longest.DS)})
}

// longest returns the longest TTLs that this node and the peers in the same Roll have stored.
func (p *Progress) longest(peers []Peer) Caches {
	all := p.Longest
	for _, peer := range peers {
		if p.with(peer) {
			all = all.max(peer.Progress.Longest)
		}
	}
	return all
}

// waits returns the TTLs to wait for: the larger of ttl and the stored TTLs.
func (p *Progress) waits(peers []Peer, ttl TTLs) TTLs {
	stored := p.longest(peers)
	ttl.DNSKEY, ttl.Answers = max(ttl.DNSKEY, stored.DNSKEY), max(ttl.Answers, stored.Answers)
	ttl.DS = max(ttl.DS, stored.DS)
	return ttl
}
