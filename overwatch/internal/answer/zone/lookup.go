package zone

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/miekg/dns"
)

// Resolution is an answer as records, for callers that do not send the answer.
type Resolution struct {
	Kind      Kind
	Answer    []dns.RR
	Authority []dns.RR
	Scope     uint8   // as in Answer
	Steered   Steered // as in Answer
}

// Resolve returns the answer of Append to the question for a name in zone-file form. do asks for signatures and proofs;
// client is the client's address. The Kind is Refused for a name that is not a domain name, and Failed for an answer
// that cannot be read.
func (v *View) Resolve(name string, rtype uint16, do bool, client netip.Addr, turns *Turns) Resolution {
	q := Question{Type: rtype, DO: do, Client: client}
	msg, err := q.pack(name)
	if err != nil {
		return Resolution{Kind: Refused}
	}
	r, err := v.resolve(msg, &q, turns)
	if err != nil {
		return Resolution{Kind: Failed}
	}
	return r
}

// pack sets the name of the question to one in zone-file form. It returns a message with room for an answer that
// consists of a header and the question.
func (q *Question) pack(name string) ([]byte, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, err
	}
	q.Name, q.Labels = []byte(key), key.labels()
	msg := make([]byte, headerSize+len(key), dns.MaxMsgSize)
	if _, err := dns.PackDomainName(dns.Fqdn(name), msg, headerSize, nil, false); err != nil {
		return nil, fmt.Errorf("name %q: %w", name, err)
	}
	binary.BigEndian.PutUint16(msg[4:], 1)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(msg, q.Type), classIN), nil
}

// resolve returns the answer to a question, which msg holds.
func (v *View) resolve(msg []byte, q *Question, turns *Turns) (Resolution, error) {
	msg, answer := v.Append(msg, q, turns)
	binary.BigEndian.PutUint16(msg[6:], answer.Answers)
	binary.BigEndian.PutUint16(msg[8:], answer.Authority)
	var m dns.Msg
	if err := m.Unpack(msg); err != nil {
		return Resolution{}, fmt.Errorf("reading the answer for %s: %w", canonical(q.Name), err)
	}
	return Resolution{answer.Kind, m.Answer, m.Ns, answer.Scope, answer.Steered}, nil
}
