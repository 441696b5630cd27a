package roll

import "time"

// Caches contains the longest TTLs of RRsets in resolver caches. A node stores them with its Progress, so that lower
// TTLs during a rollover do not shorten the waits. Nodes before version 0.10 have zero values.
type Caches struct {
	DNSKEY  time.Duration `json:"dnskey,omitempty"`
	Answers time.Duration `json:"answers,omitempty"`
	DS      time.Duration `json:"ds,omitempty"` // observed at the parent
}

func (c Caches) max(other Caches) Caches {
	return Caches{DNSKEY: max(c.DNSKEY, other.DNSKEY), Answers: max(c.Answers, other.Answers), DS: max(c.DS, other.DS)}
}

// valid reports whether the values are within the bounds of TTLs.
func (c Caches) valid() bool {
	return min(c.DNSKEY, c.Answers, c.DS) >= 0 && max(c.DNSKEY, c.Answers, c.DS) <= maxTTL
}

// RaiseTTLs raises Longest to the TTLs in seen and to the Longest of peers in the same Roll. It reports a change.
func (p *Progress) RaiseTTLs(seen Caches, peers []Peer) (changed bool) {
	before := p.Longest
	p.Longest = p.longest(peers).max(seen)
	return p.Longest != before
}

// Inherit raises Longest to the TTLs of the replaced Progress, if caches may still contain RRsets with these TTLs.
// before may be nil.
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
		if p.isSameRoll(peer) {
			all = all.max(peer.Progress.Longest)
		}
	}
	return all
}

// waitTTLs returns the TTLs to wait for: the maximum of ttl and the stored TTLs.
func (p *Progress) waitTTLs(peers []Peer, ttl TTLs) TTLs {
	stored := p.longest(peers)
	ttl.DNSKEY, ttl.Answers = max(ttl.DNSKEY, stored.DNSKEY), max(ttl.Answers, stored.Answers)
	ttl.DS = max(ttl.DS, stored.DS)
	return ttl
}
