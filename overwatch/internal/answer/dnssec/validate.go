package dnssec

import (
	"encoding/base64"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// validated is the result of the last Validate of a zone.
type validated struct {
	signer    *Signer   // signer of the zone at that time
	published []keyName // keys in the DNSKEY records
	signing   []keyName // keys with a valid signature in each RRset
}

// Signed returns the served zones that are signed.
func (z *Zones) Signed() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return sortedKeys(z.signers)
}

// Validate verifies the signatures of RRsets at the apex of a zone, like a resolver with the current or previous keys.
// keys contains the DNSKEY records; both sets include RRSIG records. Mismatches uses the result until the zone's keys
// change.
func (z *Zones) Validate(apex string, keys, other []dns.RR) {
	z.mu.Lock()
	signer, rec := z.signers[apex], z.keyring.recordOf(apex)
	if signer == nil {
		z.mu.Unlock()
		return
	}
	now := z.now()
	v := validated{signer: signer, published: publishedIn(keys)}
	candidates := append(namesOf(signer.keys), namesOf(signer.active)...)
	for _, p := range rec.Past {
		candidates = append(append(candidates, p.Published...), p.Signers...)
	}
	z.mu.Unlock() // verification takes up to a millisecond
	for _, k := range candidates {
		if !haveCommonKey(v.signing, []keyName{k}) && k.hasSigned(keys, now) && k.hasSigned(other, now) {
			v.signing = append(v.signing, k)
		}
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.validated[apex] = v
}

// publishedIn returns the keys of the DNSKEY records.
func publishedIn(records []dns.RR) (all []keyName) {
	for _, rr := range records {
		if k, is := rr.(*dns.DNSKEY); is {
			public, _ := base64.StdEncoding.DecodeString(k.PublicKey) // cannot fail: created by this node
			all = append(all, keyName{k.KeyTag(), public})
		}
	}
	return all
}

// hasSigned reports whether records contain a signature of the key that is valid at the time now.
func (n keyName) hasSigned(records []dns.RR, now time.Time) bool {
	var set []dns.RR
	var signatures []*dns.RRSIG
	for _, rr := range records {
		if s, is := rr.(*dns.RRSIG); is {
			signatures = append(signatures, s)
		} else {
			set = append(set, rr)
		}
	}
	return slices.ContainsFunc(signatures, func(s *dns.RRSIG) bool {
		key := &dns.DNSKEY{Hdr: dns.RR_Header{Name: s.SignerName, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET}, Flags: Flags,
			Protocol: protocol, Algorithm: s.Algorithm, PublicKey: base64.StdEncoding.EncodeToString(n.Public)}
		return s.KeyTag == n.Tag && s.ValidityPeriod(now) && s.Verify(key, set) == nil
	})
}
