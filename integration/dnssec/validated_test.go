package dnssec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// A signed answer is validated as a resolver does it: from the published DS to the zone's key, and from the key to each
// RRset. The test needs no other program, so every developer can run it. The other tests use independent validators.
func TestDNSSEC_ASignedAnswerIsValidated(t *testing.T) {
	s, n := signed.Site(t, "nsec")
	published := signed.DS(t, n)
	keys := signed.KeysOf(t, n, testbed.ZoneName)
	trusted := keys[:0]
	for _, key := range keys {
		if ds := key.ToDS(dns.SHA256); int(key.KeyTag()) == published.KeyTag &&
			strings.EqualFold(ds.Digest, published.Digest) {
			trusted = append(trusted, key)
		}
	}
	if len(trusted) != 1 {
		t.Fatalf("the DS %+v is that of %d of the keys %v", published, len(trusted), keys)
	}
	for name, rcode := range map[string]int{testbed.AppName: dns.RcodeSuccess,
		"nothing." + testbed.ZoneName: dns.RcodeNameError} {
		r := testbed.AskNode(t, n, "tcp", name, dns.TypeA, 1232, true)
		if count, err := signed.Verify(r, trusted, time.Now()); err != nil || count == 0 || r.Rcode != rcode {
			t.Errorf("%s: %s with %d signatures that hold, want %s: %v", name, dns.RcodeToString[r.Rcode], count,
				dns.RcodeToString[rcode], err)
		}
	}
	s.NoFailures(t, n, s.Began)
}
