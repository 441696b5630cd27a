package route53

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// maxOctets is the maximum size of a file. By default, a zone in Route 53 has at most 10 000 records.
const maxOctets = 64 << 20

// recordSet is an entry of `aws route53 list-resource-record-sets`.
type recordSet struct {
	Name            string
	Type            string
	TTL             uint32
	ResourceRecords []struct{ Value string }
	AliasTarget     *struct {
		DNSName              string
		EvaluateTargetHealth bool
	}
	SetIdentifier           string
	Weight                  *int
	Region                  string
	Failover                string
	MultiValueAnswer        bool
	GeoLocation             *struct{ ContinentCode, CountryCode, SubdivisionCode string }
	GeoProximityLocation    *geoProximity
	CidrRoutingConfig       *struct{ LocationName string }
	HealthCheckId           string //nolint:revive // as in the JSON
	TrafficPolicyInstanceId string //nolint:revive // as in the JSON
}

type geoProximity struct {
	AWSRegion   string
	Bias        int
	Coordinates *struct{ Latitude, Longitude string }
}

func (s *recordSet) String() string {
	return strings.TrimSpace(s.Name + " " + s.Type + " " + s.SetIdentifier)
}

// routed reports whether Route 53 selects the answer: the set has a routing policy or is an alias.
func (s *recordSet) routed() bool { return s.SetIdentifier != "" || s.AliasTarget != nil }

// hasAddresses reports whether the records of the set are addresses.
func (s *recordSet) hasAddresses() bool { return s.Type == "A" || s.Type == "AAAA" }

// zoneData has the record sets of a hosted zone. Names are canonical.
type zoneData struct {
	zone   string
	sets   []*recordSet
	byName map[string][]*recordSet
}

func newZone(sets []*recordSet) (*zoneData, error) {
	z := &zoneData{byName: map[string][]*recordSet{}}
	for _, s := range sets {
		if s == nil {
			continue
		}
		name, err := fromOctal(s.Name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s.Name, err)
		}
		s.Name = dns.CanonicalName(name)
		if s.Type == "SOA" {
			z.zone = s.Name
		}
		z.sets = append(z.sets, s)
		z.byName[s.Name] = append(z.byName[s.Name], s)
	}
	if z.zone == "" {
		return nil, errors.New("there is no SOA: give the JSON of aws route53 list-resource-record-sets, of one zone")
	}
	return z, nil
}

func readJSON(from io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(from, maxOctets+1))
	if err != nil {
		return err
	}
	if len(text) > maxOctets {
		return fmt.Errorf("there are more than %d octets", maxOctets)
	}
	return json.Unmarshal(text, into)
}

// fromOctal converts the escapes in a name from the octal form of Route 53 to the decimal form of zone files.
func fromOctal(name string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' {
			b.WriteByte(name[i])
			continue
		}
		n, digits := 0, 0
		for ; digits < 3 && i+1+digits < len(name) && name[i+1+digits] >= '0' && name[i+1+digits] <= '7'; digits++ {
			n = 8*n + int(name[i+1+digits]-'0')
		}
		if digits < 3 || n > 255 {
			return "", errors.New("a backslash requires three octal digits, up to 377")
		}
		if i += 3; n == '*' {
			b.WriteByte('*')
			continue
		}
		fmt.Fprintf(&b, "\\%03d", n)
	}
	if _, ok := dns.IsDomainName(b.String()); !ok || b.Len() == 0 {
		return "", errors.New("it is no domain name")
	}
	return b.String(), nil
}

// escapes matches a backslash with its escape in a value.
var escapes = regexp.MustCompile(`(?s)\\([0-3][0-7]{2}|.)`)

// decimal converts the octal escapes in a value to the decimal form of zone files. Other escapes stay unchanged.
func decimal(value string) string {
	return escapes.ReplaceAllStringFunc(value, func(escape string) string {
		n, err := strconv.ParseUint(escape[1:], 8, 8)
		if len(escape) < 4 || err != nil {
			return escape
		}
		return fmt.Sprintf("\\%03d", n)
	})
}

// records returns the records of a set without routing.
func (s *recordSet) records() (out []dns.RR, err error) {
	for _, r := range s.ResourceRecords {
		value := decimal(strings.ReplaceAll(r.Value, "\n", " "))
		rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", s.Name, s.TTL, s.Type, value))
		if err != nil || rr == nil {
			return nil, fmt.Errorf("%q is no %s: %w", r.Value, s.Type, cmp.Or(err, errors.New("it is empty")))
		}
		out = append(out, rr)
	}
	return out, nil
}

// values returns the addresses of a set. It follows aliases and CNAME records within the zone. If they lead out of the
// zone, it returns the external name as target, without addresses. depth is the number of followed records.
func (z *zoneData) values(s *recordSet, depth int) (addresses []string, target string, err error) {
	name := ""
	switch {
	case depth > 8:
		return nil, "", errors.New("its aliases lead to one another")
	case s.AliasTarget != nil:
		name = s.AliasTarget.DNSName
	case s.Type == "CNAME" && len(s.ResourceRecords) == 1:
		name = s.ResourceRecords[0].Value
	default:
		for _, r := range s.ResourceRecords {
			addresses = append(addresses, r.Value)
		}
		return addresses, "", nil
	}
	if name, err = fromOctal(name); err != nil {
		return nil, "", err
	}
	if name = dns.CanonicalName(name); !dns.IsSubDomain(z.zone, name) {
		return nil, strings.TrimSuffix(name, "."), nil
	}
	for _, other := range z.byName[name] {
		if other.routed() {
			return nil, "", fmt.Errorf("it leads to %s, which is steered in turn", name)
		}
		if other.Type != s.Type && (s.Type != "CNAME" || !slices.Contains([]string{"A", "AAAA", "CNAME"}, other.Type)) {
			continue
		}
		more, out, err := z.values(other, depth+1)
		if err != nil || out != "" {
			return nil, out, err
		}
		addresses = append(addresses, more...)
	}
	if len(addresses) == 0 {
		return nil, "", fmt.Errorf("it leads to %s, which has no addresses", name)
	}
	return addresses, "", nil
}
