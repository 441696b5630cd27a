package dnsserver

import (
	"encoding/binary"
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

// asksWhy reports whether a question may be for an explanation.
func (r *request) asksWhy() bool {
	return r.question.Type == dns.TypeTXT && strings.HasPrefix(string(r.question.Name), whyLabel)
}

// explain replaces a negative answer behind the question in msg by an explanation, if the question is for one. A query
// with DO gets its ordinary answer: validators set it (RFC 4035 section 3.2.1), and an explanation is not signed.
func (r *responder) explain(msg []byte, answer *zone.Answer) []byte {
	q := r.request
	if r.why == nil || !q.asksWhy() || q.edns.do || answer.Kind == zone.Refused || answer.Kind == zone.Positive {
		return msg
	}
	name, _, err := dns.UnpackDomainName(msg, headerSize)
	if err != nil {
		return msg
	}
	subnet := q.edns.subnet != nil && q.edns.subnet[sourceOffset] > 0
	lines := r.why(name[len(whyLabel):], q.client(), q.from, subnet)
	if len(lines) == 0 {
		return msg
	}
	if subnet {
		q.edns.setScope(q.edns.subnet[sourceOffset])
	}
	msg = msg[:q.end]
	for _, line := range lines {
		if textSize(line) > cap(msg)-len(msg) {
			*answer = zone.Answer{Kind: zone.Positive, Truncated: true}
			return msg[:q.end]
		}
		msg = appendText(msg, line)
	}
	*answer = zone.Answer{Kind: zone.Positive, Answers: uint16(len(lines))}
	return msg
}

// maxText bounds one character string of a TXT record, in octets.
const maxText = 255

// fixedText is the length of a TXT record without its data, in octets: a pointer to the name, type, class, TTL and
// length of the data.
const fixedText = 2 + 2 + 2 + 4 + 2

// textSize returns the length of the TXT record of a line, in octets.
func textSize(line string) int { return fixedText + len(line) + max(1, (len(line)+maxText-1)/maxText) }

// appendText appends a TXT record of the question's name, with TTL 0: an explanation holds for this moment. A long line
// becomes several character strings.
func appendText(msg []byte, line string) []byte {
	const toQuestion = 0xC000 | headerSize
	msg = binary.BigEndian.AppendUint16(msg, toQuestion)
	msg = binary.BigEndian.AppendUint16(msg, dns.TypeTXT)
	msg = binary.BigEndian.AppendUint16(msg, dns.ClassINET)
	msg = binary.BigEndian.AppendUint32(msg, 0)
	msg = binary.BigEndian.AppendUint16(msg, uint16(textSize(line)-fixedText))
	for {
		n := min(len(line), maxText)
		msg = append(append(msg, byte(n)), line[:n]...)
		if line = line[n:]; line == "" {
			return msg
		}
	}
}
