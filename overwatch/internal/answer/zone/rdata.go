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

// fixedPart is the octets of type, class, TTL and data length in a record.
const fixedPart = 10

// nameLength returns the length of the uncompressed name at the start of wire.
func nameLength(wire []byte) int {
	n := 0
	for wire[n] != 0 {
		n += int(wire[n]) + 1
	}
	return n + 1
}

// canonicalContent returns the content of an RRset (contentOf) in canonical form.
func canonicalContent(records []dns.RR) (string, error) {
	data := make([][]byte, len(records))
	for i, rr := range records {
		var err error
		if data[i], err = dataOf(canonicalCase(rr)); err != nil {
			return "", err
		}
	}
	header := records[0].Header()
	return contentOf(header.Rrtype, header.Ttl, data), nil
}

// canonicalCase returns the record with the names in its data in lower case, where signatures need that (RFC 4034
// section 6.2, RFC 6840 section 5.1).
func canonicalCase(rr dns.RR) dns.RR {
	rr = dns.Copy(rr)
	switch rr := rr.(type) {
	case *dns.NS:
		lowerAll(&rr.Ns)
	case *dns.CNAME:
		lowerAll(&rr.Target)
	case *dns.SOA:
		lowerAll(&rr.Ns, &rr.Mbox)
	case *dns.PTR:
		lowerAll(&rr.Ptr)
	case *dns.MX:
		lowerAll(&rr.Mx)
	case *dns.SRV:
		lowerAll(&rr.Target)
	case *dns.NAPTR:
		lowerAll(&rr.Replacement)
	case *dns.RP:
		lowerAll(&rr.Mbox, &rr.Txt)
	case *dns.AFSDB:
		lowerAll(&rr.Hostname)
	case *dns.KX:
		lowerAll(&rr.Exchanger)
	case *dns.PX:
		lowerAll(&rr.Map822, &rr.Mapx400)
	case *dns.RT:
		lowerAll(&rr.Host)
	case *dns.MINFO:
		lowerAll(&rr.Rmail, &rr.Email)
	case *dns.MB:
		lowerAll(&rr.Mb)
	case *dns.MG:
		lowerAll(&rr.Mg)
	case *dns.MR:
		lowerAll(&rr.Mr)
	case *dns.MD:
		lowerAll(&rr.Md)
	case *dns.MF:
		lowerAll(&rr.Mf)
	}
	return rr
}

// lowerAll brings names into canonical form, in which letters that are written as numbers (\077) are letters, too.
func lowerAll(names ...*string) {
	for _, name := range names {
		if c, err := canonicalName(*name); err == nil { // else the record cannot be packed
			*name = c.String()
		}
	}
}
