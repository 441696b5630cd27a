package zone

import (
	"net"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Type is a record type of load-balanced names. It has one record for each selected address or alias target.
type Type struct {
	Number uint16        // number of the type (RFC 1035 section 3.2.2)
	Family policy.Family // address family of the decision that selects the records
	Length int           // octets of a record's data; 0 if the length varies
	// DecisionOf is the name, in zone-file form, with the decision that selects the records. Empty means the name that
	// has the type.
	DecisionOf string
	// Data appends the data of the record for an address or alias target. Length is its number of octets.
	Data func(to []byte, due policy.Member) []byte
}

// AddressTypes are A and AAAA, the default types of a load-balanced name.
var AddressTypes = []*Type{
	{dns.TypeA, policy.IPv4, net.IPv4len, "", func(to []byte, due policy.Member) []byte {
		octets := due.Address.As4()
		return append(to, octets[:]...)
	}},
	{dns.TypeAAAA, policy.IPv6, net.IPv6len, "", func(to []byte, due policy.Member) []byte {
		octets := due.Address.As16()
		return append(to, octets[:]...)
	}},
}

// AliasTypes contains the only type of a name with alias targets as answers (policy.Rules.AnswerNames): a CNAME record,
// which answers questions of all types. Such a name has no other records.
var AliasTypes = []*Type{
	{dns.TypeCNAME, policy.IPv4, 0, "", func(to []byte, due policy.Member) []byte {
		name, _ := canonicalName(due.Target) // the configuration validates the target
		return append(to, name...)
	}},
}

// addressType returns the type of the address records of a family.
func addressType(f policy.Family) *Type { return AddressTypes[f] }

// typesOf returns the record types of a load-balanced name.
func (c *Contents) typesOf(name string) []*Type {
	if types := c.Types[name]; types != nil {
		return types
	}
	return AddressTypes
}

// newCandidates returns the candidates of types before the first decision. They answer SERVFAIL.
func newCandidates(types []*Type) []candidates {
	list := make([]candidates, len(types))
	for i, t := range types {
		list[i].kind = t
	}
	return list
}

// hasTypes reports whether the load-balanced types of the name are equal to types.
func (a *answers) hasTypes(types []*Type) bool {
	return slices.EqualFunc(a.balanced, types, func(c candidates, t *Type) bool { return c.kind == t })
}

// indexOfType returns the index in balanced of a record type; -1 if the name does not have the type. If both families
// have an entry of the type, it returns the first entry with a record.
func (a *answers) indexOfType(rtype uint16) int {
	found := -1
	for i := range a.balanced {
		switch {
		case a.balanced[i].kind.Number != rtype:
		case a.balanced[i].state != noData:
			return i
		case found < 0:
			found = i
		}
	}
	return found
}

// indexOfFamily returns the index in balanced of the first type that follows from the decision of a family; -1 if
// missing. An alias follows from both families.
func (a *answers) indexOfFamily(f policy.Family) int {
	return slices.IndexFunc(a.balanced, func(c candidates) bool {
		return c.kind.Family == f || c.kind.Number == dns.TypeCNAME
	})
}

// equalTypes reports whether two names have the same load-balanced types.
func equalTypes(a, b *owner) bool {
	return slices.EqualFunc(a.answers.Load().balanced, b.answers.Load().balanced,
		func(a, b candidates) bool { return a.kind == b.kind })
}
