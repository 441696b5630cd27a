package zonefile

import "github.com/miekg/dns"

// ParseType returns the number of a record type. name is in capitals. It returns 0 for an unknown type.
func ParseType(name string) uint16 { return dns.StringToType[name] }
