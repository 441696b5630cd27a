package dnsserver

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// whyLabel is the label that asks why the name behind it is answered as it is. It is no host name (RFC 8552), so no
// other record has it unless an operator has made one.
const whyLabel = "\x04_why"

// Why returns the lines that explain the answer of a name to a client. asker is the sender of the question, and subnet
// reports that client comes from its client subnet option. It returns nil if the asker may not know or the name is not
// steered. It must not block.
type Why func(name string, client, asker netip.Addr, subnet bool) []string

// asksWhy reports whether a question may be for an explanation, which takes the slow path.
func (r *request) asksWhy() bool {
	return r.question.Type == dns.TypeTXT && strings.HasPrefix(string(r.question.Name), whyLabel)
}

// explain replaces a negative answer by an explanation. A query with DO gets its ordinary answer: validators set it
// (RFC 4035 section 3.2.1), and an explanation is not signed.
func (r *responder) explain(resolution *zone.Resolution, name string) {
	q := r.request
	if r.why == nil || !q.asksWhy() || q.edns.do || resolution.Kind == zone.Refused || resolution.Kind == zone.Positive {
		return
	}
	subnet := q.edns.subnet != nil && q.edns.subnet[sourceOffset] > 0
	lines := r.why(name[len(whyLabel):], q.client(), q.from, subnet)
	if len(lines) == 0 {
		return
	}
	if subnet {
		q.edns.scoped(q.edns.subnet[sourceOffset])
	}
	resolution.Kind, resolution.Answer, resolution.Authority = zone.Positive, nil, nil
	for _, line := range lines {
		resolution.Answer = append(resolution.Answer, &dns.TXT{
			Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, // TTL 0: it holds for this moment
			Txt: texts(line),
		})
	}
}

// maxText bounds one character string of a TXT record, in octets without the escapes of zone-file form.
const maxText = 255

// texts cuts a line into the character strings of a record.
func texts(line string) (all []string) {
	for len(line) > 0 {
		n := min(len(line), maxText)
		all = append(all, strings.ReplaceAll(line[:n], `\`, `\\`))
		line = line[n:]
	}
	return all
}
