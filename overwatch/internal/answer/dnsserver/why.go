package dnsserver

import (
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// whyLabel is the first label of an explanation query for the name after it. The label starts with an underscore (RFC
// 8552), so it cannot be a host name.
const whyLabel = "\x04_why"

// ExplainFunc returns the lines that explain the answer of a name for a client. asker is the source of the query.
// subnet is true if client is from the client subnet option. It returns nil if asker is not authorized or the name is
// not load-balanced. It must not block.
type ExplainFunc func(name string, client, asker netip.Addr, subnet bool) []string

// isExplanationQuery reports whether the question is a TXT query with whyLabel.
func (r *request) isExplanationQuery() bool {
	return r.question.Type == dns.TypeTXT && strings.HasPrefix(string(r.question.Name), whyLabel)
}

// appendExplanation replaces a negative answer in msg by an explanation, for an explanation query. A query with the DO
// bit receives its normal answer: validators set the bit (RFC 4035 section 3.2.1), and explanations have no signatures.
func (r *responder) appendExplanation(msg []byte, answer *zone.Answer) []byte {
	q := r.request
	if r.explain == nil || !q.isExplanationQuery() || q.edns.do || answer.Kind == zone.Refused ||
		answer.Kind == zone.Positive {
		return msg
	}
	name, _, err := dns.UnpackDomainName(msg, headerSize)
	if err != nil {
		return msg
	}
	subnet := q.edns.subnet != nil && q.edns.subnet[sourceOffset] > 0
	lines := r.explain(name[len(whyLabel):], q.client(), q.from, subnet)
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

// maxText is the maximum size of a character string of a TXT record in octets (RFC 1035 section 3.3).
const maxText = 255

// fixedText is the length in octets of a TXT record without data: pointer to the name, type, class, TTL and data
// length.
const fixedText = 2 + 2 + 2 + 4 + 2

// textSize returns the length in octets of the TXT record of a line.
func textSize(line string) int { return fixedText + len(line) + max(1, (len(line)+maxText-1)/maxText) }

// appendText appends a TXT record of the question's name. Its TTL is 0, because the explanation is valid only now. A
// long line is split into several character strings.
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
