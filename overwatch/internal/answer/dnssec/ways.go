package dnssec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// Errors of the methods for signing transitions.
var (
	ErrUnsigned = errors.New("the zone is not signed: gslbctl dnssec sign signs it")
	ErrSigned   = errors.New("the zone is signed")
)

// BeginTransition starts the removal of the signatures of a zone (roll.ToUnsigned) or the return to signing
// (roll.ToSigned). ttl is for the Schedule; its DS is the TTL of the parent's DS records, 0 if unknown.
func (z *Zones) BeginTransition(apex string, way roll.Goal, ttl roll.TTLs) (RollState, error) {
	return z.beginTransition(apex, way, ttl, true)
}

// PreviewTransition returns the state after BeginTransition, and changes nothing.
func (z *Zones) PreviewTransition(apex string, way roll.Goal, ttl roll.TTLs) (RollState, error) {
	return z.beginTransition(apex, way, ttl, false)
}

// beginTransition is BeginTransition if keep is true, otherwise PreviewTransition.
func (z *Zones) beginTransition(apex string, way roll.Goal, ttl roll.TTLs, keep bool) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	rec := z.keyring.recordOf(apex)
	goesUnsigned := rec.Transition != nil && rec.Transition.Goal == roll.ToUnsigned
	switch {
	case !z.served(apex):
		return RollState{}, ErrNotSigned
	case way == roll.ToSigned && !goesUnsigned:
		return RollState{}, ErrSigned
	case way == roll.ToUnsigned && rec.Transition.Unsigned():
		return RollState{}, ErrUnsigned
	case way == roll.ToUnsigned && goesUnsigned:
		return RollState{}, ErrRolling
	case z.ownProvisional(apex) != nil:
		return RollState{}, errAgreeing
	}
	return z.startTransition(apex, way, ttl, keep)
}

// startTransition starts a signing transition.
func (z *Zones) startTransition(apex string, way roll.Goal, ttl roll.TTLs, keep bool) (RollState, error) {
	now := z.wallTime()
	before := z.keyring.recordOf(apex).Transition
	r := roll.Roll{Goal: way, Started: startAfter(before, now), By: z.nodeID}
	if before != nil {
		r.DS = before.DS
	}
	if way == roll.ToUnsigned {
		r.DS = max(r.DS, ttl.DS)
	}
	begun := z.newProgress(apex, r, ttl, now)
	seen := observation{ttl: z.heldTTLs(ttl, now)}
	seen.ttl.DS = cmp.Or(max(r.DS, begun.Longest.DS), unknownDS)
	if !keep {
		return stateOf(apex, begun, nil, seen, now), nil
	}
	if err := z.storeTransition(apex, begun); err != nil {
		return RollState{}, err
	}
	z.transitionObservations[apex] = seen
	return z.transitionState(apex), nil
}

// startAfter returns the start time of a rollover that replaces another, which may be nil: now, or just after the start
// of the other if its node has a clock that is ahead. The later start takes precedence.
func startAfter(before *roll.Progress, now time.Time) time.Time {
	if before != nil && !now.After(before.Started) {
		return before.Started.Add(1)
	}
	return now
}

// isTransitionLatest reports whether requests of operators concern the signing transition rather than the rollover: it
// was started later, or the rollover ended or is paused. The caller holds mu.
func (z *Zones) isTransitionLatest(apex string) bool {
	rec := z.keyring.recordOf(apex)
	return z.served(apex) && rec.Transition.UnderWay() &&
		(!rec.Roll.UnderWay() || z.unsigned[apex] || rec.Transition.Started.After(rec.Roll.Started))
}

// cancelTransition reverses a signing transition. The caller holds mu.
func (z *Zones) cancelTransition(apex string) (RollState, error) {
	if z.keyring.recordOf(apex).Transition.Goal == roll.ToUnsigned {
		return z.startTransition(apex, roll.ToSigned, z.transitionObservations[apex].ttl, true)
	}
	return z.startTransition(apex, roll.ToUnsigned, z.transitionObservations[apex].ttl, true)
}

// confirmTransition records the confirmation of an operator that the parent satisfies the transition. The caller holds
// mu.
func (z *Zones) confirmTransition(apex string) (RollState, error) {
	p := z.keyring.recordOf(apex).Transition
	if p.Stage != roll.Offered {
		return RollState{}, fmt.Errorf("the zone is at %s: the parent is to follow at %s", p.Name(p.Stage), roll.Offered)
	}
	next := *p
	next.Confirmed = z.wallTime()
	if err := z.storeTransition(apex, &next); err != nil {
		return RollState{}, err
	}
	return z.transitionState(apex), nil
}

// served reports whether this node serves a zone with keys, signed or not. The caller holds mu.
func (z *Zones) served(apex string) bool { return z.signers[apex] != nil || z.unsigned[apex] }

// Serves reports whether this node serves a zone with keys, signed or not.
func (z *Zones) Serves(apex string) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.served(dns.CanonicalName(apex))
}

// servedZones returns the zones that this node serves with keys. The caller holds mu.
func (z *Zones) servedZones() []string {
	all := append(sortedKeys(z.signers), sortedKeys(z.unsigned)...)
	slices.Sort(all)
	return all
}

// Unsigned returns the served zones that an operator made unsigned.
func (z *Zones) Unsigned() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return sortedKeys(z.unsigned)
}

func (z *Zones) transitionState(apex string) RollState {
	return stateOf(apex, z.keyring.recordOf(apex).Transition, nil, z.transitionObservations[apex], z.wallTime())
}

func (z *Zones) storeTransition(apex string, p *roll.Progress) error {
	rec := z.keyring.recordOf(apex)
	before := rec.Transition
	rec.Transition = p
	if err := rec.write(z.keyring.dir, apex); err != nil {
		rec.Transition = before
		return err
	}
	return nil
}

// stepTransition performs the possible step of a zone's signing transition.
func (z *Zones) stepTransition(apex string, neighbours []Neighbor, parent Parent, ttl roll.TTLs) (step string,
	err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	own, now := z.keyring.recordOf(apex).Transition, z.wallTime()
	if !own.UnderWay() {
		return "", nil
	}
	ttl.DS = max(parent.TTL, own.DS)
	lacks := z.missingParentChange(apex, own, &parent)
	own.RecordParent(lacks == "", z.transitionObservations[apex].at, now)
	if err := z.recordParentDS(apex, &parent, now); err != nil {
		return "", err
	}
	peers := peersOf(neighbours, func(o *Offer) *roll.Progress { return o.transitions[apex] })
	ttl, err = z.raiseTTLs(own, peers, ttl, now, func() error { return z.storeTransition(apex, own) })
	if err != nil {
		return "", err
	}
	next, wait := roll.Next(own, peers, lacks, ttl, now)
	z.transitionObservations[apex] = observation{now, lacks, wait, peers, ttl}
	if next == nil {
		return "", nil
	}
	if err := z.storeTransition(apex, next); err != nil {
		return "", err
	}
	return fmt.Sprintf("the way of %s to be %s is at %s", apex, own.Goal, next.Name(next.Stage)), nil
}

// missingParentChange returns the reason why the parent does not satisfy the transition; "" if it does.
func (z *Zones) missingParentChange(apex string, p *roll.Progress, parent *Parent) string {
	switch {
	case p.Goal == roll.ToUnsigned && len(parent.DS) > 0:
		return fmt.Sprintf("the parent still has the DS record of key %d: remove it there", parent.DS[0].KeyTag)
	case p.Goal == roll.ToUnsigned:
		return parent.Why
	case z.signers[apex] == nil || len(z.signers[apex].announced) == 0:
		return "no key is offered to the parent yet"
	}
	return parent.missingDS(z.signers[apex].announced)
}

// adoptTransition adopts the latest signing transition that other nodes offer.
func (m *merging) adoptTransition(apex string) error {
	var peers []roll.Peer
	for i := range m.offers {
		if p := m.offers[i].transitions[apex]; p != nil {
			peers = append(peers, roll.Peer{Progress: p})
		}
	}
	next := roll.Adopt(m.keyring.recordOf(apex).Transition, peers, m.wallTime())
	if next == nil {
		return nil
	}
	next.Inherit(m.keyring.recordOf(apex).Roll, m.wallTime())
	m.Altered = true
	m.Taken = append(m.Taken, fmt.Sprintf("the way of %s to be %s at %s", apex, next.Goal, next.Name(next.Stage)))
	return m.storeTransition(apex, next)
}

// noDS returns the records that request removal of the zone's DS records at the parent (RFC 8078 section 4).
func noDS(apex string, ttl uint32) []dns.RR {
	header := func(kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: apex, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
	}
	return []dns.RR{
		&dns.CDS{DS: dns.DS{Hdr: header(dns.TypeCDS), Digest: "00"}},
		&dns.CDNSKEY{DNSKEY: dns.DNSKEY{Hdr: header(dns.TypeCDNSKEY), Protocol: protocol, PublicKey: "AA=="}},
	}
}
