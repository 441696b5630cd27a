package dnssec

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// SetExpected sets the zones that this node will serve, so that their keys can be imported first.
func (z *Zones) SetExpected(apexes []string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, apex := range apexes {
		z.expected[dns.CanonicalName(apex)] = true
	}
}

// Missing returns the expected zones without a key or with damaged files.
func (z *Zones) Missing() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	var missing []string
	for _, apex := range sortedKeys(z.expected) {
		if len(z.keyring.Keys(apex)) == 0 || z.keyring.damagedIn(apex) {
			missing = append(missing, apex)
		}
	}
	return missing
}

// NoKeys reports whether no expected zone has a key.
func (z *Zones) NoKeys() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.expected {
		if len(z.keyring.Keys(apex)) > 0 {
			return false
		}
	}
	return true
}

// Peers states whether this node can exchange keys with other nodes.
type Peers uint8

// The relations to other nodes.
const (
	NoPeers    Peers = iota
	PeersAsked       // peers are reachable: new keys are provisional until a query
	PeersApart       // peers exist and are unreachable: new keys are marked until they answer
)

// SetPeers sets the relation to other nodes.
func (z *Zones) SetPeers(peers Peers) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.peers = peers
}

// MadeApart reports whether a served zone has a key that was created while peers were unreachable, and some of these
// peers have not answered since. They may sign with keys that this node does not publish.
func (z *Zones) MadeApart() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.expected {
		if z.keyring.madeApart(apex) {
			return true
		}
	}
	return false
}

// KeyCreated returns a channel that receives a value after the creation of a provisional key, so that the node queries
// the peers immediately.
func (z *Zones) KeyCreated() <-chan struct{} { return z.keyCreated }

// Bounds of the provisional time of a key: long enough for nodes that start concurrently to exchange keys, and short
// enough that an unreachable peer does not delay the DS record at the parent.
const (
	provisionalLeast = 2 * time.Second
	provisionalMost  = 30 * time.Second
)

// Merged is the result of merging the keys of other nodes.
type Merged struct {
	Imported  []int    // number of keys imported from each offer
	Refused   []error  // by offer: reason why a valid key was not imported; nil if missing
	Taken     []string // imported keys, for the log
	Dropped   []string // replaced or withdrawn keys, for the log
	Unsettled bool     // a provisional key remains: the next query is due soon
	Altered   bool     // the published, signing or announced keys changed
}

// Response states how completely the other nodes answered in a round.
type Response uint8

// The results of a round.
const (
	Complete Response = iota // all nodes answered
	Partial                  // some nodes failed
	Awaited                  // some nodes failed, and the first answer of others since the creation of a key is pending
)

// Merge adds the keys that other nodes offer to the keys of this node. Keys are added, with two exceptions:
//
//	a provisional key                is replaced by a final key of another node, or by an older provisional key
//	a key that all others withdrew   is withdrawn, if another key that all nodes have was published for a TTL
//
// A provisional key without replacement becomes final after provisionalLeast if all others answered, otherwise after
// provisionalMost unless answers are pending. Errors are disk errors; earlier changes remain.
func (z *Zones) Merge(offers []Offer, response Response) (Merged, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	m := merging{Zones: z, now: z.now(), offers: offers, response: response,
		Merged: Merged{Imported: make([]int, len(offers)), Refused: make([]error, len(offers))}}
	for _, apex := range sortedKeys(z.expected) {
		err := errors.Join(m.adoptTransition(apex), m.adoptRoll(apex), m.joinKeys(apex))
		if err == nil && response == Complete && len(offers) > 0 {
			err = errors.Join(m.withdraw(apex), m.keyring.SetApart(apex, false))
		}
		if err != nil {
			return m.Merged, err
		}
	}
	return m.Merged, nil
}

// merging is the state of Merge.
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
	from        int // index of the first offer with the key
	provisional bool
}

// joinKeys merges the offered keys of a zone.
func (m *merging) joinKeys(apex string) error {
	own := m.ownProvisional(apex)
	final, provisional, confirmed := m.candidates(apex, own)
	switch {
	case own != nil && !confirmed && len(final) == 0 && (len(provisional) == 0 || compareAge(provisional[0].Key, own) > 0):
		if age := m.keyring.publishedFor(own, m.now); age < provisionalLeast ||
			(age < provisionalMost && m.response == Partial) || m.response == Awaited {
			m.Unsettled = true
			return nil
		}
		return m.finalize(apex)
	case own != nil && confirmed:
		if err := m.finalize(apex); err != nil {
			return err
		}
		own = nil
	case len(final) == 0 && len(provisional) > 0 && (own != nil || len(m.keyring.Keys(apex)) == 0):
		final = provisional[:1]
		m.Unsettled = true
	}
	for _, c := range final {
		if err := m.importKey(c); err != nil {
			return err
		}
		if own != nil && m.keyring.findKey(apex, c.public) != nil {
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
	for apex := range z.expected {
		if z.ownProvisional(apex) != nil {
			return true
		}
	}
	return false
}

// ownProvisional returns the provisional key of a zone, which is its only key; nil if missing.
func (z *Zones) ownProvisional(apex string) *Key {
	for _, k := range z.keyring.Keys(apex) {
		if z.keyring.isProvisional(k) {
			return k
		}
	}
	return nil
}

// candidates returns the offered keys of a zone that can be imported, the oldest first. confirmed is true if own is
// final at another node.
func (m *merging) candidates(apex string, own *Key) (final, provisional []candidate, confirmed bool) {
	byKey := make(map[string]candidate)
	for i := range m.offers {
		for _, o := range m.offers[i].keys {
			switch known := m.keyring.findKey(apex, o.public); {
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
	byAge := func(a, b candidate) int { return compareAge(a.Key, b.Key) }
	slices.SortFunc(final, byAge)
	slices.SortFunc(provisional, byAge)
	return final, provisional, confirmed
}

// finalize ends the provisional time of a zone's key.
func (m *merging) finalize(apex string) error {
	changed, err := m.keyring.FinalizeProvisional(apex)
	m.Altered = m.Altered || changed
	if err == nil && m.peers == PeersApart {
		err = m.keyring.SetApart(apex, true)
	}
	return err
}

// importKey imports a key. If the zone has no room for it, the result is recorded in Refused instead of an error.
func (m *merging) importKey(c candidate) error {
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

// withdraw withdraws the keys of a zone that all other nodes have withdrawn.
func (m *merging) withdraw(apex string) error {
	if p := m.keyring.recordOf(apex).Roll; p != nil && p.Stage < roll.Done {
		return nil // the rollover decides
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
			fmt.Sprintf("key %d of %s, which all other nodes have withdrawn; its files are renamed", k.tag, apex))
		m.Altered = true
	}
	return nil
}

// replaced reports whether a zone does not need a key: another key signs, was published here for a TTL, and exists on
// all other nodes.
func (m *merging) replaced(k *Key) bool {
	return slices.ContainsFunc(m.keyring.Keys(k.zone), func(next *Key) bool {
		return next != k && next.State(m.now) == Active && !m.keyring.isProvisional(next) &&
			m.keyring.publishedFor(next, m.now) >= m.heldKeyTTL(m.now) &&
			!slices.ContainsFunc(m.offers, func(o Offer) bool { return !o.has(next) })
	})
}
