package explain

import (
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// MaxWouldBe is the maximum number of unavailable backends for which the answer is computed.
const MaxWouldBe = 16

// WouldBe is the answer to the client if an unavailable backend could serve.
type WouldBe struct {
	If       *policy.Candidate // nil: all unavailable backends
	Decision policy.Decision
}

// wouldBe repeats the decision with each unavailable candidate as serving, then with all of them, and returns the
// decisions that differ.
func wouldBe(basis *policy.DecisionInput, now policy.Decision, family policy.Family,
	client policy.ClientLocation) []WouldBe {
	var out []WouldBe
	tried, all := 0, slices.Clone(basis.Candidates)
	for i := range basis.Candidates {
		c := &basis.Candidates[i]
		if c.MayServe && c.Share > 0 {
			continue
		}
		revive(&all[i])
		if tried++; tried > MaxWouldBe {
			continue
		}
		one := slices.Clone(basis.Candidates)
		revive(&one[i])
		if d := basis.DecideWith(one, family, client); differs(d, now) {
			out = append(out, WouldBe{c, d})
		}
	}
	if tried < 2 {
		return out
	}
	if d := basis.DecideWith(all, family, client); differs(d, now) {
		out = append(out, WouldBe{nil, d})
	}
	return out
}

func revive(c *policy.Candidate) { c.MayServe, c.Forbidden, c.Share = true, false, 1 }

func differs(a, b policy.Decision) bool {
	return a.Outcome != b.Outcome || a.TTL != b.TTL || !slices.EqualFunc(a.Members, b.Members, func(x,
		y policy.Member) bool {
		return x.Name() == y.Name() && Share(a.Members, x) == Share(b.Members, y)
	})
}

// RegionAnswer is the answer to the clients of a region.
type RegionAnswer struct {
	Region    string // region of the clients; "" if they have none
	Everybody bool   // clients in all regions
	Decision  policy.Decision
}

// ByRegion returns the answers of a load-balanced domain by client region, with addresses of the given family. The name
// of a wildcard domain contains its asterisk. The result is empty for other names.
func ByRegion(view *zone.View, name string, family policy.Family) ([]RegionAnswer, error) {
	groups, err := view.ClientGroups(name, family)
	if err != nil {
		return nil, err
	}
	list := make([]RegionAnswer, len(groups))
	for i := range groups {
		list[i] = AnswerOf(&groups[i], family)
	}
	return list, nil
}

// AnswerOf returns the answer to a group of clients, with addresses of the family.
func AnswerOf(g *zone.ClientGroup, family policy.Family) RegionAnswer {
	client := g.ClientLocation()
	return RegionAnswer{client.Region, g.AllClients, g.Input.Decide(family, client)}
}

// Has reports whether the answer has an address, or a host name other than "".
func (g *RegionAnswer) Has(address netip.Addr, target string) bool {
	return slices.ContainsFunc(g.Decision.Members, func(d policy.Member) bool {
		return d.Target == "" && d.Address == address || d.Target != "" && d.Target == target
	})
}
