package explain

import (
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// RegionAnswer is the answer to the clients of one region.
type RegionAnswer struct {
	Region    string // that they are in, "" for none
	Everybody bool   // clients in all regions
	Decision  policy.Decision
}

// ByRegion returns the answers of a steered domain to all clients, region by region, with addresses of one family. A
// wildcard's name has its asterisk. The result is empty for a name that is not steered.
func ByRegion(view *zone.View, name string, family policy.Family) ([]RegionAnswer, error) {
	audiences, err := view.Audiences(name, family)
	if err != nil {
		return nil, err
	}
	list := make([]RegionAnswer, len(audiences))
	for i := range audiences {
		a := &audiences[i]
		client := a.Client()
		list[i] = RegionAnswer{client.Region, a.Everybody, a.Basis.Decide(family, client)}
	}
	return list, nil
}
