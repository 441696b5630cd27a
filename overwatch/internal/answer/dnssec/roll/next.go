package roll

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// ClocksApart bounds the difference between the clocks of two nodes.
const ClocksApart = 5 * time.Minute

// TTLs bounds the time for which resolvers keep answers.
type TTLs struct {
	Margin  time.Duration // added to each wait, for clocks that differ and for answers that take time to be everywhere
	DNSKEY  time.Duration // the DNSKEY RRset
	Answers time.Duration // whatever else the zone answers, denials included
	DS      time.Duration // the DS RRset at the parent: the longest that was seen
}

// Peer is another node, as far as this one has heard of it.
type Peer struct {
	Name     string    // for people
	Progress *Progress // nil: it has none, or none was heard
	Why      string    // reason why nothing is heard of it now, so that Progress does not count; empty: it was just heard
}

// Wait is the reason why a node does not take the next step.
type Wait struct {
	For   string    // empty: nothing
	Until time.Time // time at which it ends by itself; zero: that depends on others
	Peer  bool      // it is for a node that answers, and is not yet at the stage
}

// Begin returns the Progress of a node that begins a Roll: published are the keys in its DNSKEY RRset, and offer those
// that the parent is to have.
func Begin(r Roll, published, offer [][]byte, now time.Time) *Progress {
	return &Progress{Roll: r, Stage: r.first(), Since: now, Before: published, Offer: offer}
}

// later orders Rolls: the one that was begun later counts.
func (r *Roll) later(than *Roll) bool {
	return cmp.Or(r.Started.Compare(than.Started), cmp.Compare(r.By, than.By), bytes.Compare(r.Target, than.Target)) > 0
}

func (r *Roll) same(other *Roll) bool { return !r.later(other) && !other.later(r) }

// Adopt returns the Progress with which a node joins the latest Roll that it has heard of, or catches up with the
// others in its own; nil if there is nothing to adopt. Where others are further, this node was with them once and has
// lost its files since: it goes on with them, so that it offers no old key to the parent again.
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
		next.Stage = max(next.Stage, min(latest.Stage, latest.furthest()))
		return next
	case latest.same(&own.Roll) && own.Stage < min(latest.Stage, latest.furthest()):
		next := *own
		next.Stage, next.Since, next.Without = min(latest.Stage, latest.furthest()), now, nil
		return &next
	}
	return nil
}

// Next returns the Progress at the next stage, or nil with a Wait if there is no step to take now. peers are all the
// other nodes; parent is the reason why the parent does not have what the Roll asks for, empty if it has. Nodes need
// not take a step at the same moment: what a node does in one stage agrees with what the others do in the stages before
// and after it.
func Next(own *Progress, peers []Peer, parent string, ttl TTLs, now time.Time) (*Progress, Wait) {
	if own == nil || own.Stage >= Done {
		return nil, Wait{}
	}
	if who, answers := own.behind(peers); who != "" {
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
	if until := began.Add(own.hold(own.waits(peers, ttl)) + ttl.Margin); now.Before(until) {
		return nil, Wait{For: own.waitsFor(), Until: until}
	}
	next := *own
	next.Stage, next.Since, next.Without = own.after(own.Stage), now, nil
	return &next, Wait{}
}

// behind returns a sentence about a node that has not come to this stage, or of which that is not known; empty: all
// have. answers reports that the node answers.
func (p *Progress) behind(peers []Peer) (who string, answers bool) {
	for _, peer := range peers {
		switch {
		case peer.Why != "" && slices.Contains(p.Without, peer.Name):
			continue
		case peer.Why != "":
			return peer.Name + ": " + peer.Why, false
		case !p.with(peer) || peer.Progress.Stage < p.Stage:
			return peer.Name + " is not yet at " + p.Name(p.Stage), true
		}
	}
	return "", false
}

// with reports whether another node is in the same Roll.
func (p *Progress) with(peer Peer) bool { return peer.Progress != nil && peer.Progress.same(&p.Roll) }

// allSince returns when the last of the nodes came to this stage.
func (p *Progress) allSince(peers []Peer) time.Time {
	since := p.Since
	for _, peer := range peers {
		if p.with(peer) && peer.Progress.Stage == p.Stage {
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

// parentHas returns the time since which the parent has had what the Roll asks for: as an operator said, or as one of
// the nodes has seen without a break; zero if that is not known.
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
		if p.with(peer) {
			earliest(peer.Progress.ParentSince)
			earliest(peer.Progress.Confirmed)
		}
	}
	return since
}

// UnderWay reports whether there is a Roll that has not ended. It is false for nil.
func (p *Progress) UnderWay() bool { return p != nil && p.Stage < Done }

// NoteParent notes the result of a look at the parent: has reports whether the parent has what the Roll asks for, and
// before is the time of the look before.
func (p *Progress) NoteParent(has bool, before, now time.Time) {
	if !has || now.Sub(before) > ClocksApart {
		p.ParentSince = time.Time{}
	}
	if has && p.ParentSince.IsZero() {
		p.ParentSince = now
	}
}

// Resume takes over what is not kept on disk from the Progress that this node had before it read its own again: since
// when the parent has what the Roll asks for. Either may be nil.
func (p *Progress) Resume(before *Progress) {
	if p != nil && before != nil && p.same(&before.Roll) && p.Stage == before.Stage {
		p.ParentSince = before.ParentSince
	}
}

// hold returns the time for which a stage lasts after all nodes have come to it, without the margin.
func (p *Progress) hold(ttl TTLs) time.Duration {
	switch {
	case p.Way == ToUnsigned && p.Stage == Offered:
		return ttl.DS + ttl.DNSKEY // a resolver may believe keys for their TTL that it has found below the last DS record
	case p.Way == ToSigned && p.Stage == Offered:
		return 0
	case p.Way != ToKey:
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
	case p.Way == ToUnsigned && p.Stage == Offered:
		return "the DS records to leave caches"
	case p.Way == ToUnsigned:
		return "signed answers to leave caches"
	case p.Way == ToSigned && p.Stage == Published:
		return "unsigned answers to leave caches"
	case p.Way == ToSigned:
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
