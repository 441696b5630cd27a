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

// maxAhead bounds how far in the future another node's key may have been made: as much as clocks may differ.
const maxAhead = 5 * time.Minute

// maxOrigin bounds the id of the node that made a key, in octets.
const maxOrigin = 128

// Holding is the set of keys that a node offers to other nodes. It contains private keys and must be encrypted in
// transit.
type Holding struct {
	Keys      []Portable  `json:"keys"`
	Withdrawn []Withdrawn `json:"withdrawn"`
	Rolls     []ZoneRoll  `json:"rolls,omitempty"`
	Ways      []ZoneRoll  `json:"ways,omitempty"` // apart: an older version refuses a roll without a key
}

// Portable is a key in a Holding.
type Portable struct {
	Zone        string    `json:"zone"` // with its trailing dot
	Tag         uint16    `json:"key_tag"`
	Flags       uint16    `json:"flags"`
	Algorithm   uint8     `json:"algorithm"`
	Public      []byte    `json:"public_key"`  // as in a DNSKEY record
	Private     []byte    `json:"private_key"` // as in key files
	Created     time.Time `json:"created"`
	Activate    time.Time `json:"activate,omitzero"` // zero: at once
	Inactive    time.Time `json:"inactive,omitzero"` // zero: never
	Origin      string    `json:"origin_node"`
	Provisional bool      `json:"provisional,omitempty"`
}

// Withdrawn is a key that was taken out of its zone.
type Withdrawn struct {
	Zone   string `json:"zone"`
	Public []byte `json:"public_key"`
}

// Export returns the keys of the zones that this node serves.
func (z *Zones) Export() (Holding, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	h := Holding{Keys: []Portable{}, Withdrawn: []Withdrawn{}}
	for _, apex := range sortedKeys(z.wanted) {
		for _, k := range z.keyring.Keys(apex) {
			p, err := k.portable()
			if err != nil {
				return Holding{}, err
			}
			p.Provisional = z.keyring.provisional(k)
			h.Keys = append(h.Keys, p)
		}
		if rec := z.keyring.records[apex]; rec != nil {
			if rec.Roll != nil {
				h.Rolls = append(h.Rolls, ZoneRoll{apex, *rec.Roll})
			}
			if rec.Way != nil {
				h.Ways = append(h.Ways, ZoneRoll{apex, *rec.Way})
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

// key returns another node's key after a check of every field.
func (p *Portable) key(now time.Time) (*Key, error) {
	if p.Flags != Flags {
		return nil, fmt.Errorf("has the flags %d; only %d are taken", p.Flags, Flags)
	}
	if err := Algorithm(p.Algorithm).known(); err != nil {
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
		return nil, errors.New("has a private key that is not that of its public one")
	case k.tag != p.Tag:
		return nil, fmt.Errorf("has the key tag %d", k.tag)
	case k.created.After(now.Add(maxAhead)):
		return nil, fmt.Errorf("was made at %s, which is in the future: compare the clocks of the nodes",
			k.created.Format(time.RFC3339))
	case !fits(k.created) || !fits(p.Activate) || !fits(p.Inactive):
		return nil, errors.New("has a time that no key file can hold")
	case len(p.Origin) > maxOrigin || strings.ContainsFunc(p.Origin, func(r rune) bool { return !unicode.IsPrint(r) }):
		return nil, errors.New("has an origin that is no node id")
	}
	k.activate, k.inactive = inSeconds(p.Activate), inSeconds(p.Inactive)
	return k, nil
}

// fits reports whether a time can be written into a key file; zero stands for none.
func fits(t time.Time) bool { return t.IsZero() || (t.Year() >= 1970 && t.Year() <= 9999) }

func inSeconds(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}

// Offer is the checked Holding of another node, for the zones that this node is to serve.
type Offer struct {
	keys      []offered
	withdrawn []Withdrawn
	rolls     map[string]*roll.Progress // by zone
	ways      map[string]*roll.Progress
	Ignored   int // keys of zones that this node does not serve
}

type offered struct {
	*Key
	provisional bool
}

// Check checks everything in a Holding. One fault rejects all of it, and the error names the fault.
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
		o.ways, err = z.checkRolls("way", h.Ways, now)
	}
	if err != nil {
		return Offer{}, err
	}
	for _, w := range h.Withdrawn {
		if zone, ok := z.serves(w.Zone); ok && len(o.withdrawn) < len(z.wanted)*maxWithdrawn {
			o.withdrawn = append(o.withdrawn, Withdrawn{zone, w.Public})
		}
	}
	return o, nil
}

// checkRolls checks the rolls, or the ways, in a Holding. The caller holds mu.
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
		if (r.Way == roll.ToKey) != (what == "roll") {
			return nil, fmt.Errorf("the %s of %s leads to %q", what, zone, r.Way)
		}
		all[zone] = &r.Progress
	}
	return all, nil
}

// serves reports whether this node is to serve a zone, and returns its canonical name. The caller holds mu.
func (z *Zones) serves(zone string) (string, bool) {
	if _, ok := dns.IsDomainName(zone); !ok {
		return "", false
	}
	zone = dns.CanonicalName(zone)
	return zone, z.wanted[zone]
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
