package zone

import (
	"fmt"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// Audience is a group of clients in one region who get the same answers of a name.
type Audience struct {
	Steered        // of one of these clients, without a lead
	Everybody bool // clients in all regions
}

// Audiences returns groups of clients that a steered name answers alike with addresses of a family; every client is in
// one of them. The name is that of a domain in zone-file form, a wildcard's with its asterisk. There are none where it
// is not steered or its basis is not kept.
func (v *View) Audiences(name string, family policy.Family) ([]Audience, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrName, err)
	}
	_, o := v.owner(key)
	if o == nil {
		return nil, nil
	}
	a := o.answers.Load()
	which := a.steeredFor(family)
	if which < 0 || a.basis == nil {
		return nil, nil
	}
	if a.placed == nil || (*a.placed)[which].alike || len((*a.placed)[which].variants) == 0 {
		return []Audience{{a.steeredAt(which, clientPlace{}, NoLead), true}}, nil
	}
	return a.audiences(which), nil
}

func (a *answers) audiences(which int) (list []Audience) {
	p := &(*a.placed)[which]
	type both struct {
		region geo.RegionID
		choice uint16
	}
	seen := map[both]bool{}
	add := func(at clientPlace) {
		if one := (both{at.region, at.choice}); !seen[one] {
			seen[one] = true
			list = append(list, Audience{a.steeredAt(which, at, NoLead), false})
		}
	}
	if p.spots == nil {
		for region, choice := range p.choice {
			add(clientPlace{region: geo.RegionID(region), choice: choice})
		}
		return list
	}
	for id, where := range p.spots.List() {
		add(clientPlace{where.Region, geo.SpotID(id), p.choice[p.decision[id]]})
	}
	return list
}
