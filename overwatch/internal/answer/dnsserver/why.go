package dnsserver

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// whyLabel in front of a name asks why the name is answered as it is. It is no host name (RFC 8552), so nobody's record
// is in its way but one that somebody put there.
const whyLabel = "\x04_why"

// Why says, in lines, why a name is answered as it is: to whom, who asks for that, and whether the former is what the
// asker's client subnet option says. It returns nil where the asker shall not know, or there is nothing to say. It must
// not block.
type Why func(name string, client, asker netip.Addr, subnet bool) []string

// asksWhy says whether a question may be for an explanation, which takes the slow path.
func (r *request) asksWhy() bool {
	return r.question.Type == dns.TypeTXT && strings.HasPrefix(string(r.question.Name), whyLabel)
}

// explain replaces the answer that there is nothing of the name by an explanation. Those who ask for signatures get
// what they would get without all this: a validator always does (RFC 4035 section 3.2.1), so it never sees an answer
// that is not signed.
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

// maxText is the length of one character string of a TXT record, before what must be escaped in zone-file form is.
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
