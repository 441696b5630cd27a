package explain

import (
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Given is what clients in one region are answered.
type Given struct {
	Region    string // that they are in, "" for none
	Everybody bool   // clients in all regions
	Decision  policy.Decision
}

// Everyone says what all clients are answered with addresses of the family by a steered domain, a wildcard's name with its
// asterisk. It is empty where there is no such domain.
func Everyone(view *zone.View, name string, family policy.Family) ([]Given, error) {
	audiences, err := view.Audiences(name, family)
	if err != nil {
		return nil, err
	}
	list := make([]Given, len(audiences))
	for i := range audiences {
		a := &audiences[i]
		client := a.Client()
		list[i] = Given{client.Region, a.Everybody, a.Basis.Decide(family, client)}
	}
	return list, nil
}
