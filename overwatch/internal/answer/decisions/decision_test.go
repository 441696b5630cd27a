package decisions_test

import (
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// An answer that is a target name belongs to the backend with this name, even if another name has the same address.
func TestDecisions_TargetsOfOneAddressAreToldApart(t *testing.T) {
	cdn := netip.MustParseAddr("192.0.2.1")
	input := &policy.DecisionInput{
		Name: "app.test.", Number: 1, Answers: 1, Rules: &policy.Rules{Algorithm: policy.Weighted, AnswerNames: true,
			TTL: 30},
		Candidates: []policy.Candidate{
			{Address: cdn, Port: 443, Target: "a.cdn.test.", Region: "eu", Weight: 90, Share: 1, MayServe: true},
			{Address: cdn, Port: 8443, Target: "b.cdn.test.", Region: "us", Weight: 10, Share: 1, MayServe: true},
		},
	}
	r := decisions.New(1, nil)
	s := r.NewSocketRecorder()
	for lead := range input.Candidates {
		s.RecordAnswer(s.StartSample(), &zone.Selection{Input: input, Lead: uint16(lead)},
			netip.MustParseAddr("198.51.100.7"))
		sampled := r.Decisions()[0]
		if _, selected := sampled.Repeat(); selected != &input.Candidates[lead] {
			t.Errorf("the answer %s comes from %+v", input.Candidates[lead].Target, selected)
		}
	}
	if by := r.Totals().ByRegion; by["eu"] != 1 || by["us"] != 1 {
		t.Errorf("answers by region: %v, want one of each", by)
	}
}
