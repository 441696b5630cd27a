package dnssec

import (
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Signatures hold for 14 days, beginning a day before they are made: a clock that is set to another time zone, here or
// at a resolver, is off by up to 14 hours. (BIND and Knot allow an hour and one and a half, PowerDNS up to a week.)
// Others take their place from the seventh day on, spread over a day.
const (
	backdated = 24 * time.Hour
	Validity  = 14 * 24 * time.Hour
	renewal   = 7 * 24 * time.Hour
	jitter    = 24 * time.Hour
)

// DefaultKeyTTL is the TTL of DNSKEY, CDS and CDNSKEY records where Options give none.
const DefaultKeyTTL = time.Hour

// Signer signs the RRsets of one zone with the keys that were active when it was made. It is immutable.
//
// All active keys sign everything, so that an answer holds whichever of them a resolver knows: the parent's DS, and a
// DNSKEY RRset in a cache, may be those from before a change.
type Signer struct {
	zones     *Zones
	keys      []*Key // all that are published, the oldest first
	active    []*Key // those that sign, never none
	announced []*Key // those of active in CDS and CDNSKEY: all but provisional ones
	asksNoDS  bool   // CDS and CDNSKEY ask the parent to have no DS record
	zone      string // its apex
	name      []byte // of the zone, in wire form
}

// newSigner makes the Signer of a zone that has keys.
func newSigner(z *Zones, zone string, now time.Time) (*Signer, error) {
	name, err := wireName(zone)
	if err != nil {
		return nil, err
	}
	s := &Signer{zones: z, keys: z.keyring.keys[zone], active: z.keyring.active(zone, z.heldKeyTTL(now), now),
		zone: zone, name: name}
	for _, k := range s.active {
		if !z.keyring.provisional(k) {
			s.announced = append(s.announced, k)
		}
	}
	if p := z.keyring.recordOf(zone).Roll; p != nil {
		s.keys = allowed(s.keys, p.Publishes)
		s.active = allowed(s.active, p.Signs)
		s.announced = allowed(s.announced, p.Offers)
	}
	if way := z.keyring.recordOf(zone).Way; way.WithholdsDS() {
		s.announced, s.asksNoDS = nil, way.AsksNoDS()
	}
	return s, nil
}

// allowed returns the keys that may accepts, or all keys if it accepts none.
func allowed(keys []*Key, may func(public []byte, created time.Time) bool) []*Key {
	left := slices.DeleteFunc(slices.Clone(keys), func(k *Key) bool { return !may(k.public, k.created) })
	if len(left) == 0 {
		return keys
	}
	return left
}

func (s *Signer) same(other *Signer) bool {
	return slices.Equal(s.keys, other.keys) && slices.Equal(s.active, other.active) &&
		slices.Equal(s.announced, other.announced) && s.asksNoDS == other.asksNoDS
}

func (s *Signer) uses(k *Key) bool { return slices.Contains(s.active, k) }

// Epoch implements zone.Signer.
func (s *Signer) Epoch() uint32 { return s.zones.epoch.Load() }

// Sign implements zone.Signer.
func (s *Signer) Sign(set zone.RRset) (records [][]byte, renew time.Time, err error) {
	now := s.zones.now()
	from := now.Add(-backdated)
	for _, k := range s.active {
		data, err := k.sign(s.name, set, Window{from, from.Add(Validity)})
		if err != nil {
			s.zones.metrics.failures.Inc()
			s.zones.failedAt.Store(s.zones.now().UnixNano())
			s.zones.log.Error().Err(err).Msg("an answer cannot be signed")
			return nil, time.Time{}, err
		}
		records = append(records, data)
	}
	s.zones.metrics.signatures.Add(float64(len(records)))
	return records, from.Add(renewal + spread(set)), nil
}

// spread returns a part of the jitter that differs from RRset to RRset.
func spread(set zone.RRset) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write(set.Owner)
	_, _ = hash.Write([]byte{byte(set.Type >> 8), byte(set.Type)})
	for _, data := range set.RData {
		_, _ = hash.Write(data)
	}
	return time.Duration(hash.Sum32()) % (jitter / time.Second) * time.Second
}

// Records returns the key records of the apex: DNSKEY for all keys, and CDS and CDNSKEY for those that sign and are
// not provisional (RFC 7344). A zone that is to lose its signatures asks with them for no DS record.
func (s *Signer) Records() []dns.RR {
	var all []dns.RR
	keyTTL := s.ttl()
	for _, k := range s.keys {
		all = append(all, k.DNSKEY(keyTTL))
	}
	for _, k := range s.announced {
		all = append(all, k.DS(keyTTL).ToCDS(), k.DNSKEY(keyTTL).ToCDNSKEY())
	}
	if s.asksNoDS {
		all = append(all, noDS(s.zone, keyTTL)...)
	}
	return all
}

// DS returns the records that the parent should have.
func (s *Signer) DS() []dns.RR {
	all := make([]dns.RR, len(s.announced))
	for i, k := range s.announced {
		all[i] = k.DS(s.ttl())
	}
	return all
}

// ttl returns the TTL of the key records, in seconds.
func (s *Signer) ttl() uint32 { return uint32(s.zones.keyTTL / time.Second) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
