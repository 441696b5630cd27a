package operations

import (
	"net/netip"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// PutMapping creates a mapping or changes the mapping of its network. With Replace, the fields that the request omits
// get their defaults; without, the mapping must exist. created reports whether the mapping is new.
func (op *Operations) PutMapping(r *Request, req api.GeoMappingChange) (after *model.Mapping, created bool, err error) {
	names := op.regionNames()
	made, err := objects.NewMapping(req, names, model.FromOperator)
	if err != nil {
		return nil, false, err
	}
	network, now := made.CIDR, api.Stamp(op.o.Now())
	ch := &Change{Resource: "geo_mapping", ID: network.String()}
	err = op.Define(r, ch, func(d *definitions.Draft) error {
		before, err := objects.OwnMapping(d, network, "changed", r.Condition.Holds)
		if err != nil {
			return err
		}
		next := *made
		var named []string
		switch ch.Action, created = "create", true; {
		case before != nil:
			ch.Action, created, ch.Before = "update", false, before
			next.Meta, named = before.Meta, []string{before.Region}
			if !r.Replace {
				next = *before
				if err := objects.EditMapping(&next, req, names, model.FromOperator); err != nil {
					return err
				}
				next.CIDR = network
			}
		case !r.Replace:
			return errNoMapping(network)
		case len(d.Now().Mappings) >= definitions.MaxMappings:
			return fault.Fullf("the API has created %d mappings, which is the most", definitions.MaxMappings)
		default:
			next.CreatedAt = now
		}
		next.UpdatedAt = now
		if err := objects.CheckRegions(d, []string{next.Region}, named); err != nil {
			return err
		}
		after = &next
		ch.After = after
		d.Put(after)
		return nil
	})
	return after, created, err
}

// DeleteMapping deletes a mapping of the API.
func (op *Operations) DeleteMapping(r *Request, network netip.Prefix) error {
	ch := &Change{Action: "delete", Resource: "geo_mapping", ID: network.String()}
	return op.Define(r, ch, func(d *definitions.Draft) error {
		before, err := objects.OwnMapping(d, network, "deleted", r.Condition.Holds)
		switch {
		case err != nil:
			return err
		case before == nil:
			return errNoMapping(network)
		}
		ch.Before = before
		d.Delete(model.KindMapping, network.String())
		return nil
	})
}

func errNoMapping(network netip.Prefix) error {
	return fault.NotFoundf("no mapping of %s was created through the API", network)
}
