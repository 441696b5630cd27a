package zonefile

import "github.com/miekg/dns"

// TypeName returns the name of a record type, such as AAAA or TYPE65280.
func TypeName(number uint16) string { return dns.Type(number).String() }

// WireName returns the text of a name in wire form, with the final dot. It returns "." for an invalid name.
func WireName(wire []byte) string {
	name, _, err := dns.UnpackDomainName(wire, 0)
	if err != nil {
		return "."
	}
	return name
}

// ParseType returns the number of a record type. name is in capitals. It returns 0 for an unknown type.
func ParseType(name string) uint16 { return dns.StringToType[name] }
