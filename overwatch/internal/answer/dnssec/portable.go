package dnssec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// maxAhead is the maximum time in the future at which a peer's key may have been created: the tolerance for clocks.
const maxAhead = 5 * time.Minute

// maxOrigin is the maximum length in octets of the id of the node that created a key.
const maxOrigin = 128

// Holding is the set of keys that a node offers to other nodes. It contains private keys and must be encrypted in
// transit.
type Holding struct {
	Keys      []Portable  `json:"keys"`
	Withdrawn []Withdrawn `json:"withdrawn"`
	Rolls     []ZoneRoll  `json:"rolls,omitempty"`
	Ways      []ZoneRoll  `json:"ways,omitempty"` // separate, because older versions reject a rollover without a key
}

// Portable is a key of a Holding.
type Portable struct {
	Zone        string    `json:"zone"` // with the trailing dot
	Tag         uint16    `json:"key_tag"`
	Flags       uint16    `json:"flags"`
	Algorithm   uint8     `json:"algorithm"`
	Public      []byte    `json:"public_key"`  // in the format of a DNSKEY record
	Private     []byte    `json:"private_key"` // in the format of key files
	Created     time.Time `json:"created"`
	Activate    time.Time `json:"activate,omitzero"` // zero means immediately
	Inactive    time.Time `json:"inactive,omitzero"` // zero means never
	Origin      string    `json:"origin_node"`
	Provisional bool      `json:"provisional,omitempty"`
}

// Withdrawn is a withdrawn key of a zone.
type Withdrawn struct {
	Zone   string `json:"zone"`
	Public []byte `json:"public_key"`
}

// Export returns the keys of the zones that this node serves.
func (z *Zones) Export() (Holding, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	h := Holding{Keys: []Portable{}, Withdrawn: []Withdrawn{}}
	for _, apex := range sortedKeys(z.expected) {
		for _, k := range z.keyring.Keys(apex) {
			p, err := k.portable()
			if err != nil {
				return Holding{}, err
			}
			p.Provisional = z.keyring.isProvisional(k)
			h.Keys = append(h.Keys, p)
		}
		if rec := z.keyring.records[apex]; rec != nil {
			if rec.Roll != nil {
				h.Rolls = append(h.Rolls, ZoneRoll{apex, *rec.Roll})
			}
			if rec.Transition != nil {
				h.Ways = append(h.Ways, ZoneRoll{apex, *rec.Transition})
			}
			for _, e := range rec.Entries {
				if !e.Withdrawn.IsZero() {
					h.Withdrawn = append(h.Withdrawn, Withdrawn{apex, e.Public})
				}
			}
		}
	}
	return h, nil
}

func (k *Key) portable() (Portable, error) {
	private, err := k.private.bytes()
	if err != nil {
		return Portable{}, fmt.Errorf("key %d of %s: %w", k.tag, k.zone, err)
	}
	return Portable{
		Zone: k.zone, Tag: k.tag, Flags: Flags, Algorithm: uint8(k.Algorithm()), Public: k.public,
		Private: private,
		Created: k.created, Activate: k.activate, Inactive: k.inactive, Origin: k.origin,
	}, nil
}

// key validates all fields and returns the key.
func (p *Portable) key(now time.Time) (*Key, error) {
	if p.Flags != Flags {
		return nil, fmt.Errorf("has the flags %d; only %d are accepted", p.Flags, Flags)
	}
	if err := Algorithm(p.Algorithm).validate(); err != nil {
		return nil, err
	}
	private, err := Algorithm(p.Algorithm).parse(p.Private)
	if err != nil {
		return nil, fmt.Errorf("has a private part that %w", err)
	}
	k, err := newKey(p.Zone, p.Origin, private, p.Created.UTC().Truncate(time.Second))
	switch {
	case err != nil:
		return nil, err
	case !slices.Equal(k.public, p.Public):
		return nil, errors.New("has a private key that does not belong to its public key")
	case k.tag != p.Tag:
		return nil, fmt.Errorf("has the key tag %d", k.tag)
	case k.created.After(now.Add(maxAhead)):
		return nil, fmt.Errorf("was created at %s, which is in the future: compare the clocks of the nodes",
			k.created.Format(time.RFC3339))
	case !fitsKeyFile(k.created) || !fitsKeyFile(p.Activate) || !fitsKeyFile(p.Inactive):
		return nil, errors.New("has a time outside the range of key files")
	case len(p.Origin) > maxOrigin || strings.ContainsFunc(p.Origin, func(r rune) bool { return !unicode.IsPrint(r) }):
		return nil, errors.New("has an origin that is no node id")
	}
	k.activate, k.inactive = truncateToSeconds(p.Activate), truncateToSeconds(p.Inactive)
	return k, nil
}

// fitsKeyFile reports whether a key file can represent a time. Zero means no time.
func fitsKeyFile(t time.Time) bool { return t.IsZero() || (t.Year() >= 1970 && t.Year() <= 9999) }

func truncateToSeconds(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}

// Offer is the validated Holding of another node, for the expected zones of this node.
type Offer struct {
	keys        []offered
	withdrawn   []Withdrawn
	rolls       map[string]*roll.Progress // by zone
	transitions map[string]*roll.Progress
	Ignored     int // number of keys of other zones
}

type offered struct {
	*Key
	provisional bool
}

// Check validates a Holding. A fault rejects the whole Holding, and the error names the fault.
func (z *Zones) Check(h Holding) (Offer, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	var o Offer
	now := z.now()
	count := make(map[string]int)
	for i := range h.Keys {
		p := &h.Keys[i]
		zone, ok := z.serves(p.Zone)
		if !ok {
			o.Ignored++
			continue
		}
		k, err := p.key(now)
		if err != nil {
			return Offer{}, fmt.Errorf("key %d of %s %w", p.Tag, zone, err)
		}
		if count[zone]++; count[zone] > MaxKeys {
			return Offer{}, fmt.Errorf("%s has more than %d keys", zone, MaxKeys)
		}
		o.keys = append(o.keys, offered{k, p.Provisional})
	}
	var err error
	if o.rolls, err = z.checkRolls("roll", h.Rolls, now); err == nil {
		o.transitions, err = z.checkRolls("way", h.Ways, now)
	}
	if err != nil {
		return Offer{}, err
	}
	for _, w := range h.Withdrawn {
		if zone, ok := z.serves(w.Zone); ok && len(o.withdrawn) < len(z.expected)*maxWithdrawn {
			o.withdrawn = append(o.withdrawn, Withdrawn{zone, w.Public})
		}
	}
	return o, nil
}

// checkRolls validates the rollovers or signing transitions of a Holding. The caller holds mu.
func (z *Zones) checkRolls(what string, list []ZoneRoll, now time.Time) (map[string]*roll.Progress, error) {
	all := make(map[string]*roll.Progress)
	for i := range list {
		r := &list[i]
		zone, ok := z.serves(r.Zone)
		if !ok {
			continue
		}
		if err := r.Valid(now); err != nil {
			return nil, fmt.Errorf("the %s of %s: %w", what, zone, err)
		}
		if (r.Goal == roll.ToKey) != (what == "roll") {
			return nil, fmt.Errorf("the %s of %s leads to %q", what, zone, r.Goal)
		}
		all[zone] = &r.Progress
	}
	return all, nil
}

// serves returns the canonical name of a zone, and whether the zone is expected. The caller holds mu.
func (z *Zones) serves(zone string) (string, bool) {
	if _, ok := dns.IsDomainName(zone); !ok {
		return "", false
	}
	zone = dns.CanonicalName(zone)
	return zone, z.expected[zone]
}

func (o *Offer) has(k *Key) bool { return o.offers(k.zone, k.public) }

func (o *Offer) offers(zone string, public []byte) bool {
	return slices.ContainsFunc(o.keys, func(other offered) bool {
		return other.zone == zone && slices.Equal(other.public, public)
	})
}

func (o *Offer) withdrew(k *Key) bool {
	return slices.ContainsFunc(o.withdrawn, func(w Withdrawn) bool {
		return w.Zone == k.zone &&
			slices.Equal(w.Public, k.public)
	})
}
