package policy

import "slices"

// Failover is weighted inside the first region that has enough serving backends.
var Failover = &Algorithm{
	Name: "failover", Title: "Failover", Kind: "static",
	Description: "the first region with enough backends that may serve answers, weighted inside it",
	Parameters: map[string]string{
		weightKey: weightText, regionsKey: regionsText, withinKey: withinText,
		"failover_threshold": "how many backends that may serve make a region good enough",
	},
	WhyRegion:    "makes no difference to failover: %s is the first with enough that may serve",
	chooseRegion: failoverRegion,
}

// failoverRegion chooses the first region, in the order of the rules, with enough candidates; if none has enough, the
// first that has any. Regions that the rules do not list come last, in the order of their names.
func failoverRegion(s *selection) regionChoice {
	count := make(map[string]int)
	for _, i := range s.in {
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
	first := slices.IndexFunc(s.rules.Regions, s.expects)
	chosen.over = first >= 0 && s.rules.Regions[first] != chosen.region
	return chosen
}
