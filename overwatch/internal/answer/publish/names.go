package publish

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// fqdn is a name as zones and records use it: lower case, with its final dot.
func fqdn(name string) string { return dns.CanonicalName(name) }

// parent is the name without its first label, "" for the root.
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

// nodeLabel is the label of this node's own nameserver name: the first of its id, with a dash for what a host name
// cannot have (RFC 1123 section 2.1).
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

// mailbox turns a mail address, or a name that stands for one, into a name (RFC 1035 section 8). ok is false for
// neither.
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

// isHost says whether text is a name of at least two labels and not an address.
func isHost(text string) bool {
	labels, ok := dns.IsDomainName(text)
	_, err := netip.ParseAddr(strings.TrimSuffix(text, "."))
	return ok && err != nil && labels >= 2
}
