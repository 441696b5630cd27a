package zonefile

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// ParseSet returns an owner name and a type in canonical form: the name in lower case and without the final dot.
func ParseSet(name, rtype string) (canonicalName, canonicalType string, err error) {
	if _, ok := dns.IsDomainName(name); !ok || name == "" || strings.ContainsAny(name, " \t\n\r\";()$@") {
		return "", "", fmt.Errorf("name is %.260q: it must be a domain name", name)
	}
	wire := make([]byte, 256)
	if _, err := dns.PackDomainName(dns.Fqdn(name), wire, 0, nil, false); err != nil {
		return "", "", fmt.Errorf("name is %.260q: it must be a domain name", name)
	}
	plain, _, err := dns.UnpackDomainName(wire, 0)
	if err != nil {
		return "", "", fmt.Errorf("name is %.260q: it must be a domain name", name)
	}
	rtype = strings.ToUpper(rtype)
	number, known := dns.StringToType[rtype]
	if !known {
		if _, err := fmt.Sscanf(rtype, "TYPE%d", &number); err != nil || "TYPE"+strconv.Itoa(int(number)) != rtype {
			return "", "", fmt.Errorf("type is %.20q: it must be a record type, such as TXT or TYPE65280", rtype)
		}
	}
	return withoutDot(dns.CanonicalName(plain)), dns.Type(number).String(), nil
}

func withoutDot(name string) string {
	if name == "." {
		return name
	}
	return strings.TrimSuffix(name, ".")
}

// Parse returns the record with an owner name, type and data in zone-file form. Names are absolute, with or without the
// final dot. Parse rejects data whose canonical form is no data of the type: the library accepts some incomplete data.
func Parse(name, rtype, data string, ttl uint32) (dns.RR, error) {
	name, rtype, err := ParseSet(name, rtype)
	if err != nil {
		return nil, err
	}
	rr, err := parseData(name, rtype, data, ttl)
	if err != nil {
		return nil, err
	}
	_, _, canonical := Canonical(rr)
	again, err := parseData(name, rtype, canonical, ttl)
	if err != nil {
		return nil, fmt.Errorf("data is %.100q: not data of the type %s", data, rtype)
	}
	if _, _, text := Canonical(again); text != canonical {
		return nil, fmt.Errorf("data is %.100q: not data of the type %s", data, rtype)
	}
	return rr, nil
}

// parseData returns the record with a canonical owner name and type, and data in zone-file form.
func parseData(name, rtype, data string, ttl uint32) (dns.RR, error) {
	if strings.TrimSpace(data) == "" {
		return nil, fmt.Errorf("data is %.100q: %w", data, errNoData)
	}
	if strings.ContainsAny(data, "\n\r") {
		return nil, fmt.Errorf("data is %.100q: it must not have a line break", data)
	}
	text := fmt.Sprintf("%s %d IN %s %s", dns.Fqdn(name), ttl, rtype, data)
	parser := dns.NewZoneParser(strings.NewReader(text), ".", "")
	rr, ok := parser.Next()
	if err := parser.Err(); err != nil {
		return nil, fmt.Errorf("data is %.100q: not data of the type %s (%s)", data, rtype,
			strings.TrimPrefix(err.Error(), "dns: "))
	}
	if !ok || dns.Type(rr.Header().Rrtype).String() != rtype {
		return nil, fmt.Errorf("data is %.100q: not data of the type %s", data, rtype)
	}
	rr, err := Plain(rr)
	if err != nil {
		return nil, fmt.Errorf("data is %.100q: it cannot be sent: %s", data, strings.TrimPrefix(err.Error(), "dns: "))
	}
	return rr, nil
}

// errNoData is the fault of a record without data. The parser of zone files accepts it as in a message of RFC 2136.
var errNoData = errors.New("it has no data: write the data after the type")

// hasData reports whether a record has data. APL (RFC 3123) and unknown types may have empty data in messages.
func hasData(rr dns.RR) bool {
	switch rr := rr.(type) {
	case *dns.APL, *dns.RFC3597, *dns.EUI48, *dns.EUI64, *dns.UID, *dns.GID: // a number of 0 is data
		return true
	case *dns.SVCB: // its parser makes an empty list of parameters
		return rr.Target != ""
	case *dns.HTTPS:
		return rr.Target != ""
	}
	without := dns.Copy(rr)
	*without.Header() = dns.RR_Header{}
	value := reflect.ValueOf(without).Elem()
	return value.NumField() == 1 || !value.IsZero() // a type with a header only, such as ANY, is no type of data
}

// Plain returns a record with names in presentation form without unnecessary escapes, so that equal names have equal
// texts. It rejects a record without data, which resolvers reject together with the other records of the name and type.
func Plain(rr dns.RR) (dns.RR, error) {
	if !hasData(rr) {
		return nil, errNoData
	}
	wire := make([]byte, dns.Len(rr)+1)
	end, err := dns.PackRR(rr, wire, 0, nil, false)
	if err != nil {
		return nil, err
	}
	if rr, _, err = dns.UnpackRR(wire[:end], 0); err == nil && !hasData(rr) {
		err = errNoData
	}
	return rr, err
}

// Canonical returns the owner name, type and data of a record of Parse in canonical form: the name in lower case and
// without the final dot, and host names in the data in lower case.
func Canonical(rr dns.RR) (name, rtype, data string) {
	rr = dns.Copy(rr)
	switch rr := rr.(type) {
	case *dns.CNAME:
		rr.Target = dns.CanonicalName(rr.Target)
	case *dns.PTR:
		rr.Ptr = dns.CanonicalName(rr.Ptr)
	case *dns.MX:
		rr.Mx = dns.CanonicalName(rr.Mx)
	case *dns.SRV:
		rr.Target = dns.CanonicalName(rr.Target)
	case *dns.RFC3597: // String writes the class as CLASS1, which the header does not have
		return withoutDot(dns.CanonicalName(rr.Hdr.Name)), dns.Type(rr.Hdr.Rrtype).String(),
			fmt.Sprintf(`\# %d %s`, len(rr.Rdata)/2, strings.ToLower(rr.Rdata))
	}
	header := rr.Header()
	return withoutDot(dns.CanonicalName(header.Name)), dns.Type(header.Rrtype).String(),
		strings.TrimPrefix(rr.String(), header.String())
}
