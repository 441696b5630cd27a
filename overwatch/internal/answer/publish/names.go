package publish

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// fqdn returns a name in the form of zones and records: lower case, with the final dot.
func fqdn(name string) string { return dns.CanonicalName(name) }

// parent returns a name without its first label, "" for the root.
func parent(name string) string {
	if name == "." {
		return ""
	}
	next, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[next:]
}

// nodeLabel returns the first label of this node's nameserver name: the first label of its id, with hyphens instead of
// invalid characters (RFC 1123 section 2.1).
func nodeLabel(nodeID string) string {
	label, _, _ := strings.Cut(strings.ToLower(nodeID), ".")
	label = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, label)
	if label = strings.Trim(label, "-"); label == "" {
		return "ns"
	}
	return label[:min(len(label), 63)]
}

// mailbox returns the domain name form of a mail address (RFC 1035 section 8). admin is the address or the name; ok is
// false if it is neither.
func mailbox(admin string) (name string, ok bool) {
	if local, host, found := strings.Cut(admin, "@"); found {
		escaped := strings.NewReplacer(`\`, `\\`, `.`, `\.`, `"`, `\"`, ` `, `\ `).Replace(local)
		if local == "" || !isHost(host) {
			return "", false
		}
		name = escaped + "." + dns.Fqdn(host)
	} else {
		name = dns.Fqdn(admin)
	}
	_, ok = dns.IsDomainName(name)
	return name, ok && name != "."
}

// isHost reports whether text is a name of at least two labels and no address.
func isHost(text string) bool {
	labels, ok := dns.IsDomainName(text)
	_, err := netip.ParseAddr(strings.TrimSuffix(text, "."))
	return ok && err != nil && labels >= 2
}
