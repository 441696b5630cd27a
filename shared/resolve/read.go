package resolve

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	// maxChain bounds the number of followed CNAME records.
	maxChain = 8
	// maxRead bounds the addresses of an answer. Callers have smaller bounds.
	maxRead = 4096
)

// found is the result of an answer for a name.
type found struct {
	addresses []netip.Addr // of a type, each once, sorted
	names     []string     // the name and the targets of its CNAME records, canonical
	ttl       time.Duration
}

// read returns the addresses in a reply and follows its CNAME records. A missing name or type results in no addresses
// and no error.
func read(reply *dns.Msg, name string, kind uint16) (f found, err error) {
	name = dns.CanonicalName(name)
	switch {
	case !reply.Response || reply.Opcode != dns.OpcodeQuery || len(reply.Question) != 1 ||
		dns.CanonicalName(reply.Question[0].Name) != name || reply.Question[0].Qtype != kind ||
		reply.Question[0].Qclass != dns.ClassINET:
		return f, fmt.Errorf("the answer is not for %s", name)
	case reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
		return f, fmt.Errorf("it answers %s", dns.RcodeToString[reply.Rcode])
	}
	ttl := uint32(1<<31 - 1)
	for range maxChain + 1 {
		f.names = append(f.names, strings.TrimSuffix(name, "."))
		next := ""
		for _, rr := range reply.Answer {
			h := rr.Header()
			if dns.CanonicalName(h.Name) != name || h.Class != dns.ClassINET {
				continue
			}
			switch rr := rr.(type) {
			case *dns.CNAME:
				next = dns.CanonicalName(rr.Target)
			case *dns.A:
				f.add(rr.A, kind == dns.TypeA)
			case *dns.AAAA:
				f.add(rr.AAAA, kind == dns.TypeAAAA)
			default:
				continue
			}
			ttl = min(ttl, h.Ttl)
		}
		if next == "" || len(f.addresses) > 0 {
			slices.SortFunc(f.addresses, netip.Addr.Compare)
			f.addresses, f.ttl = slices.Compact(f.addresses), time.Duration(ttl)*time.Second
			if len(f.addresses) == 0 {
				f.ttl = 0 // retry after MinTTL
			}
			return f, nil
		}
		name = next
	}
	return f, fmt.Errorf("more than %d CNAME records follow one another", maxChain)
}

func (f *found) add(octets []byte, wanted bool) {
	if a, ok := netip.AddrFromSlice(octets); ok && wanted && len(f.addresses) < maxRead {
		f.addresses = append(f.addresses, a.Unmap())
	}
}
