package dnssec

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// The flags and protocol of all keys: zone key and secure entry point (RFC 4034 section 2.1.1).
const (
	Flags    = dns.ZONE | dns.SEP
	protocol = 3 // RFC 4034 section 2.1.2
)

// State is the use of a key at a point in time.
type State string

// The states of a key. A published key is only in the DNSKEY RRset. An active key may sign. A retired key does not
// sign, and remains published so that signatures in caches validate.
const (
	Published State = "published"
	Active    State = "active"
	Retired   State = "retired"
)

// Key is a signing key with its private part. It is immutable.
type Key struct {
	zone     string // canonical, with trailing dot
	tag      uint16
	public   []byte // in the format of a DNSKEY record
	private  secret
	created  time.Time
	activate time.Time // zero means immediately
	inactive time.Time // zero means never
	origin   string
}

// Generate creates a key for a zone. origin is the id of this node.
func Generate(a Algorithm, zone, origin string, now time.Time) (*Key, error) {
	private, err := a.generate()
	if err != nil {
		return nil, fmt.Errorf("generate a key for %s: %w", zone, err)
	}
	return newKey(zone, origin, private, now.UTC().Truncate(time.Second))
}

func newKey(zone, origin string, private secret, created time.Time) (*Key, error) {
	public, err := private.public()
	if err != nil {
		return nil, fmt.Errorf("public key of %s: %w", zone, err)
	}
	k := &Key{zone: dns.CanonicalName(zone), public: public, private: private, created: created, origin: origin}
	k.tag = k.DNSKEY(0).KeyTag()
	return k, nil
}

// Algorithm returns the signing algorithm of the key.
func (k *Key) Algorithm() Algorithm { return k.private.algorithm() }

// Zone returns the apex of the zone, in lower case with a trailing dot.
func (k *Key) Zone() string { return k.zone }

// Tag returns the key tag (RFC 4034 appendix B).
func (k *Key) Tag() uint16 { return k.tag }

// Created returns the creation time in whole seconds.
func (k *Key) Created() time.Time { return k.created }

// Origin returns the id of the node that created the key; "" if its file does not contain the id.
func (k *Key) Origin() string { return k.origin }

// PublicKey returns the public key field of the DNSKEY record in base64.
func (k *Key) PublicKey() string { return base64.StdEncoding.EncodeToString(k.public) }

// State returns the use of the key at the time now.
func (k *Key) State(now time.Time) State {
	switch {
	case !k.inactive.IsZero() && !now.Before(k.inactive):
		return Retired
	case now.Before(k.activate):
		return Published
	}
	return Active
}

// DNSKEY returns the DNSKEY record of the key. ttl is in seconds.
func (k *Key) DNSKEY(ttl uint32) *dns.DNSKEY {
	return &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: k.zone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: ttl},
		Flags: Flags, Protocol: protocol, Algorithm: uint8(k.Algorithm()), PublicKey: k.PublicKey(),
	}
}

// DS returns the DS record for the parent zone with digest type 2, SHA-256 (RFC 4509). ttl is in seconds.
func (k *Key) DS(ttl uint32) *dns.DS {
	return k.DNSKEY(ttl).ToDS(dns.SHA256)
}

// DSLine returns the DS record as a line of a zone file, without TTL.
func (k *Key) DSLine() string {
	ds := k.DS(0)
	return fmt.Sprintf("%s IN DS %d %d %d %s", k.Zone(), ds.KeyTag, ds.Algorithm, ds.DigestType,
		strings.ToUpper(ds.Digest))
}

// sameTimes reports whether another copy of the key has the same times.
func (k *Key) sameTimes(other *Key) bool {
	return slices.EqualFunc(k.times(), other.times(),
		func(a, b keyTime) bool { return a.name == b.name && a.at.Equal(b.at) })
}

// compareAge orders keys by age, then by tag. The order is equal on all nodes, so that nodes with equal keys sign with
// the same key.
func compareAge(a, b *Key) int {
	if c := a.created.Compare(b.created); c != 0 {
		return c
	}
	if a.tag != b.tag {
		return int(a.tag) - int(b.tag)
	}
	return slices.Compare(a.public, b.public)
}
