package imports

import (
	"strings"

	"github.com/miekg/dns"
)

// serve records that a name and all names above it exist in the result.
func (r *Result) serve(name string) {
	if r.names == nil {
		r.names = map[string]bool{}
	}
	for name = dns.CanonicalName(name); name != "." && !r.names[name]; name = parentOf(name) {
		r.names[name] = true
	}
}

func parentOf(name string) string {
	next, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[next:]
}

// Finish completes the reasons of omitted records. If the result has no other record of the name, the reason mentions
// the wildcard that now matches the name (RFC 4592). Importers call it last.
func (r *Result) Finish() {
	for i := range r.Left {
		name, _, _ := strings.Cut(r.Left[i].Record, " ")
		if _, valid := dns.IsDomainName(name); !valid || !strings.HasSuffix(name, ".") {
			continue // a setting
		}
		if wildcard := r.wildcardFor(dns.CanonicalName(name)); wildcard != "" {
			r.Left[i].Why += "; " + wildcard + " answers this name now: give it a record or a domain before you use the result"
		}
	}
}

// wildcardFor returns the wildcard that matches a name, or "" if no wildcard matches or the name exists.
func (r *Result) wildcardFor(name string) string {
	if r.names[name] {
		return ""
	}
	for above := parentOf(name); above != "."; above = parentOf(above) {
		if r.names["*."+above] {
			return "*." + above
		}
		if r.names[above] { // the closest existing name has no wildcard
			return ""
		}
	}
	return ""
}
