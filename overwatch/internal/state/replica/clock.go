package replica

import (
	"math"
	"time"

	"gslb.internal/overwatch/internal/leaf/wallclock"
)

const (
	// MaxAhead is the maximum time by which a version may be ahead of a node's clock. Such a version has precedence over
	// every earlier change. Two clocks with a smaller difference agree.
	MaxAhead = 5 * time.Minute
	// maxLead is the maximum time by which versions that several nodes have stored may be ahead.
	maxLead = 10 * 365 * 24 * time.Hour
	// steadyTime is the time without a clock step after which the clock of a node without answering peers is settled.
	steadyTime = 10 * time.Minute
	// transit is the maximum time from sending a node's Limit to merging the answer.
	transit = time.Minute
	// markLead is the time by which Marks.Stored is ahead of the served versions, so that it is written at most once a
	// minute.
	markLead = time.Minute
)

// Peers is the state of the other nodes.
type Peers int

// The values of Peers.
const (
	PeersAnswer Peers = iota // at least one peer answers
	PeersSilent              // the node has peers, and none answers
	NoPeers                  // no other node is configured
)

// clock is a hybrid logical clock. Its readings are the node's time, but always later than every version that it has
// seen. It also determines whether the node's time is trustworthy.
type clock struct {
	node string
	now  func() time.Time
	last Version

	watch  wallclock.Watch
	agreed bool      // the clock agreed with a peer's clock and was not set since
	steady time.Time // time of the start, or of the last step
	peers  Peers
}

// next returns a version after all versions that the clock has assigned or received.
func (c *clock) next() Version {
	now := c.now().UnixMilli()
	switch {
	case now > c.last.Time:
		c.last = Version{Time: now}
	case c.last.Count == math.MaxUint32:
		c.last = Version{Time: c.last.Time + 1}
	default:
		c.last.Count++
	}
	c.last.Node = c.node
	return c.last
}

// advancePast advances the clock, so that it assigns only versions after v.
func (c *clock) advancePast(v Version) { c.last = later(c.last, v) }

// detectStep detects a step of the clock. A step ends an agreement with a peer.
func (c *clock) detectStep() {
	if c.watch.Jumped(c.now()) {
		c.agreed, c.steady = false, time.Now()
	}
}

// isTrusted reports whether objects may be deleted according to the node's clock: it agrees with a peer's clock, or
// there are no peers and it has not stepped for steadyTime.
func (c *clock) isTrusted() bool {
	c.detectStep()
	return c.agreed || c.peers == NoPeers && time.Since(c.steady) >= steadyTime
}

// isSettled reports whether versions may be lowered to the node's clock. The clock of a node with silent peers can be
// settled, but is not trusted. Such a node must have met a peer before: the time of that meeting is the lower bound of
// new versions.
func (t *Table) isSettled() bool {
	c := &t.clock
	return c.isTrusted() || c.peers == PeersSilent && time.Since(c.steady) >= steadyTime && !t.synced.IsZero()
}

func later(a, b Version) Version {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

func laterTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Agree compares the clocks of the node and of an authenticated peer. It returns true if the clock has become settled.
func (t *Table) Agree(theirs time.Time) bool {
	t.clock.detectStep()
	if t.clock.agreed || theirs.Sub(t.clock.now()).Abs() > MaxAhead {
		return false
	}
	t.clock.agreed = true
	t.changes++ // other nodes receive the end of Offer.Unsettled
	return true
}

// SetPeers sets the state of the other nodes.
func (t *Table) SetPeers(peers Peers) { t.clock.peers = peers }

// Settled reports whether the node's clock agrees with the clock of a peer, or the node has no peers and a steady
// clock.
func (t *Table) Settled() bool { return t.clock.isTrusted() }

// Newest returns the latest version that the table has assigned or received.
func (t *Table) Newest() Version { return t.clock.last }
