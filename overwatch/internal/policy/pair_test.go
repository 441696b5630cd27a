package policy_test

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/policy"
)

// dues creates a member from each word "address*parts".
func dues(words string) (d policy.Decision) {
	for word := range strings.FieldsSeq(words) {
		address, parts, _ := strings.Cut(word, "*")
		due := policy.Member{Address: netip.MustParseAddr(address)}
		fmt.Sscan(parts, &due.Parts)
		d.Members = append(d.Members, due)
	}
	return d
}

// The pairs contain each address of both families with its share, or there are no pairs.
func TestPair_KeepsTheSharesOfBothFamilies(t *testing.T) {
	huge := fmt.Sprint(math.MaxInt - 1)
	for _, c := range []struct{ v4, v6, want string }{
		{"10.0.0.1*5", "::1*70", "::1"},
		{"10.0.0.1*5 10.0.0.2*5", "::1*1 ::2*1", "::1 ::2"},
		{"10.0.0.1*10 10.0.0.2*90", "::1*900 ::2*100", "::2 ::1"},
		{"10.0.0.1*1 10.0.0.2*1 10.0.0.3*1 10.0.0.4*1", "::1*1 ::2*1", "::1 ::1 ::2 ::2"},
		{"10.0.0.1*1 10.0.0.2*2 10.0.0.3*1", "::2*1 ::3*1", "::3 ::2 ::3"},
		{"10.0.0.1*1 10.0.0.2*1", "::1*1 ::2*1 ::3*1", ""},
		{"10.0.0.1*1 10.0.0.2*1 10.0.0.3*1", "::1*1 ::2*1", ""},
		{"10.0.0.1*60 10.0.0.2*40", "::1*50 ::2*50", ""},
		{"10.0.0.1*1 10.0.0.2*" + huge, "::1*1 ::2*" + huge, ""},
		{"10.0.0.1*1", "", ""},
		{"", "::1*1", ""},
	} {
		v4, v6 := dues(c.v4), dues(c.v6)
		policy.PairFamilies(&v4, &v6)
		var got []string
		for _, d := range v4.Members {
			if d.PairedIPv6.IsValid() {
				got = append(got, d.PairedIPv6.String())
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q and %q: %q, want %q", c.v4, c.v6, got, c.want)
		}
	}
}

func TestPair_LeavesFamiliesThatAreServedApartAlone(t *testing.T) {
	for what, change := range map[string]func(v4, v6 *policy.Decision){
		"other group": func(_, v6 *policy.Decision) { v6.Group = "us" },
		"other TTL":   func(v4, _ *policy.Decision) { v4.TTL = 7 },
		"hashed":      func(_, v6 *policy.Decision) { v6.Hashed = true },
	} {
		v4, v6 := dues("10.0.0.1*1 10.0.0.2*1"), dues("::1*1 ::2*1")
		change(&v4, &v6)
		if policy.PairFamilies(&v4, &v6); v4.Members[0].PairedIPv6.IsValid() || v4.Members[1].PairedIPv6.IsValid() {
			t.Errorf("%s: %v", what, v4.Members)
		}
	}
}
