package explain // inside: it shares explain_test.go

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// byName returns the rules of a name whose answers are target names.
var byName = policy.Rules{Algorithm: policy.Weighted, AnswerNames: true, TTL: 30}

// cdn changes the candidates of past. Two targets with the same address, as of CDNs, have the weights 90 and 10, and a
// third target is at the failed address.
func cdn(c []policy.Candidate) {
	for i, target := range []string{"a.cdn.test.", "b.cdn.test.", "c.cdn.test."} {
		c[i].Address, c[i].Port, c[i].Target = netip.MustParseAddr("10.0.0.1"), uint16(1+i), target
	}
	c[0].Weight, c[1].Weight, c[2].MayServe = 90, 10, false
}

func TestPast_TargetsOfOneAddressHaveTheirOwnShares(t *testing.T) {
	e := past(byName, false, cdn)
	text := told(e)
	for _, words := range []string{
		"|10.0.0.1 0.90 |10.0.0.1 0.10 |",
		"weight 10.0.0.1:1 (a.cdn.test.) 90: 90.0 % of these answers",
		"weight 10.0.0.1:2 (b.cdn.test.) 10: 10.0 % of these answers",
		"if 10.0.0.1:3 (c.cdn.test.) were up: success with a.cdn.test. 45.0%, b.cdn.test. 5.0%, c.cdn.test. 50.0%",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in\n%s", words, strings.ReplaceAll(text, "|", "\n"))
		}
	}
	for lead := range 2 {
		e := ExplainPast(e.Query, zone.Selection{Input: e.Basis, Lead: uint16(lead)})
		if selected := e.Selected(); selected != &e.Backends[lead] {
			t.Errorf("the answer %s comes from %+v", e.Basis.Candidates[lead].Target, selected)
		}
	}
}

// cdnView returns a view in which the target names of a decision input are the answers of app.test.
func cdnView(t *testing.T, basis *policy.DecisionInput) *zone.View {
	t.Helper()
	soa := &dns.SOA{Hdr: dns.RR_Header{Name: "test.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 300}, Ns: "ns.",
		Mbox: "m."}
	view, err := zone.New([]*zone.Contents{{Apex: "test.", SOA: soa, Balanced: []string{"app.test."},
		Types: map[string][]*zone.Type{"app.test.": zone.AliasTypes}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := basis.Decide(policy.IPv4, policy.ClientLocation{})
	if _, err := zone.NewWriter().SetAnswers(view, "app.test.", [2]policy.Decision{d, d}, 1); err != nil {
		t.Fatal(err)
	}
	return view
}

func TestExplain_SelectsTheTargetThatIsAnswered(t *testing.T) {
	view := cdnView(t, past(byName, false, cdn).Basis)
	seen := map[string]bool{}
	for range 200 { // rotations begin at random indexes
		e, err := Explain(view, Query{Name: "app.test"})
		if err != nil {
			t.Fatal(err)
		}
		selected := e.Selected()
		if want := fmt.Sprintf("app.test. 30 IN CNAME %s", selected.Target); e.Records[0] != want {
			t.Fatalf("%q is answered, and %s selected", e.Records[0], selected.Target)
		}
		seen[selected.Target] = true
	}
	if len(seen) != 2 {
		t.Errorf("only %v were answered", seen)
	}
}

func TestShifts_TargetsOfOneAddressAreInTheirOwnRegions(t *testing.T) {
	before, after := past(byName, false, cdn).Basis, past(byName, false, cdn, func(c []policy.Candidate) {
		c[0].MayServe = false
	}).Basis
	shifts, err := Shifts(cdnView(t, before), cdnView(t, after), "app.test.", policy.IPv4)
	if err != nil || len(shifts) != 1 {
		t.Fatalf("%+v, %v", shifts, err)
	}
	if s := shifts[0]; len(s.Moves) != 1 || math.Abs(s.Moves[Move{"eu", "us"}]-0.9) > 1e-9 {
		t.Errorf("%+v, want 0.9 of the answers to move from eu to us", s)
	}
}

// A plan adds and removes names, so that a name may have answers in only one view.
func TestShifts_OfANameThatOneViewHas(t *testing.T) {
	with, without := cdnView(t, past(byName, false, cdn).Basis), new(zone.View)
	for _, views := range [][2]*zone.View{{without, with}, {with, without}} {
		shifts, err := Shifts(views[0], views[1], "app.test", policy.IPv4)
		if err != nil || len(shifts) != 1 || shifts[0].Elsewhere != 1 {
			t.Errorf("%+v, %v, want that all answers differ", shifts, err)
		}
	}
	if shifts, err := Shifts(without, without, "app.test", policy.IPv4); err != nil || len(shifts) > 0 {
		t.Errorf("of a name that no view has: %+v, %v", shifts, err)
	}
}
