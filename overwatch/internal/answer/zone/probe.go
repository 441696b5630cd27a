package zone

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
)

// Probe is the answer to a question, for operators.
type Probe struct {
	Kind      Kind
	Scope     uint8 // see Answer
	Selection Selection
	Records   []string     // records of the answer section in zone-file form
	Addresses []netip.Addr // addresses of the question's type, or from HTTPS hints, in answer order
	TTL       uint32       // TTL of the last record of the type, or of the alias, in seconds
}

// ErrName is wrapped by errors about invalid domain names.
var ErrName = errors.New("not a domain name")

// ParseProbeType returns the number of a record type that load-balanced names support. name is in capitals. It returns
// 0 for other names.
func ParseProbeType(name string) uint16 {
	if !slices.Contains(model.RecordTypes(), name) {
		return 0
	}
	return dns.StringToType[name]
}

// Probe resolves a name in zone-file form as a query of the client would. rtype is a result of ParseProbeType. The
// Selection of the result belongs to the name whose decision selected the records. Probe advances rotations, so the
// caller must not pass the Rotations of a socket.
func (v *View) Probe(name string, rtype uint16, client netip.Addr, rotations *Rotations) (Probe, error) {
	q := Question{Type: rtype, Client: client}
	msg, err := q.pack(name)
	if err != nil {
		return Probe{}, fmt.Errorf("%w: %w", ErrName, err)
	}
	copy(msg[headerSize:], q.Name) // records are displayed in lower case
	r, err := v.resolve(msg, &q, rotations)
	if err != nil {
		return Probe{}, err
	}
	p := Probe{Kind: r.Kind, Scope: r.Scope, Selection: r.Selection}
	p.addRecords(r.Answer, rtype)
	if of := v.borrowedType(&q); of != nil {
		by, err := v.Probe(of.DecisionOf, addressType(of.Family).Number, client, rotations)
		p.Selection = by.Selection
		return p, err
	}
	return p, nil
}

// borrowedType returns the type of the question if its records follow from the decision of another name
// (Type.DecisionOf), otherwise nil.
func (v *View) borrowedType(q *Question) *Type {
	_, o, exact := v.findEnclosing(q)
	if !exact {
		return nil
	}
	a := o.answers.Load()
	if which := a.indexOfType(q.Type); which >= 0 && a.balanced[which].kind.DecisionOf != "" {
		return a.balanced[which].kind
	}
	return nil
}

// addRecords adds the records of an answer section.
func (p *Probe) addRecords(answer []dns.RR, rtype uint16) {
	for _, rr := range answer {
		p.Records = append(p.Records, strings.ReplaceAll(rr.String(), "\t", " "))
		if own := rr.Header().Rrtype; own == rtype || own == dns.TypeCNAME {
			p.TTL = rr.Header().Ttl
		}
		switch rr := rr.(type) {
		case *dns.A:
			p.addAddresses(rtype == dns.TypeA, rr.A)
		case *dns.AAAA:
			p.addAddresses(rtype == dns.TypeAAAA, rr.AAAA)
		case *dns.HTTPS:
			for _, param := range rr.Value {
				switch hint := param.(type) {
				case *dns.SVCBIPv4Hint:
					p.addAddresses(p.Selection.Family == policy.IPv4, hint.Hint...)
				case *dns.SVCBIPv6Hint:
					p.addAddresses(p.Selection.Family == policy.IPv6, hint.Hint...)
				}
			}
		}
	}
}

// addAddresses adds addresses if counts is true.
func (p *Probe) addAddresses(counts bool, list ...net.IP) {
	for _, ip := range list {
		if address, ok := netip.AddrFromSlice(ip); ok && counts {
			p.Addresses = append(p.Addresses, address.Unmap())
		}
	}
}
