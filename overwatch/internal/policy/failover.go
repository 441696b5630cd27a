package policy

import "slices"

// Failover selects the first region with enough serving backends, weighted within the region.
var Failover = &Algorithm{
	Name: "failover", Title: "Failover", Kind: "static",
	Description: "the first region with enough serving backends answers, weighted within the region",
	Parameters: map[string]string{
		weightKey: weightText, regionsKey: regionsText, withinKey: withinText,
		"failover_threshold": "number of serving backends that a region needs", failbackKey: failbackText,
	},
	RegionExplanation: "not used by failover: %s is the first region with enough serving backends",
	chooseRegion:      failoverRegion,
}

// failoverRegion selects the first region, in the order of the rules, with enough candidates; otherwise the first
// region with any candidate. Other regions follow in alphabetical order.
func failoverRegion(s *selection) regionChoice {
	count := make(map[string]int)
	for _, i := range s.remaining {
		count[s.candidates[i].Region]++
	}
	var order []string
	for _, region := range s.rules.Regions {
		if count[region] > 0 {
			order = append(order, region)
		}
	}
	listed := len(order)
	for region := range count {
		if !slices.Contains(s.rules.Regions, region) {
			order = append(order, region)
		}
	}
	slices.Sort(order[listed:])
	chosen := regionChoice{region: order[0], reason: OtherRegion}
	enough := func(region string) bool { return count[region] >= max(s.rules.Parameters().FailoverThreshold, 1) }
	if i := slices.IndexFunc(order, enough); i >= 0 {
		chosen.region = order[i]
	}
	first := slices.IndexFunc(s.rules.Regions, s.hasBackends)
	chosen.failover = first >= 0 && s.rules.Regions[first] != chosen.region
	return chosen
}
