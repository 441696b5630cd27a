package publish // inside: it uses domain and newPlan

import (
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

// A zone is unsigned if it has only unsigned domains and no records. With RefuseMixed, a mixed zone is a problem unless
// it was already mixed.
func TestUnsigned_AZoneIsSignedAsAWholeOrNotAtAll(t *testing.T) {
	no, yes := new(bool), new(bool)
	*yes = true
	s := Settings{NodeID: "node-1", DNS: config.DNS{Zones: []config.Zone{
		{Name: "bare.test"}, {Name: "full.test", Records: []string{"@ TXT x"}}, {Name: "empty.test"}}}}
	for _, c := range []struct {
		domains []config.Domain
		signed  string // apexes of signed zones
		problem string
	}{
		{[]config.Domain{{Name: "a.bare.test"}, {Name: "b.test"}}, "b.test. bare.test. empty.test. full.test.", ""},
		{[]config.Domain{{Name: "a.bare.test", DNSSECEnabled: no}}, "empty.test. full.test.", ""},
		{[]config.Domain{{Name: "own.test", DNSSECEnabled: no}, {Name: "*.own.test", DNSSECEnabled: no}},
			"bare.test. empty.test. full.test.", ""},
		{[]config.Domain{{Name: "b.bare.test", DNSSECEnabled: yes}, {Name: "a.bare.test", DNSSECEnabled: no}},
			"bare.test. empty.test. full.test.",
			`domains[1].dnssec_enabled: "a.bare.test": dnssec_enabled is false, and an unsigned name cannot be inside a ` +
				`signed zone: bare.test. is signed as a whole or not at all, and it also has b.bare.test`},
		{[]config.Domain{{Name: "a.full.test", DNSSECEnabled: no}}, "bare.test. empty.test. full.test.",
			`domains[0].dnssec_enabled: "a.full.test": dnssec_enabled is false, and an unsigned name cannot be inside a ` +
				`signed zone: full.test. is signed as a whole or not at all, and it also has records of its own`},
	} {
		s.Domains, s.RefuseMixed = c.domains, false
		if problems := Check(s); len(problems) > 0 {
			t.Errorf("%v: %v where mixed zones are signed", c.domains, problems)
		}
		apexes := Apexes(s)
		slices.Sort(apexes)
		if got := strings.Join(apexes, " "); got != c.signed {
			t.Errorf("%v: signed are %s, want %s", c.domains, got, c.signed)
		}
		before := newPlan(s, nil, nil, false)
		known := map[string]*domain{}
		for _, d := range before.domains {
			known[d.service] = d
		}
		s.RefuseMixed = true
		problems := Check(s)
		if c.problem == "" && len(problems) > 0 || c.problem != "" && strings.TrimSpace(problems.Error()) != c.problem {
			t.Errorf("%v: %v, want %s", c.domains, problems, c.problem)
		}
		s.Domains = append(slices.Clone(c.domains), config.Domain{Name: "other.test"})
		if p := newPlan(s, before, known, false); len(p.problems) > 0 {
			t.Errorf("%v: another change is refused: %v", c.domains, p.problems)
		}
	}
}
