package policy_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/policy"
)

// servers creates a candidate from each word "target/address". A candidate with the prefix "down/" may not serve.
func servers(words ...string) (list []policy.Candidate) {
	for _, word := range words {
		rest, down := strings.CutPrefix(word, "down/")
		target, address, _ := strings.Cut(rest, "/")
		list = append(list, policy.Candidate{Address: netip.MustParseAddr(address), Target: target, Weight: 100, Share: 1,
			MayServe: !down, AddressCount: 9})
	}
	return list
}

// A target name is one answer. It has its whole weight while one of its addresses of either family may serve.
func TestNames_TargetsHaveTheirWeightWhileAnAddressServes(t *testing.T) {
	a1, a2, a3, b := "a.test/192.0.2.1", "a.test/192.0.2.2", "a.test/2001:db8::1", "b.test/192.0.2.9"
	for _, c := range []struct {
		list []policy.Candidate
		want []string
	}{
		{servers(a1, a2, a3, b), []string{"a.test", "b.test"}},
		{servers("down/"+a1, "down/"+a2, a3, b), []string{"a.test", "b.test"}},
		{servers("down/"+a1, "down/"+a2, "down/"+a3, b), []string{"b.test"}},
		{servers(a3), []string{"a.test"}},
		{servers("down/" + a3), nil},
	} {
		for _, algorithm := range []*policy.Algorithm{policy.Weighted, policy.RoundRobin, policy.ClientHash} {
			for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
				d := policy.Decide(policy.Rules{AnswerNames: true, Algorithm: algorithm}, c.list, family)
				var got []string
				for _, due := range d.Members {
					got = append(got, due.Name())
					if due.Parts != d.Members[0].Parts {
						t.Errorf("%s: %v, want equal parts", algorithm, d.Members)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: %v, want %v", algorithm, d.Members, c.want)
				}
				if (d.Outcome == policy.NoHealthyBackend) != (c.want == nil) {
					t.Errorf("%s: outcome %s with %v", algorithm, d.Outcome, d.Members)
				}
			}
		}
	}
}

// Client networks keep their target when its addresses change.
func TestNames_ClientsKeepTheirTarget(t *testing.T) {
	rules := policy.Rules{AnswerNames: true, Algorithm: policy.ClientHash}
	before := policy.Decide(rules, servers("a.test/192.0.2.1", "b.test/192.0.2.9"), policy.IPv4)
	after := policy.Decide(rules, servers("a.test/198.51.100.7", "a.test/198.51.100.8", "b.test/192.0.2.5"), policy.IPv4)
	one, other := policy.NewRendezvous(before.Members), policy.NewRendezvous(after.Members)
	seen := map[string]bool{}
	for network := range uint64(1000) {
		was, is := before.Members[one.Pick(network)].Target, after.Members[other.Pick(network)].Target
		if seen[was] = true; was != is {
			t.Fatalf("network %d moves from %s to %s", network, was, is)
		}
	}
	if len(seen) != 2 {
		t.Errorf("all networks have %v: the test shows nothing", seen)
	}
}

// The first serving backend of a target, not a backend of another target with the same address, represents the target.
func TestNames_EachTargetHasItsOwnBackends(t *testing.T) {
	basis := &policy.DecisionInput{Rules: &policy.Rules{AnswerNames: true, Algorithm: policy.Weighted},
		Candidates: servers("down/b.test/192.0.2.1", "a.test/192.0.2.1", "b.test/192.0.2.1", "b.test/192.0.2.2")}
	d := basis.Decide(policy.IPv4, policy.ClientLocation{})
	for i, want := range []int{1, 2} {
		if got := d.CandidateOf(d.Members[i]); got != want {
			t.Errorf("behind %s is candidate %d, want %d", d.Members[i].Name(), got, want)
		}
	}
	if got := d.CandidateOf(policy.Member{Target: "c.test"}); got != -1 {
		t.Errorf("behind another target is candidate %d", got)
	}
}

// CandidatesOfMembers finds the same candidate as CandidateOf for each member.
func TestBehindAll_IsBehindOfEach(t *testing.T) {
	for names, candidates := range map[bool][]policy.Candidate{
		true: servers("down/b.test/192.0.2.1", "a.test/192.0.2.1", "b.test/192.0.2.1", "b.test/192.0.2.2"),
		false: servers("/192.0.2.1", "down//192.0.2.2", "/192.0.2.2", "/2001:db8::1", "a.test/192.0.2.3", "/192.0.2.3",
			"down//192.0.2.4"),
	} {
		basis := &policy.DecisionInput{Rules: &policy.Rules{AnswerNames: names, Algorithm: policy.Weighted},
			Candidates: candidates}
		d := basis.Decide(policy.IPv4, policy.ClientLocation{})
		d.Members = append(d.Members, policy.Member{Target: "c.test"},
			policy.Member{Address: netip.MustParseAddr("192.0.2.99")})
		for i, at := range d.CandidatesOfMembers() {
			if want := d.CandidateOf(d.Members[i]); at != want {
				t.Errorf("behind %s is candidate %d, want %d", d.Members[i].Name(), at, want)
			}
		}
	}
}
