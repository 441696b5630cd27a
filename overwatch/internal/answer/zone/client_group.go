package zone

import (
	"fmt"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// ClientGroup is a group of clients that receive the same answers of a name.
type ClientGroup struct {
	Selection       // common to the clients; Lead is NoLead
	AllClients bool // the group contains the clients of all regions
}

// ClientGroups returns the groups of clients that receive different answers from a load-balanced name, for addresses of
// a family. Each client is in one group. name is the name of a domain in zone-file form; a wildcard domain has its
// asterisk. The list is empty if the name is not load-balanced or has no stored decision input.
func (v *View) ClientGroups(name string, family policy.Family) ([]ClientGroup, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrName, err)
	}
	_, o := v.findOwner(key)
	if o == nil {
		return nil, nil
	}
	a := o.answers.Load()
	which := a.indexOfFamily(family)
	if which < 0 || a.input == nil {
		return nil, nil
	}
	if a.variants == nil || (*a.variants)[which].sameForAll || len((*a.variants)[which].variants) == 0 {
		return []ClientGroup{{a.selectionAt(which, clientLocation{}, NoLead), true}}, nil
	}
	return a.clientGroups(which), nil
}

// clientGroups returns the groups for the type at an index of a.balanced, ordered by region or location.
func (a *answers) clientGroups(index int) (list []ClientGroup) {
	p := &(*a.variants)[index]
	type both struct {
		region geo.RegionID
		choice uint16
	}
	seen := map[both]bool{}
	add := func(at clientLocation) {
		if one := (both{at.region, at.variant}); !seen[one] {
			seen[one] = true
			list = append(list, ClientGroup{a.selectionAt(index, at, NoLead), false})
		}
	}
	if p.locations == nil {
		for region, choice := range p.variantOf {
			add(clientLocation{region: geo.RegionID(region), variant: choice})
		}
		return list
	}
	for id, where := range p.locations.List() {
		add(clientLocation{where.Region, geo.LocationID(id), p.variantOf[p.decisionOf[id]]})
	}
	return list
}
