package dnssec

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// The flags and the protocol of all keys that are made or accepted here: zone key and secure entry point (RFC 4034
// section 2.1.1).
const (
	Flags    = dns.ZONE | dns.SEP
	protocol = 3 // RFC 4034 section 2.1.2
)

// State is the use of a key at a moment.
type State string

// The states of a key. A published key is in the DNSKEY RRset only; an active one may sign; a retired one is still
// published, so that signatures in caches validate, and no longer signs.
const (
	Published State = "published"
	Active    State = "active"
	Retired   State = "retired"
)

// Key is one signing key with its private part. It is immutable.
type Key struct {
	zone     string // canonical, with trailing dot
	tag      uint16
	public   []byte // as in its DNSKEY record
	private  secret
	created  time.Time
	activate time.Time // zero: at once
	inactive time.Time // zero: never
	origin   string
}

// Generate makes a new key for a zone. origin is the id of this node.
func Generate(a Algorithm, zone, origin string, now time.Time) (*Key, error) {
	private, err := a.generate()
	if err != nil {
		return nil, fmt.Errorf("generating a key for %s: %w", zone, err)
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

// Algorithm returns the algorithm by which the key signs.
func (k *Key) Algorithm() Algorithm { return k.private.algorithm() }

// Zone returns the apex of the key's zone, in lower case with a trailing dot.
func (k *Key) Zone() string { return k.zone }

// Tag returns the key tag (RFC 4034 appendix B).
func (k *Key) Tag() uint16 { return k.tag }

// Created returns the time when the key was made, in whole seconds.
func (k *Key) Created() time.Time { return k.created }

// Origin returns the id of the node that made the key, empty when its file does not say.
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

// DNSKEY returns the key's record at the apex.
func (k *Key) DNSKEY(ttl uint32) *dns.DNSKEY {
	return &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: k.zone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: ttl},
		Flags: Flags, Protocol: protocol, Algorithm: uint8(k.Algorithm()), PublicKey: k.PublicKey(),
	}
}

// DS returns the record for the parent zone: digest type 2, SHA-256 (RFC 4509).
func (k *Key) DS(ttl uint32) *dns.DS {
	return k.DNSKEY(ttl).ToDS(dns.SHA256)
}

// DSLine returns DS as a line of the parent's zone file, without TTL.
func (k *Key) DSLine() string {
	ds := k.DS(0)
	return fmt.Sprintf("%s IN DS %d %d %d %s", k.Zone(), ds.KeyTag, ds.Algorithm, ds.DigestType,
		strings.ToUpper(ds.Digest))
}

// sameTimes reports whether another copy of the key has the same use at all times.
func (k *Key) sameTimes(other *Key) bool {
	return slices.EqualFunc(k.times(), other.times(),
		func(a, b keyTime) bool { return a.name == b.name && a.at.Equal(b.at) })
}

// older orders keys by age, and keys of one age by tag. All nodes order alike, so that nodes with the same keys sign
// with the same one.
func older(a, b *Key) int {
	if c := a.created.Compare(b.created); c != 0 {
		return c
	}
	if a.tag != b.tag {
		return int(a.tag) - int(b.tag)
	}
	return slices.Compare(a.public, b.public)
}
