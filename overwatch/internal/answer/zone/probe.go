package zone

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Probe is the answer to a question, for people.
type Probe struct {
	Kind      Kind
	Scope     uint8 // as in Answer
	Steered   Steered
	Records   []string     // of the answer section, in zone-file form
	Addresses []netip.Addr // in records of the question's type, or in the hints of HTTPS, in their order
	TTL       uint32       // of the last of that type, or of an alias without any, seconds
}

// ErrName is wrapped by errors about text that is not a domain name.
var ErrName = errors.New("not a domain name")

// ProbedType returns the number of a record type that steered names answer, by its name in capitals; 0 for other names.
func ProbedType(name string) uint16 {
	switch name {
	case "A", "AAAA", "HTTPS", "SRV":
		return dns.StringToType[name]
	}
	return 0
}

// Probe asks for the records of a ProbedType of a name in zone-file form, as a query from the client would. Steered is
// of the name whose decision it is. The turns are moved on, so they should not be those of a socket.
func (v *View) Probe(name string, rtype uint16, client netip.Addr, turns *Turns) (Probe, error) {
	q := Question{Type: rtype, Client: client}
	msg, err := q.pack(name)
	if err != nil {
		return Probe{}, fmt.Errorf("%w: %w", ErrName, err)
	}
	copy(msg[headerSize:], q.Name) // the records are shown in lower case
	r, err := v.resolve(msg, &q, turns)
	if err != nil {
		return Probe{}, err
	}
	p := Probe{Kind: r.Kind, Scope: r.Scope, Steered: r.Steered}
	p.note(r.Answer, rtype)
	if of := v.decidedBy(&q); of != nil {
		by, err := v.Probe(of.Of, addressType(of.Family).Number, client, turns)
		p.Steered = by.Steered
		return p, err
	}
	return p, nil
}

// decidedBy returns the type whose records follow from the decision for another name (Type.Of), nil if the question is
// for none.
func (v *View) decidedBy(q *Question) *Type {
	_, o, exact := v.enclose(q)
	if !exact {
		return nil
	}
	a := o.answers.Load()
	if which := a.steeredAs(q.Type); which >= 0 && a.steered[which].kind.Of != "" {
		return a.steered[which].kind
	}
	return nil
}

// note adds the records of an answer section.
func (p *Probe) note(answer []dns.RR, rtype uint16) {
	for _, rr := range answer {
		p.Records = append(p.Records, strings.ReplaceAll(rr.String(), "\t", " "))
		if own := rr.Header().Rrtype; own == rtype || own == dns.TypeCNAME {
			p.TTL = rr.Header().Ttl
		}
		switch rr := rr.(type) {
		case *dns.A:
			p.has(rtype == dns.TypeA, rr.A)
		case *dns.AAAA:
			p.has(rtype == dns.TypeAAAA, rr.AAAA)
		case *dns.HTTPS:
			for _, param := range rr.Value {
				switch hint := param.(type) {
				case *dns.SVCBIPv4Hint:
					p.has(p.Steered.Family == policy.IPv4, hint.Hint...)
				case *dns.SVCBIPv6Hint:
					p.has(p.Steered.Family == policy.IPv6, hint.Hint...)
				}
			}
		}
	}
}

// has adds addresses, if counts is true.
func (p *Probe) has(counts bool, list ...net.IP) {
	for _, ip := range list {
		if address, ok := netip.AddrFromSlice(ip); ok && counts {
			p.Addresses = append(p.Addresses, address.Unmap())
		}
	}
}
