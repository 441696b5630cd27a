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

// Errors of the methods that change whether a zone is signed.
var (
	ErrUnsigned = errors.New("the zone is not signed: gslbctl dnssec sign signs it")
	ErrSigned   = errors.New("the zone is signed")
)

// BeginWay begins to remove a zone's signatures (roll.ToUnsigned), or to sign it again (roll.ToSigned). ttl is for the
// Schedule; its DS is the TTL of the parent's DS records, 0 if that is not known.
func (z *Zones) BeginWay(apex string, way roll.Way, ttl roll.TTLs) (RollState, error) {
	return z.beginWay(apex, way, ttl, true)
}

// PreviewWay returns the state that BeginWay would, and changes nothing.
func (z *Zones) PreviewWay(apex string, way roll.Way, ttl roll.TTLs) (RollState, error) {
	return z.beginWay(apex, way, ttl, false)
}

// beginWay is BeginWay if keep is true, else PreviewWay.
func (z *Zones) beginWay(apex string, way roll.Way, ttl roll.TTLs, keep bool) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	rec := z.keyring.recordOf(apex)
	goesUnsigned := rec.Way != nil && rec.Way.Way == roll.ToUnsigned
	switch {
	case !z.served(apex):
		return RollState{}, ErrNotSigned
	case way == roll.ToSigned && !goesUnsigned:
		return RollState{}, ErrSigned
	case way == roll.ToUnsigned && rec.Way.Unsigned():
		return RollState{}, ErrUnsigned
	case way == roll.ToUnsigned && goesUnsigned:
		return RollState{}, ErrRolling
	case z.ownProvisional(apex) != nil:
		return RollState{}, errAgreeing
	}
	return z.startWay(apex, way, ttl, keep)
}

// startWay begins a way.
func (z *Zones) startWay(apex string, way roll.Way, ttl roll.TTLs, keep bool) (RollState, error) {
	now := z.wall()
	before := z.keyring.recordOf(apex).Way
	r := roll.Roll{Way: way, Started: startAfter(before, now), By: z.nodeID}
	if before != nil {
		r.DS = before.DS
	}
	if way == roll.ToUnsigned {
		r.DS = max(r.DS, ttl.DS)
	}
	begun := z.begin(apex, r, ttl, now)
	seen := look{ttl: z.heldTTLs(ttl, now)}
	seen.ttl.DS = cmp.Or(max(r.DS, begun.Longest.DS), unknownDS)
	if !keep {
		return stateOf(apex, begun, nil, seen, now), nil
	}
	if err := z.keepWay(apex, begun); err != nil {
		return RollState{}, err
	}
	z.wayLooks[apex] = seen
	return z.wayState(apex), nil
}

// startAfter returns the beginning of a roll or way that takes the place of another, which may be nil: now, or a moment
// after the other one began if the node that began it has a clock that is ahead of this one. The later one counts.
func startAfter(before *roll.Progress, now time.Time) time.Time {
	if before != nil && !now.After(before.Started) {
		return before.Started.Add(1)
	}
	return now
}

// wayFirst reports whether operators' requests for a zone's roll are for its way: the way was begun later than the
// roll, or the roll has ended or stands still. The caller holds mu.
func (z *Zones) wayFirst(apex string) bool {
	rec := z.keyring.recordOf(apex)
	return z.served(apex) && rec.Way.UnderWay() &&
		(!rec.Roll.UnderWay() || z.unsigned[apex] || rec.Way.Started.After(rec.Roll.Started))
}

// cancelWay takes back a way that is under way: it begins the opposite one. The caller holds mu.
func (z *Zones) cancelWay(apex string) (RollState, error) {
	if z.keyring.recordOf(apex).Way.Way == roll.ToUnsigned {
		return z.startWay(apex, roll.ToSigned, z.wayLooks[apex].ttl, true)
	}
	return z.startWay(apex, roll.ToUnsigned, z.wayLooks[apex].ttl, true)
}

// confirmWay notes that an operator says that the parent has done what a way asks for. The caller holds mu.
func (z *Zones) confirmWay(apex string) (RollState, error) {
	p := z.keyring.recordOf(apex).Way
	if p.Stage != roll.Offered {
		return RollState{}, fmt.Errorf("the zone is at %s: the parent is to follow at %s", p.Name(p.Stage), roll.Offered)
	}
	next := *p
	next.Confirmed = z.wall()
	if err := z.keepWay(apex, &next); err != nil {
		return RollState{}, err
	}
	return z.wayState(apex), nil
}

// served reports whether this node serves a zone with keys of its own, signed or not. The caller holds mu.
func (z *Zones) served(apex string) bool { return z.signers[apex] != nil || z.unsigned[apex] }

// Serves reports whether this node serves a zone that has keys, signed or not.
func (z *Zones) Serves(apex string) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.served(dns.CanonicalName(apex))
}

// servedZones lists the zones that this node serves with keys of its own. The caller holds mu.
func (z *Zones) servedZones() []string {
	all := append(sortedKeys(z.signers), sortedKeys(z.unsigned)...)
	slices.Sort(all)
	return all
}

// Unsigned lists the served zones that are not signed because an operator said so.
func (z *Zones) Unsigned() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return sortedKeys(z.unsigned)
}

func (z *Zones) wayState(apex string) RollState {
	return stateOf(apex, z.keyring.recordOf(apex).Way, nil, z.wayLooks[apex], z.wall())
}

func (z *Zones) keepWay(apex string, p *roll.Progress) error {
	rec := z.keyring.recordOf(apex)
	before := rec.Way
	rec.Way = p
	if err := rec.keep(z.keyring.dir, apex); err != nil {
		rec.Way = before
		return err
	}
	return nil
}

// stepWay takes the step that the way of a zone can take now.
func (z *Zones) stepWay(apex string, neighbours []Neighbour, parent Parent, ttl roll.TTLs) (step string, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	own, now := z.keyring.recordOf(apex).Way, z.wall()
	if !own.UnderWay() {
		return "", nil
	}
	ttl.DS = max(parent.TTL, own.DS)
	lacks := z.lacks(apex, own, &parent)
	own.NoteParent(lacks == "", z.wayLooks[apex].at, now)
	if err := z.noteDS(apex, &parent, now); err != nil {
		return "", err
	}
	peers := peersOf(neighbours, func(o *Offer) *roll.Progress { return o.ways[apex] })
	ttl, err = z.noteTTLs(own, peers, ttl, now, func() error { return z.keepWay(apex, own) })
	if err != nil {
		return "", err
	}
	next, wait := roll.Next(own, peers, lacks, ttl, now)
	z.wayLooks[apex] = look{now, lacks, wait, peers, ttl}
	if next == nil {
		return "", nil
	}
	if err := z.keepWay(apex, next); err != nil {
		return "", err
	}
	return fmt.Sprintf("the way of %s to be %s is at %s", apex, own.Way, next.Name(next.Stage)), nil
}

// lacks returns the reason why the parent has not done what a way asks for; empty if it has.
func (z *Zones) lacks(apex string, p *roll.Progress, parent *Parent) string {
	switch {
	case p.Way == roll.ToUnsigned && len(parent.DS) > 0:
		return fmt.Sprintf("the parent has the DS record of key %d still: take it out there", parent.DS[0].KeyTag)
	case p.Way == roll.ToUnsigned:
		return parent.Why
	case z.signers[apex] == nil || len(z.signers[apex].announced) == 0:
		return "no key is offered to the parent yet"
	}
	return parent.lacks(z.signers[apex].announced)
}

// adoptWay joins the latest way that the other nodes offer.
func (m *merging) adoptWay(apex string) error {
	var peers []roll.Peer
	for i := range m.offers {
		if p := m.offers[i].ways[apex]; p != nil {
			peers = append(peers, roll.Peer{Progress: p})
		}
	}
	next := roll.Adopt(m.keyring.recordOf(apex).Way, peers, m.wall())
	if next == nil {
		return nil
	}
	next.Inherit(m.keyring.recordOf(apex).Roll, m.wall())
	m.Altered = true
	m.Taken = append(m.Taken, fmt.Sprintf("the way of %s to be %s at %s", apex, next.Way, next.Name(next.Stage)))
	return m.keepWay(apex, next)
}

// noDS returns the records by which a zone asks its parent to have no DS record of it (RFC 8078 section 4).
func noDS(apex string, ttl uint32) []dns.RR {
	header := func(kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: apex, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
	}
	return []dns.RR{
		&dns.CDS{DS: dns.DS{Hdr: header(dns.TypeCDS), Digest: "00"}},
		&dns.CDNSKEY{DNSKEY: dns.DNSKEY{Hdr: header(dns.TypeCDNSKEY), Protocol: protocol, PublicKey: "AA=="}},
	}
}
