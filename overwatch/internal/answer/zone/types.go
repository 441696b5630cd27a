package zone

import (
	"net"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Type is a record type that steered names answer: one record for each address, or name, that was decided for.
type Type struct {
	Number uint16        // as in a question
	Family policy.Family // of the addresses: the decision for this family counts
	Length int           // octets of a record's data; 0: they differ
	// Of is the name in zone-file form whose decision gives the records; empty: the decision of the name that has the
	// type.
	Of string
	// Data appends the data of the record for an address of the family, or a name: Length octets.
	Data func(to []byte, due policy.Due) []byte
}

// AddressTypes are A and AAAA: the types that a steered name has unless Contents gives it others.
var AddressTypes = []*Type{
	{dns.TypeA, policy.IPv4, net.IPv4len, "", func(to []byte, due policy.Due) []byte {
		octets := due.Address.As4()
		return append(to, octets[:]...)
	}},
	{dns.TypeAAAA, policy.IPv6, net.IPv6len, "", func(to []byte, due policy.Due) []byte {
		octets := due.Address.As16()
		return append(to, octets[:]...)
	}},
}

// AliasTypes has the one type of a name whose answers are names (policy.Rules.Names): a CNAME, whatever is asked for.
// Such a name has no other records.
var AliasTypes = []*Type{
	{dns.TypeCNAME, policy.IPv4, 0, "", func(to []byte, due policy.Due) []byte {
		name, _ := canonicalName(due.Target) // which is checked where it is configured
		return append(to, name...)
	}},
}

// addressType returns the type of the records that hold addresses of a family.
func addressType(f policy.Family) *Type { return AddressTypes[f] }

// types returns the record types of a name of Steered.
func (c *Contents) types(name string) []*Type {
	if types := c.Types[name]; types != nil {
		return types
	}
	return AddressTypes
}

// undecided returns the candidates of types before the first decision: SERVFAIL.
func undecided(types []*Type) []candidates {
	list := make([]candidates, len(types))
	for i, t := range types {
		list[i].kind = t
	}
	return list
}

// has reports whether a name is steered with exactly these types.
func (a *answers) has(types []*Type) bool {
	return slices.EqualFunc(a.steered, types, func(c candidates, t *Type) bool { return c.kind == t })
}

// steeredAs returns the index in steered of a record type, -1 where the name is not steered with it. Where each family
// has an entry of the type, it is the first that has a record.
func (a *answers) steeredAs(rtype uint16) int {
	found := -1
	for i := range a.steered {
		switch {
		case a.steered[i].kind.Number != rtype:
		case a.steered[i].state != noData:
			return i
		case found < 0:
			found = i
		}
	}
	return found
}

// steeredFor returns the index in steered of the first type that follows from the decision for a family, -1 if there is
// none. An alias follows from both alike.
func (a *answers) steeredFor(f policy.Family) int {
	return slices.IndexFunc(a.steered, func(c candidates) bool {
		return c.kind.Family == f || c.kind.Number == dns.TypeCNAME
	})
}

// sameTypes reports whether two names are steered with the same types.
func sameTypes(a, b *owner) bool {
	return slices.EqualFunc(a.answers.Load().steered, b.answers.Load().steered,
		func(a, b candidates) bool { return a.kind == b.kind })
}
