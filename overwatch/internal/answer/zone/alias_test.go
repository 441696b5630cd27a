package zone // inside: it shares view_test.go

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// A load-balanced alias answers queries of every type, is followed inside the zone, and has no other data.
func TestAlias_AnswersEveryTypeWithOneName(t *testing.T) {
	v := sample(t)
	for _, c := range []struct {
		name  string
		rtype uint16
		want  []string
	}{
		{"cdn.gslb.test.", dns.TypeA, []string{"positive", "cdn.gslb.test. CNAME a.cdn.example."}},
		{"CDN.gslb.test.", dns.TypeMX, []string{"positive", "CDN.gslb.test. CNAME other.cdn.example."}},
		{"cdn.gslb.test.", dns.TypeCNAME, []string{"positive", "cdn.gslb.test. CNAME a.cdn.example."}},
		{"cdn.gslb.test.", dns.TypeANY, []string{"positive", "cdn.gslb.test. CNAME a.cdn.example."}},
		{"cdn.gslb.test.", dns.TypeRRSIG, []string{"positive", "cdn.gslb.test. CNAME a.cdn.example."}},
		{"x.cdns.gslb.test.", dns.TypeHTTPS, []string{"positive",
			"x.cdns.gslb.test. CNAME a-name-that-is-longer-than-sixteen-octets.example."}},
		{"cdndown.gslb.test.", dns.TypeTXT, []string{"failed"}},
		{"tocdn.gslb.test.", dns.TypeA, []string{"positive", "tocdn.gslb.test. CNAME cdn.gslb.test.",
			"cdn.gslb.test. CNAME a.cdn.example."}},
		{"near.gslb.test.", dns.TypeA, []string{"positive", "near.gslb.test. CNAME dual.gslb.test.",
			"dual.gslb.test. A 10.0.1.1"}},
		{"near.gslb.test.", dns.TypeA, []string{"nxdomain", "near.gslb.test. CNAME nx.gslb.test."}},
		{"near.gslb.test.", dns.TypeCNAME, []string{"positive", "near.gslb.test. CNAME dual.gslb.test."}},
		{"near.gslb.test.", dns.TypeTXT, []string{"nodata", "near.gslb.test. CNAME dual.gslb.test."}},
	} {
		seen := ""
		turns := NewRotations(1, 1)
		if !slices.ContainsFunc(make([]int, 8), func(int) bool { // in one of the rotations
			r := v.Resolve(c.name, c.rtype, false, netip.Addr{}, turns)
			got := words(r)
			seen += "\n" + r.String()
			return slices.Equal(got, c.want)
		}) {
			t.Errorf("%s %s: never %q, but%s", c.name, dns.Type(c.rtype), c.want, seen)
		}
	}
}

// words returns the kind and the records of the answer as text.
func words(r Resolution) []string {
	list := []string{[]string{"positive", "nodata", "nxdomain", "refused", "failed"}[r.Kind]}
	for _, rr := range r.Answer {
		fields := dns.Copy(rr)
		fields.Header().Ttl = 0
		list = append(list, fields.Header().Name+" "+dns.Type(rr.Header().Rrtype).String()+" "+dns.Field(rr, 1))
	}
	return list
}

// A query that follows an alias advances the rotation of the alias once, so that shares are exact.
func TestAlias_ANameInsideTheZoneTakesOneTurn(t *testing.T) {
	v, turns, seen := sample(t), NewRotations(1, 1), map[string]int{}
	for range 400 {
		seen[dns.Field(v.Resolve("near.gslb.test.", dns.TypeA, false, netip.Addr{}, turns).Answer[0], 1)]++
	}
	for name, n := range seen {
		if n != 100 || len(seen) != 4 {
			t.Errorf("%s: %d of 400 answers, want 100: %v", name, n, seen)
		}
	}
}

// The denial proof of a load-balanced alias contains the type CNAME and no address type.
func TestAlias_DenialSaysCNAMEOnly(t *testing.T) {
	for way, denial := range denials {
		v, _ := signedSample(t, denial)
		l := v.zones["\x04gslb\x04test\x00"].chain.findLink("\x03cdn\x04gslb\x04test\x00")
		want := []uint16{dns.TypeCNAME, dns.TypeRRSIG}
		if denial == NSEC {
			want = append(want, dns.TypeNSEC)
		}
		if got := parseBitmap(l.types); !slices.Equal(got, want) {
			t.Errorf("%s: types %v, want %v", way, got, want)
		}
	}
}

// An alias to a name inside the zone is followed only for the clients of its region.
func TestAlias_InsideForOneRegionIsFollowed(t *testing.T) {
	v, w := sample(t), NewWriter()
	v.SetRegionTable(testPlaces(t))
	outside, inside := decide("a.cdn.example."), decide("dual.gslb.test.")
	for i := range 2 {
		outside[i].Group, inside[i].Group = "one", "other"
	}
	if _, err := w.SetRegionAnswers(v, "cdn.gslb.test.", [][2]policy.Decision{outside, outside, inside}, 1); err != nil {
		t.Fatal(err)
	}
	for client, want := range map[netip.Addr]int{clientA: 1, clientB: 2} {
		if r := v.Resolve("cdn.gslb.test.", dns.TypeA, false, client, NewRotations(1, 1)); len(r.Answer) != want {
			t.Errorf("%s: %v, want %d records", client, r, want)
		}
	}
}
