package policy

import "slices"

// chooseRegion is failover: the first region, in the order of the rules, with enough candidates; if none has
// enough, the first that has any. Regions that the rules do not list come last, in the order of their names.
func chooseRegion(candidates []Candidate, in []int, rules *Rules) string {
	count := make(map[string]int)
	for _, i := range in {
		count[candidates[i].Region]++
	}
	var order []string
	for _, region := range rules.Regions {
		if count[region] > 0 {
			order = append(order, region)
		}
	}
	listed := len(order)
	for region := range count {
		if !slices.Contains(rules.Regions, region) {
			order = append(order, region)
		}
	}
	slices.Sort(order[listed:])
	for _, region := range order {
		if count[region] >= max(rules.FailoverThreshold, 1) {
			return region
		}
	}
	return order[0]
}
