package zone

import (
	"fmt"

	"github.com/miekg/dns"
)

// compressible describes the data of record types with compressible names (RFC 3597 section 4): the number of octets
// before the names, and the number of names. The data of other types is copied unchanged.
var compressible = map[uint16]struct{ skip, names int }{
	dns.TypeNS:    {0, 1},
	dns.TypeCNAME: {0, 1},
	dns.TypePTR:   {0, 1},
	dns.TypeMX:    {2, 1},
	dns.TypeSOA:   {0, 2},
}

// dataOf returns the uncompressed data of a record in wire form.
func dataOf(rr dns.RR) ([]byte, error) {
	wire := make([]byte, dns.Len(rr)+1)
	end, err := dns.PackRR(rr, wire, 0, nil, false)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", rr, err)
	}
	owner := nameLength(wire)
	return wire[owner+fixedPart : end], nil
}

// fixedPart is the number of octets of type, class, TTL and data length of a record.
const fixedPart = 10

// nameLength returns the length of the uncompressed name at the start of wire.
func nameLength(wire []byte) int {
	n := 0
	for wire[n] != 0 {
		n += int(wire[n]) + 1
	}
	return n + 1
}

// canonicalContent returns the content (contentOf) of an RRset in canonical form.
func canonicalContent(records []dns.RR) (string, error) {
	data := make([][]byte, len(records))
	for i, rr := range records {
		var err error
		if data[i], err = dataOf(lowerRecordNames(rr)); err != nil {
			return "", err
		}
	}
	header := records[0].Header()
	return contentOf(header.Rrtype, header.Ttl, data), nil
}

// lowerRecordNames returns a copy of the record with the names of its data in lower case, for types that require it in
// signatures (RFC 4034 section 6.2, RFC 6840 section 5.1).
func lowerRecordNames(rr dns.RR) dns.RR {
	rr = dns.Copy(rr)
	switch rr := rr.(type) {
	case *dns.NS:
		lowerNames(&rr.Ns)
	case *dns.CNAME:
		lowerNames(&rr.Target)
	case *dns.SOA:
		lowerNames(&rr.Ns, &rr.Mbox)
	case *dns.PTR:
		lowerNames(&rr.Ptr)
	case *dns.MX:
		lowerNames(&rr.Mx)
	case *dns.SRV:
		lowerNames(&rr.Target)
	case *dns.NAPTR:
		lowerNames(&rr.Replacement)
	case *dns.RP:
		lowerNames(&rr.Mbox, &rr.Txt)
	case *dns.AFSDB:
		lowerNames(&rr.Hostname)
	case *dns.KX:
		lowerNames(&rr.Exchanger)
	case *dns.PX:
		lowerNames(&rr.Map822, &rr.Mapx400)
	case *dns.RT:
		lowerNames(&rr.Host)
	case *dns.MINFO:
		lowerNames(&rr.Rmail, &rr.Email)
	case *dns.MB:
		lowerNames(&rr.Mb)
	case *dns.MG:
		lowerNames(&rr.Mg)
	case *dns.MR:
		lowerNames(&rr.Mr)
	case *dns.MD:
		lowerNames(&rr.Md)
	case *dns.MF:
		lowerNames(&rr.Mf)
	}
	return rr
}

// lowerNames replaces names by their canonical form, which also lowers escaped letters (\077).
func lowerNames(names ...*string) {
	for _, name := range names {
		if c, err := canonicalName(*name); err == nil { // packing reports an invalid name
			*name = c.String()
		}
	}
}
