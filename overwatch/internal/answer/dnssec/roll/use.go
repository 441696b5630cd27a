package roll

import (
	"bytes"
	"slices"
	"time"
)

// old reports whether the Roll is to replace a key.
func (p *Progress) old(public []byte, created time.Time) bool {
	return !p.isTarget(public) && !created.After(p.Started)
}

func (p *Progress) isTarget(public []byte) bool { return bytes.Equal(p.Target, public) }

// Publishes reports whether a key belongs in the DNSKEY RRset. The Roll does not concern a key that was made after it
// began; such a key always does.
func (p *Progress) Publishes(public []byte, created time.Time) bool {
	switch {
	case p.isTarget(public):
		return p.Stage > Signing || contains(p.Before, public)
	case p.old(public, created):
		return contains(p.Before, public) && (p.Stage < Alone || !p.Algorithm)
	}
	return true
}

// Signs reports whether the Roll lets a key sign answers.
func (p *Progress) Signs(public []byte, created time.Time) bool {
	return p.Stage < Alone || p.Algorithm || !p.old(public, created)
}

// Offers reports whether the parent is to have a DS record of a key.
func (p *Progress) Offers(public []byte, created time.Time) bool {
	if p.Stage < Offered {
		return contains(p.Offer, public)
	}
	return !p.old(public, created)
}

// Ends reports whether a key is to be taken out of its zone.
func (p *Progress) Ends(public []byte, created time.Time) bool {
	return p.Stage == Done && p.old(public, created)
}

// Incoming reports whether a key is the new one, and neither the parent's servers nor an operator have said yet that
// its DS record is there alone. A roll that takes another back has none: its key is the one that was offered before.
func (p *Progress) Incoming(public []byte, peers []Peer) bool {
	return p.isTarget(public) && !p.arrived(peers)
}

// Retiring reports whether a key is to go, and the chain of trust no longer rests on it.
func (p *Progress) Retiring(public []byte, created time.Time, peers []Peer) bool {
	return p.old(public, created) && p.arrived(peers)
}

// arrived reports whether the parent is known, or can be assumed, to have the DS record of the target alone.
func (p *Progress) arrived(peers []Peer) bool {
	offeredAlone := len(p.Offer) == 1 && p.isTarget(p.Offer[0])
	return p.Stage > Offered || offeredAlone || !p.parentHas(peers).IsZero()
}

// Unsigned reports whether the zone is not signed. A nil Progress is that of a zone that was always signed.
func (p *Progress) Unsigned() bool { return p != nil && p.Way == ToUnsigned && p.Stage >= Alone }

// AsksNoDS reports whether the zone, which is signed, asks its parent to have no DS record (RFC 8078 section 4).
func (p *Progress) AsksNoDS() bool { return p != nil && p.Way == ToUnsigned && p.Stage == Offered }

// WithholdsDS reports whether no key of the zone is offered to the parent.
func (p *Progress) WithholdsDS() bool {
	return p != nil && (p.Way == ToUnsigned || p.Way == ToSigned && p.Stage < Offered)
}

func contains(keys [][]byte, public []byte) bool {
	return slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, public) })
}
