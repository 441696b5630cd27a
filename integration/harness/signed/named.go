package signed

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
)

// Named starts BIND as a validating resolver, with the key of a zone as its only trust anchor, and returns when BIND
// answers about that zone. BIND queries the given servers of each zone, and caches answers for their TTL.
func Named(t *testing.T, anchor *dns.DNSKEY, servers map[string][]netip.AddrPort) *Resolver {
	t.Helper()
	zones := ""
	for _, zone := range slices.Sorted(maps.Keys(servers)) {
		zones += fmt.Sprintf("zone %q { type forward; forward only; forwarders {", zone)
		for _, s := range servers[zone] {
			zones += fmt.Sprintf(" %s port %d;", s.Addr(), s.Port())
		}
		zones += " }; };\n"
	}
	zones += fmt.Sprintf("trust-anchors { %s static-key %d %d %d %q; };\n", anchor.Hdr.Name, anchor.Flags,
		anchor.Protocol, anchor.Algorithm, anchor.PublicKey)
	program := testbed.Judge(t, "named")
	return started(t, anchor.Hdr.Name, true, func(dir string, at netip.AddrPort) *Server {
		path := filepath.Join(dir, "named.conf")
		testbed.Write(t, path, 0o600, fmt.Sprintf(`
options {
  directory %[1]q;
  managed-keys-directory %[1]q;
  pid-file none;
  session-keyfile none;
  listen-on port %[2]d { %[3]s; };
  listen-on-v6 { none; };
  dnssec-validation yes;
  empty-zones-enable no;
  trust-anchor-telemetry no;
  servfail-ttl 0;
  lame-ttl 0;
  prefetch 0;
};
controls { };
logging { category default { default_stderr; }; category lame-servers { null; }; };
`, dir, at.Port(), at.Addr())+zones)
		return StartServer(t, program, "-f", "-c", path)
	})
}

// Refuses queries a resolver that does not report the cause of a failure, such as BIND 9.18. It returns an error if the
// resolver returns an answer only with CD set. A timeout is not an error. secure reports whether the answer was
// validated.
func (r *Resolver) Refuses(name string, rtype uint16) (secure bool, err error) {
	const often = 3 // a busy machine, or a change in the middle of the proof
	for range often {
		var reply *dns.Msg
		if reply, err = r.Ask(name, rtype); reply == nil || reply.Rcode != dns.RcodeServerFailure {
			return err == nil, nil
		}
		q := new(dns.Msg).SetQuestion(dns.Fqdn(name), rtype)
		q.CheckingDisabled = true
		if unchecked, _, _ := r.client.Exchange(q, r.At); unchecked == nil || unchecked.Rcode == dns.RcodeServerFailure {
			return false, nil
		}
	}
	return false, fmt.Errorf("unchecked, there is an answer: %w", err)
}
