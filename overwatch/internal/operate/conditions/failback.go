package conditions

import (
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/shared/api"
)

// maxFailbackNames is the maximum number of domains for which the failback of a region has separate conditions.
const maxFailbackNames = 3

// walkFailbacks reports regions that can serve and wait for the failback by an operator: by domain, or by region if
// many domains wait for the same region.
func (j *Judge) walkFailbacks(to report) {
	byRegion := map[string][]failback.Pending{}
	for _, p := range listed(j.o.Failbacks) {
		if p.Setting.Manual && p.CanServe() {
			byRegion[p.Region] = append(byRegion[p.Region], p)
		}
	}
	for _, region := range slices.Sorted(maps.Keys(byRegion)) {
		list := byRegion[region]
		if len(list) > maxFailbackNames {
			to(api.FailbackPending, "region "+region, fixed(fmt.Sprintf("region %s can serve again, and %d domains wait "+
				"for its failback, such as %s", region, len(list), list[0].Domain), "gslbctl failback"))
			continue
		}
		for _, p := range list {
			to(api.FailbackPending, p.Domain+" "+region, fixed(fmt.Sprintf("%s: region %s can serve since %s, and its "+
				"clients stay in other regions until failback", p.Domain, region, moment(p.CanServeSince)),
				"gslbctl failback "+p.Domain))
		}
	}
}
