package zone

import (
	"fmt"

	"github.com/miekg/dns"
)

// compressible says where names stand in the data of the types whose names may be compressed (RFC 3597 section 4):
// after how many octets, and how many. Data of other types is copied as it is.
var compressible = map[uint16]struct{ skip, names int }{
	dns.TypeNS:    {0, 1},
	dns.TypeCNAME: {0, 1},
	dns.TypePTR:   {0, 1},
	dns.TypeMX:    {2, 1},
	dns.TypeSOA:   {0, 2},
}

// dataOf is the uncompressed data of a record in wire form.
func dataOf(rr dns.RR) ([]byte, error) {
	wire := make([]byte, dns.Len(rr)+1)
	end, err := dns.PackRR(rr, wire, 0, nil, false)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", rr, err)
	}
	owner := nameLength(wire)
	return wire[owner+fixedPart : end], nil
}

// fixedPart is the length of type, class, TTL and data length in a record.
const fixedPart = 10

// nameLength is the length of the uncompressed name at the start of wire.
func nameLength(wire []byte) int {
	n := 0
	for wire[n] != 0 {
		n += int(wire[n]) + 1
	}
	return n + 1
}
