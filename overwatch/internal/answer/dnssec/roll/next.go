package roll

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// ClocksApart is the maximum difference between the clocks of two nodes.
const ClocksApart = 5 * time.Minute

// TTLs contains the maximum times for which resolvers cache records.
type TTLs struct {
	Margin  time.Duration // added to each wait, for different clocks and for the propagation of answers
	DNSKEY  time.Duration // TTL of the DNSKEY RRset
	Answers time.Duration // maximum TTL of other answers, including negative ones
	DS      time.Duration // longest observed TTL of the DS RRset at the parent
}

// Peer is another node, as known to this node.
type Peer struct {
	Name     string    // display name
	Progress *Progress // nil if the peer has none or none was received
	Why      string    // reason why the peer does not answer, which makes Progress outdated; empty if it has just answered
}

// Wait is the reason why a node does not take the next step.
type Wait struct {
	For   string    // empty if there is no reason
	Until time.Time // end of the wait; zero if it depends on others
	Peer  bool      // waits for a peer that answers and has not reached the stage
}

// Begin returns the initial Progress of a Roll. published are the keys in the node's DNSKEY RRset, offer the keys
// offered to the parent.
func Begin(r Roll, published, offer [][]byte, now time.Time) *Progress {
	return &Progress{Roll: r, Stage: r.firstStage(), Since: now, Before: published, Offer: offer}
}

// later reports whether r takes precedence over than: the Roll with the later start does.
func (r *Roll) later(than *Roll) bool {
	return cmp.Or(r.Started.Compare(than.Started), cmp.Compare(r.By, than.By), bytes.Compare(r.Target, than.Target)) > 0
}

func (r *Roll) same(other *Roll) bool { return !r.later(other) && !other.later(r) }

// Adopt returns the Progress after joining the latest known Roll, or after catching up with peers in the same Roll; nil
// if there is nothing to adopt. If peers have reached a later stage, this node has lost its files since then. Catching
// up prevents it from repeating the offer of an old key to the parent.
func Adopt(own *Progress, peers []Peer, now time.Time) *Progress {
	var latest *Progress
	for _, p := range peers {
		if p.Progress == nil || p.Progress.Started.After(now.Add(ClocksApart)) {
			continue
		}
		if latest == nil || p.Progress.later(&latest.Roll) ||
			(p.Progress.same(&latest.Roll) && p.Progress.Stage > latest.Stage) {
			latest = p.Progress
		}
	}
	switch {
	case latest == nil:
		return nil
	case own == nil || latest.later(&own.Roll):
		next := Begin(latest.Roll, latest.Before, latest.Offer, now)
		next.Longest = latest.Longest
		next.Inherit(own, now)
		next.Stage = max(next.Stage, min(latest.Stage, latest.furthestStage()))
		return next
	case latest.same(&own.Roll) && own.Stage < min(latest.Stage, latest.furthestStage()):
		next := *own
		next.Stage, next.Since, next.Without = min(latest.Stage, latest.furthestStage()), now, nil
		return &next
	}
	return nil
}

// Next returns the Progress at the next stage, or nil and the reason for waiting. peers are all other nodes. parent is
// the reason why the parent does not satisfy the Roll, "" if it does. Nodes may take a step at different times: the
// behavior in each stage is compatible with the previous and the next stage of other nodes.
func Next(own *Progress, peers []Peer, parent string, ttl TTLs, now time.Time) (*Progress, Wait) {
	if own == nil || own.Stage >= Done {
		return nil, Wait{}
	}
	if who, answers := own.laggingPeer(peers); who != "" {
		return nil, Wait{For: who, Peer: answers}
	}
	began := own.allSince(peers)
	if own.Stage == Offered {
		since := own.parentHas(peers)
		if since.IsZero() {
			return nil, Wait{For: parent}
		}
		began = latest(began, since)
	}
	if until := began.Add(own.stageDuration(own.waitTTLs(peers, ttl)) + ttl.Margin); now.Before(until) {
		return nil, Wait{For: own.waitsFor(), Until: until}
	}
	next := *own
	next.Stage, next.Since, next.Without = own.nextStage(own.Stage), now, nil
	return &next, Wait{}
}

// laggingPeer returns a sentence about a peer that has not reached this stage or does not answer; "" if all peers have
// reached it. answers reports whether the peer answers.
func (p *Progress) laggingPeer(peers []Peer) (who string, answers bool) {
	for _, peer := range peers {
		switch {
		case peer.Why != "" && slices.Contains(p.Without, peer.Name):
			continue
		case peer.Why != "":
			return peer.Name + ": " + peer.Why, false
		case !p.isSameRoll(peer) || peer.Progress.Stage < p.Stage:
			return peer.Name + " is not yet at " + p.Name(p.Stage), true
		}
	}
	return "", false
}

// isSameRoll reports whether a peer is in the same Roll.
func (p *Progress) isSameRoll(peer Peer) bool {
	return peer.Progress != nil && peer.Progress.same(&p.Roll)
}

// allSince returns the time at which the last node reached this stage.
func (p *Progress) allSince(peers []Peer) time.Time {
	since := p.Since
	for _, peer := range peers {
		if p.isSameRoll(peer) && peer.Progress.Stage == p.Stage {
			since = latest(since, peer.Progress.Since)
		}
	}
	return since
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// parentHas returns the time since which the parent satisfies the Roll: confirmed by an operator, or observed
// continuously by a node; zero if unknown.
func (p *Progress) parentHas(peers []Peer) time.Time {
	since := time.Time{}
	earliest := func(at time.Time) {
		if !at.IsZero() && (since.IsZero() || at.Before(since)) {
			since = at
		}
	}
	earliest(p.ParentSince)
	earliest(p.Confirmed)
	for _, peer := range peers {
		if p.isSameRoll(peer) {
			earliest(peer.Progress.ParentSince)
			earliest(peer.Progress.Confirmed)
		}
	}
	return since
}

// UnderWay reports whether the Roll exists and has not ended. It returns false for nil.
func (p *Progress) UnderWay() bool { return p != nil && p.Stage < Done }

// RecordParent records an observation of the parent: has reports whether the parent satisfies the Roll, and before is
// the time of the previous observation.
func (p *Progress) RecordParent(has bool, before, now time.Time) {
	if !has || now.Sub(before) > ClocksApart {
		p.ParentSince = time.Time{}
	}
	if has && p.ParentSince.IsZero() {
		p.ParentSince = now
	}
}

// Resume copies the data that is not stored on disk, ParentSince, from the Progress before a reload. Both may be nil.
func (p *Progress) Resume(before *Progress) {
	if p != nil && before != nil && p.same(&before.Roll) && p.Stage == before.Stage {
		p.ParentSince = before.ParentSince
	}
}

// stageDuration returns the minimum duration of a stage after all nodes have reached it, without the margin.
func (p *Progress) stageDuration(ttl TTLs) time.Duration {
	switch {
	case p.Goal == ToUnsigned && p.Stage == Offered:
		return ttl.DS + ttl.DNSKEY // a resolver may trust keys for their TTL that it received under the last DS record
	case p.Goal == ToSigned && p.Stage == Offered:
		return 0
	case p.Goal != ToKey:
		return max(ttl.DNSKEY, ttl.Answers)
	case p.Stage == Signing:
		return ttl.Answers
	case p.Stage == Published && !p.Emergency:
		return max(ttl.DNSKEY, ttl.Answers)
	case p.Stage == Offered && p.Emergency:
		return max(ttl.DS, ttl.Answers)
	case p.Stage == Offered:
		return ttl.DS
	case p.Stage == Alone && !p.Algorithm && !p.Emergency:
		return ttl.Answers
	case p.Stage == Alone && !p.Algorithm:
		return 0
	}
	return ttl.DNSKEY
}

func (p *Progress) waitsFor() string {
	switch {
	case p.Goal == ToUnsigned && p.Stage == Offered:
		return "the DS records to leave caches"
	case p.Goal == ToUnsigned:
		return "signed answers to leave caches"
	case p.Goal == ToSigned && p.Stage == Published:
		return "unsigned answers to leave caches"
	case p.Goal == ToSigned:
		return "the DS record to be at all servers of the parent"
	case p.Stage == Signing:
		return "answers without the new signature to leave caches"
	case p.Stage == Published:
		return "DNSKEY records without the new key to leave caches"
	case p.Stage == Offered:
		return "the DS record of the old key to leave caches"
	}
	if p.Algorithm {
		return "DNSKEY records with the old key to leave caches"
	}
	return "signatures of the old key to leave caches"
}
