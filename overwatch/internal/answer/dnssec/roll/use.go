package roll

import (
	"bytes"
	"slices"
	"time"
)

// isOld reports whether the Roll replaces a key.
func (p *Progress) isOld(public []byte, created time.Time) bool {
	return !p.isTarget(public) && !created.After(p.Started)
}

func (p *Progress) isTarget(public []byte) bool { return bytes.Equal(p.Target, public) }

// Publishes reports whether a key belongs to the DNSKEY RRset. The new key (the target) does after the stage Signing,
// or if it was published before the Roll. A replaced key does if it was published before the Roll; in a change of the
// algorithm, only before the stage Alone. Other keys, created after the start of the Roll, always do.
func (p *Progress) Publishes(public []byte, created time.Time) bool {
	switch {
	case p.isTarget(public):
		return p.Stage > Signing || contains(p.Before, public)
	case p.isOld(public, created):
		return contains(p.Before, public) && (p.Stage < Alone || !p.Algorithm)
	}
	return true
}

// Signs reports whether the Roll permits a key to sign answers.
func (p *Progress) Signs(public []byte, created time.Time) bool {
	return p.Stage < Alone || p.Algorithm || !p.isOld(public, created)
}

// Offers reports whether the parent should have a DS record of a key.
func (p *Progress) Offers(public []byte, created time.Time) bool {
	if p.Stage < Offered {
		return contains(p.Offer, public)
	}
	return !p.isOld(public, created)
}

// Ends reports whether a key must be withdrawn from its zone.
func (p *Progress) Ends(public []byte, created time.Time) bool {
	return p.Stage == Done && p.isOld(public, created)
}

// Incoming reports whether a key is the new key, and its DS record is not confirmed as the only one at the parent. A
// canceled Roll has no incoming key, because its target was offered before.
func (p *Progress) Incoming(public []byte, peers []Peer) bool {
	return p.isTarget(public) && !p.arrived(peers)
}

// Retiring reports whether a key is being replaced and the chain of trust no longer depends on it.
func (p *Progress) Retiring(public []byte, created time.Time, peers []Peer) bool {
	return p.isOld(public, created) && p.arrived(peers)
}

// arrived reports whether the DS record of the target is known or assumed to be the only one at the parent.
func (p *Progress) arrived(peers []Peer) bool {
	offeredAlone := len(p.Offer) == 1 && p.isTarget(p.Offer[0])
	return p.Stage > Offered || offeredAlone || !p.parentHas(peers).IsZero()
}

// Unsigned reports whether the zone is unsigned. It is false for a nil Progress, which means a zone that has always
// been signed.
func (p *Progress) Unsigned() bool { return p != nil && p.Goal == ToUnsigned && p.Stage >= Alone }

// AsksNoDS reports whether the signed zone requests removal of its DS records (RFC 8078 section 4).
func (p *Progress) AsksNoDS() bool { return p != nil && p.Goal == ToUnsigned && p.Stage == Offered }

// WithholdsDS reports whether the zone offers no key to the parent.
func (p *Progress) WithholdsDS() bool {
	return p != nil && (p.Goal == ToUnsigned || p.Goal == ToSigned && p.Stage < Offered)
}

func contains(keys [][]byte, public []byte) bool {
	return slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, public) })
}
