package zone

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/miekg/dns"
)

// Resolution is an answer as a list of records, for callers other than the DNS server.
type Resolution struct {
	Kind      Kind
	Answer    []dns.RR
	Authority []dns.RR
	Scope     uint8     // as in Answer
	Selection Selection // as in Answer
}

// Resolve returns the answer of Append for a name in zone-file form. do requests signatures and proofs. client is the
// client's address. The Kind is Refused for an invalid name, and Failed if the answer cannot be parsed.
func (v *View) Resolve(name string, rtype uint16, do bool, client netip.Addr, rotations *Rotations) Resolution {
	q := Question{Type: rtype, DO: do, Client: client}
	msg, err := q.pack(name)
	if err != nil {
		return Resolution{Kind: Refused}
	}
	r, err := v.resolve(msg, &q, rotations)
	if err != nil {
		return Resolution{Kind: Failed}
	}
	return r
}

// pack sets the name of the question. name is in zone-file form. pack returns a message with header and question, with
// capacity for the answer.
func (q *Question) pack(name string) ([]byte, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, err
	}
	q.Name, q.Labels = []byte(key), key.countLabels()
	msg := make([]byte, headerSize+len(key), dns.MaxMsgSize)
	if _, err := dns.PackDomainName(dns.Fqdn(name), msg, headerSize, nil, false); err != nil {
		return nil, fmt.Errorf("name %q: %w", name, err)
	}
	binary.BigEndian.PutUint16(msg[4:], 1)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(msg, q.Type), classIN), nil
}

// resolve returns the answer to a question. msg holds the packed question.
func (v *View) resolve(msg []byte, q *Question, rotations *Rotations) (Resolution, error) {
	msg, answer := v.Append(msg, q, rotations)
	binary.BigEndian.PutUint16(msg[6:], answer.Answers)
	binary.BigEndian.PutUint16(msg[8:], answer.Authority)
	var m dns.Msg
	if err := m.Unpack(msg); err != nil {
		return Resolution{}, fmt.Errorf("parse the answer for %s: %w", canonical(q.Name), err)
	}
	return Resolution{answer.Kind, m.Answer, m.Ns, answer.Scope, answer.Selection}, nil
}
