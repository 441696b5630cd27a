package zone

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Probe is what a question is answered, for people.
type Probe struct {
	Kind      Kind
	Scope     uint8 // as in Answer
	Steered   Steered
	Records   []string     // of the answer section, in zone-file form
	Addresses []netip.Addr // of the question's family among them, in their order
	TTL       uint32       // of the last of these, or of an alias without any, seconds
}

// ErrName is wrapped where what was asked for is not a domain name.
var ErrName = errors.New("not a domain name")

// Probe asks for the addresses of a name in zone-file form, as a query from the client would: Append answers, or
// Resolve where Append leaves it to that. The turns are moved on, so they should not be those of a socket.
func (v *View) Probe(name string, family policy.Family, client netip.Addr, turns *Turns) (Probe, error) {
	key, err := canonicalName(name)
	if err != nil {
		return Probe{}, fmt.Errorf("%w: %w", ErrName, err)
	}
	q := Question{Name: []byte(key), Labels: key.labels(), Type: addressType(family).Number, Client: client}
	msg := append(make([]byte, headerSize, dns.MaxMsgSize), key...)
	msg = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(msg, q.Type), classIN)
	msg, answer := v.Append(msg, &q, turns)
	p := Probe{Kind: answer.Kind, Scope: answer.Scope, Steered: answer.Steered}
	if answer.Kind == Elsewhere {
		r := v.Resolve(key.String(), q.Type, false, client, turns)
		p = Probe{Kind: r.Kind, Scope: r.Scope, Steered: r.Steered}
		p.note(r.Answer, family)
		return p, nil
	}
	binary.BigEndian.PutUint16(msg[4:], 1)
	binary.BigEndian.PutUint16(msg[6:], answer.Answers)
	binary.BigEndian.PutUint16(msg[8:], answer.Authority)
	var m dns.Msg
	if err := m.Unpack(msg); err != nil {
		return Probe{}, fmt.Errorf("reading the answer for %s: %w", name, err)
	}
	p.note(m.Answer, family)
	return p, nil
}

func (p *Probe) note(answer []dns.RR, family policy.Family) {
	for _, rr := range answer {
		p.Records = append(p.Records, strings.ReplaceAll(rr.String(), "\t", " "))
		var address netip.Addr
		switch rr := rr.(type) {
		case *dns.CNAME:
			p.TTL = rr.Hdr.Ttl
		case *dns.A:
			address, _ = netip.AddrFromSlice(rr.A.To4())
		case *dns.AAAA:
			address, _ = netip.AddrFromSlice(rr.AAAA)
		}
		if address.IsValid() && family.Has(address) {
			p.Addresses = append(p.Addresses, address)
			p.TTL = rr.Header().Ttl
		}
	}
}
