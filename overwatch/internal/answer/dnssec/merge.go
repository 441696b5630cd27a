package dnssec

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// Expect sets the zones that this node is going to serve, so that keys for them can be imported first.
func (z *Zones) Expect(apexes []string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, apex := range apexes {
		z.wanted[dns.CanonicalName(apex)] = true
	}
}

// Missing lists the expected zones without a key, or with damaged files.
func (z *Zones) Missing() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	var missing []string
	for _, apex := range sortedKeys(z.wanted) {
		if len(z.keyring.Keys(apex)) == 0 || z.keyring.damagedIn(apex) {
			missing = append(missing, apex)
		}
	}
	return missing
}

// NoKeys reports whether none of the expected zones has a key.
func (z *Zones) NoKeys() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.wanted {
		if len(z.keyring.Keys(apex)) > 0 {
			return false
		}
	}
	return true
}

// Peers says whether other nodes can be asked for their keys.
type Peers uint8

// The relations to other nodes.
const (
	NoPeers    Peers = iota
	PeersAsked       // peers are asked: new keys are provisional until they were
	PeersApart       // peers exist and cannot be asked: new keys are marked until they were
)

// SetPeers sets whether other nodes can be asked from now on.
func (z *Zones) SetPeers(peers Peers) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.peers = peers
}

// MadeApart reports whether a served zone has a key that was made while other nodes could not be asked, and they have
// not all answered since. They may sign with keys that this node does not publish.
func (z *Zones) MadeApart() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.wanted {
		if z.keyring.madeApart(apex) {
			return true
		}
	}
	return false
}

// Made returns a channel that receives when a provisional key was made, so that other nodes are asked at once.
func (z *Zones) Made() <-chan struct{} { return z.made }

// Bounds on a key's provisional time: long enough that nodes which begin at the same moment see one another, and not so
// long that a peer that is not there yet keeps the parent from being told.
const (
	provisionalLeast = 2 * time.Second
	provisionalMost  = 30 * time.Second
)

// Merged is the result of joining the keys of other nodes with those here.
type Merged struct {
	Imported  []int    // number of keys imported from each offer
	Refused   []error  // by offer: why a sound key was not imported; nil for none
	Taken     []string // imported keys, described for the log
	Dropped   []string // keys that gave way or were withdrawn everywhere, described for the log
	Unsettled bool     // a provisional key is left: ask again soon
	Altered   bool     // the published, signing or announced keys have changed
}

// Response says how completely the other nodes have answered in a round.
type Response uint8

// The ways in which a round ends.
const (
	Complete Response = iota // all answered
	Partial                  // some failed
	Awaited                  // some failed, and of others the first answer since a key was made here is still waited for
)

// Merge joins the keys that the other nodes offer with those here. Keys are joined, never replaced, with two
// exceptions:
//
//	a provisional key               gives way to a key of another node that is not, else to an older provisional one
//	a key that all others withdrew  is withdrawn here, once another that all have was published for a TTL
//
// A provisional key that nothing replaced becomes final after provisionalLeast, if all others answered, and otherwise
// after provisionalMost, unless answers are awaited. An error is of the disk; what was joined before it stays.
func (z *Zones) Merge(offers []Offer, response Response) (Merged, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	m := merging{Zones: z, now: z.now(), offers: offers, response: response,
		Merged: Merged{Imported: make([]int, len(offers)), Refused: make([]error, len(offers))}}
	for _, apex := range sortedKeys(z.wanted) {
		err := errors.Join(m.adoptWay(apex), m.adoptRoll(apex), m.join(apex))
		if err == nil && response == Complete && len(offers) > 0 {
			err = errors.Join(m.withdraw(apex), m.keyring.SetApart(apex, false))
		}
		if err != nil {
			return m.Merged, err
		}
	}
	return m.Merged, nil
}

// merging is the state of one Merge.
type merging struct {
	*Zones
	now      time.Time
	offers   []Offer
	response Response
	Merged
}

// candidate is an offered key that this node does not have.
type candidate struct {
	*Key
	from        int // the first offer that has it
	provisional bool
}

// join joins the offered keys of a zone with those here.
func (m *merging) join(apex string) error {
	own := m.ownProvisional(apex)
	final, provisional, confirmed := m.candidates(apex, own)
	switch {
	case own != nil && !confirmed && len(final) == 0 && (len(provisional) == 0 || older(provisional[0].Key, own) > 0):
		if age := m.keyring.publishedFor(own, m.now); age < provisionalLeast ||
			(age < provisionalMost && m.response == Partial) || m.response == Awaited {
			m.Unsettled = true
			return nil
		}
		return m.settle(apex)
	case own != nil && confirmed:
		if err := m.settle(apex); err != nil {
			return err
		}
		own = nil
	case len(final) == 0 && len(provisional) > 0 && (own != nil || len(m.keyring.Keys(apex)) == 0):
		final = provisional[:1]
		m.Unsettled = true
	}
	for _, c := range final {
		if err := m.take(c); err != nil {
			return err
		}
		if own != nil && m.keyring.find(apex, c.public) != nil {
			if err := m.keyring.Discard(own); err != nil {
				return err
			}
			m.Dropped = append(m.Dropped, fmt.Sprintf("provisional key %d of %s", own.tag, apex))
			own = nil
		}
	}
	return nil
}

// Provisional reports whether a served zone has a provisional key.
func (z *Zones) Provisional() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.wanted {
		if z.ownProvisional(apex) != nil {
			return true
		}
	}
	return false
}

// ownProvisional returns the provisional key of a zone, which is then its only one.
func (z *Zones) ownProvisional(apex string) *Key {
	for _, k := range z.keyring.Keys(apex) {
		if z.keyring.provisional(k) {
			return k
		}
	}
	return nil
}

// candidates returns the offered keys of a zone that may be imported, the oldest first. confirmed reports that own is
// final at another node.
func (m *merging) candidates(apex string, own *Key) (final, provisional []candidate, confirmed bool) {
	byKey := make(map[string]candidate)
	for i := range m.offers {
		for _, o := range m.offers[i].keys {
			switch known := m.keyring.find(apex, o.public); {
			case o.zone != apex:
				continue
			case known != nil:
				confirmed = confirmed || (known == own && !o.provisional)
				continue
			case m.keyring.recordOf(apex).withdrawn(o.public):
				continue // withdrawn here
			}
			c, again := byKey[string(o.public)]
			if !again {
				c = candidate{o.Key, i, true}
			}
			c.provisional = c.provisional && o.provisional
			byKey[string(o.public)] = c
		}
	}
	for _, c := range byKey {
		if c.provisional {
			provisional = append(provisional, c)
		} else {
			final = append(final, c)
		}
	}
	byAge := func(a, b candidate) int { return older(a.Key, b.Key) }
	slices.SortFunc(final, byAge)
	slices.SortFunc(provisional, byAge)
	return final, provisional, confirmed
}

// settle ends the provisional time of a zone's key.
func (m *merging) settle(apex string) error {
	changed, err := m.keyring.Settle(apex)
	m.Altered = m.Altered || changed
	if err == nil && m.peers == PeersApart {
		err = m.keyring.SetApart(apex, true)
	}
	return err
}

// take imports a key. A key that the zone has no place for is reported to its offerer, and is no error of the disk.
func (m *merging) take(c candidate) error {
	err := m.keyring.Add(c.Key, m.now, c.provisional)
	switch {
	case errors.Is(err, ErrTooManyKeys) || errors.Is(err, errTagTaken):
		m.Refused[c.from] = err
		return nil
	case err != nil:
		return err
	}
	m.Imported[c.from]++
	m.Taken = append(m.Taken, fmt.Sprintf("key %d of %s", c.tag, c.zone))
	m.Altered = true
	return nil
}

// withdraw takes out the keys of a zone that every other node has withdrawn.
func (m *merging) withdraw(apex string) error {
	if p := m.keyring.recordOf(apex).Roll; p != nil && p.Stage < roll.Done {
		return nil // the roll says when
	}
	for _, k := range m.keyring.Keys(apex) {
		everybody := !slices.ContainsFunc(m.offers, func(o Offer) bool { return !o.withdrew(k) })
		if !everybody || !m.replaced(k) {
			continue
		}
		if err := m.keyring.Withdraw(k, m.now); err != nil {
			return err
		}
		m.Dropped = append(m.Dropped,
			fmt.Sprintf("key %d of %s, which all other nodes have withdrawn; its files are set aside", k.tag, apex))
		m.Altered = true
	}
	return nil
}

// replaced reports whether a zone can do without a key: another signs, was published here for a TTL, and every other
// node has it.
func (m *merging) replaced(k *Key) bool {
	return slices.ContainsFunc(m.keyring.Keys(k.zone), func(next *Key) bool {
		return next != k && next.State(m.now) == Active && !m.keyring.provisional(next) &&
			m.keyring.publishedFor(next, m.now) >= m.heldKeyTTL(m.now) &&
			!slices.ContainsFunc(m.offers, func(o Offer) bool { return !o.has(next) })
	})
}
