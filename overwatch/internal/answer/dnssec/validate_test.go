package dnssec // inside: it signs with the private parts of keys

import (
	"testing"
	"time"

	"github.com/miekg/dns"
)

// signed returns an RRset with a signature by each key, valid for an hour around the time at.
func signed(t *testing.T, set []dns.RR, at time.Time, keys ...*Key) []dns.RR {
	t.Helper()
	all := set
	for _, k := range keys {
		sig := &dns.RRSIG{Algorithm: uint8(k.Algorithm()), KeyTag: k.tag, SignerName: k.zone,
			Inception: uint32(at.Add(-time.Hour).Unix()), Expiration: uint32(at.Add(time.Hour).Unix())}
		if err := sig.Sign(k.private.(ecSecret), set); err != nil {
			t.Fatal(err)
		}
		all = append(all[:len(all):len(all)], sig)
	}
	return all
}

// An invalid signature is treated as missing, for current keys and for keys in caches.
func TestValidate_SignaturesCount(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	first := w.signer(t).active[0]
	w.time = w.time.Add(24 * time.Hour)
	second := w.another(t)
	w.put(t, second)
	w.reread(t)
	soa := []dns.RR{&dns.SOA{Hdr: dns.RR_Header{Name: apex, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60},
		Ns: "ns." + apex, Mbox: "hostmaster." + apex}}
	keys := []dns.RR{first.DNSKEY(60), second.DNSKEY(60)}
	other := []dns.RR{first.DNSKEY(61)} // its signature is invalid for keys
	forged := append(signed(t, keys, w.time, second), signed(t, other, w.time, first)[1:]...)
	for _, c := range []struct {
		when           string
		keys, soa      []dns.RR
		want, andAfter string
	}{
		{"both sign", signed(t, keys, w.time, first, second), signed(t, soa, w.time, first, second), "", ""},
		{"one signature does not fit", forged, signed(t, soa, w.time, first, second), "no valid signature by it", ""},
		{"one key does not sign the SOA record", signed(t, keys, w.time, first, second), signed(t, soa, w.time, second),
			"DNSKEY records with only " + tagList(namesOf([]*Key{first})), ""},
		{"one signature has expired", signed(t, keys, w.time, first, second),
			append(signed(t, soa, w.time, second), signed(t, soa, w.time.Add(-2*time.Hour), first)[1:]...),
			"no valid signature by it", ""},
		{"all have expired", signed(t, keys, w.time.Add(-2*time.Hour), first, second),
			signed(t, soa, w.time, first, second), "by a published key", "by a published key"},
		{"the published key does not sign", signed(t, keys[:1], w.time, second), signed(t, soa, w.time, second),
			"by a published key", "by a published key"},
	} {
		w.Validate(apex, c.keys, c.soa)
		w.mismatchedNow(t, c.when, c.want)
		w.time = w.time.Add(DefaultKeyTTL)
		w.mismatchedNow(t, c.when+", after the TTL", c.andAfter)
		w.time = w.time.Add(-DefaultKeyTTL)
	}
	w.drop(t, second, publicEnding, privateEnding)
	w.reread(t)
	w.mismatched(t, "a resolver knows the key that is left", "")
}
