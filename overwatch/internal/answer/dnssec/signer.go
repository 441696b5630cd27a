package dnssec

import (
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Signatures are valid for 14 days and backdated by one day: a clock in the wrong time zone, here or at a resolver,
// differs by up to 14 hours. (BIND and Knot use an hour to one and a half, PowerDNS up to a week.) They are renewed
// from the seventh day on, distributed over one day.
const (
	backdated = 24 * time.Hour
	Validity  = 14 * 24 * time.Hour
	renewal   = 7 * 24 * time.Hour
	jitter    = 24 * time.Hour
)

// DefaultKeyTTL is the default TTL of DNSKEY, CDS and CDNSKEY records.
const DefaultKeyTTL = time.Hour

// Signer signs the RRsets of a zone with the keys that were active at its creation. It is immutable.
//
// All active keys sign all RRsets, so that answers validate with any of them: the DS record at the parent and cached
// DNSKEY records may belong to previous keys.
type Signer struct {
	zones     *Zones
	keys      []*Key // published keys, the oldest first
	active    []*Key // signing keys, never empty
	announced []*Key // active keys in CDS and CDNSKEY records: all except provisional keys
	asksNoDS  bool   // CDS and CDNSKEY records request removal of the DS records
	zone      string // apex
	name      []byte // apex in wire form
}

// newSigner returns the Signer of a zone that has keys.
func newSigner(z *Zones, zone string, now time.Time) (*Signer, error) {
	name, err := wireName(zone)
	if err != nil {
		return nil, err
	}
	s := &Signer{zones: z, keys: z.keyring.keys[zone], active: z.keyring.active(zone, z.heldKeyTTL(now), now),
		zone: zone, name: name}
	for _, k := range s.active {
		if !z.keyring.isProvisional(k) {
			s.announced = append(s.announced, k)
		}
	}
	if p := z.keyring.recordOf(zone).Roll; p != nil {
		s.keys = filterKeys(s.keys, p.Publishes)
		s.active = filterKeys(s.active, p.Signs)
		s.announced = filterKeys(s.announced, p.Offers)
	}
	if way := z.keyring.recordOf(zone).Transition; way.WithholdsDS() {
		s.announced, s.asksNoDS = nil, way.AsksNoDS()
	}
	return s, nil
}

// filterKeys returns the keys for which may returns true, or all keys if there are none.
func filterKeys(keys []*Key, may func(public []byte, created time.Time) bool) []*Key {
	left := slices.DeleteFunc(slices.Clone(keys), func(k *Key) bool { return !may(k.public, k.created) })
	if len(left) == 0 {
		return keys
	}
	return left
}

func (s *Signer) equal(other *Signer) bool {
	return slices.Equal(s.keys, other.keys) && slices.Equal(s.active, other.active) &&
		slices.Equal(s.announced, other.announced) && s.asksNoDS == other.asksNoDS
}

func (s *Signer) signsWith(k *Key) bool { return slices.Contains(s.active, k) }

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
			s.zones.log.Error().Err(err).Msg("signing an answer failed")
			return nil, time.Time{}, err
		}
		records = append(records, data)
	}
	s.zones.metrics.signatures.Add(float64(len(records)))
	return records, from.Add(renewal + spread(set)), nil
}

// spread returns a fraction of the jitter that depends on the RRset.
func spread(set zone.RRset) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write(set.Owner)
	_, _ = hash.Write([]byte{byte(set.Type >> 8), byte(set.Type)})
	for _, data := range set.RData {
		_, _ = hash.Write(data)
	}
	return time.Duration(hash.Sum32()) % (jitter / time.Second) * time.Second
}

// Records returns the key records of the apex: DNSKEY for all published keys, CDS and CDNSKEY for signing keys that are
// not provisional (RFC 7344). Before the removal of signatures, CDS and CDNSKEY request removal of the DS records.
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

// ttl returns the TTL of the key records in seconds.
func (s *Signer) ttl() uint32 { return uint32(s.zones.keyTTL / time.Second) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
