package operations

import (
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// CreateDomain creates a domain.
func (op *Operations) CreateDomain(r *Request, req api.DomainChange) (*model.Domain, error) {
	made, err := op.o.Edit.NewDomain(req, model.FromOperator)
	if err != nil {
		return nil, err
	}
	name := made.Name
	made.CreatedAt = api.Stamp(op.o.Now())
	made.UpdatedAt = made.CreatedAt
	return op.defineDomain(r, &Change{Action: "create", Resource: "domain", ID: name},
		func(d *definitions.Draft, _ *Change) (*model.Domain, error) {
			switch {
			case d.Now().Domains[name] != nil || d.InFile(model.KindDomain, name):
				return nil, fault.Conflictf("domain %s exists already", name)
			case len(d.Now().Domains) >= definitions.MaxDomains:
				return nil, fault.Fullf("the API has created %d domains, which is the most",
					definitions.MaxDomains)
			}
			made.Regions = d.Now().RegionNames(d.File()).All(made.Regions)
			return made, objects.CheckRegions(d, made.Regions, nil)
		})
}

// ChangeDomain changes the fields of a request in a domain. For a domain of the configuration it changes the overlay,
// and returns nil.
func (op *Operations) ChangeDomain(r *Request, name string, req api.DomainChange) (*model.Domain, error) {
	edit, err := op.editDomain(r, name, req)
	if err != nil {
		return nil, err
	}
	return op.defineDomain(r, &Change{Action: "update", Resource: "domain", ID: name}, edit)
}

// TryDomain returns the edit of a draft that ChangeDomain would commit. It changes no state.
func (op *Operations) TryDomain(r *Request, name string, req api.DomainChange) (func(*definitions.Draft) error,
	error) {
	edit, err := op.editDomain(r, name, req)
	return func(d *definitions.Draft) error {
		after, err := edit(d, &Change{})
		if after != nil {
			d.Put(after)
		}
		return err
	}, err
}

// editDomain returns the edit of a draft by a request. The edit returns the changed domain, or nil after a change of
// the overlay of a domain of the configuration.
func (op *Operations) editDomain(r *Request, name string,
	req api.DomainChange) (func(*definitions.Draft, *Change) (*model.Domain, error), error) {
	if given := req.Text("name"); req.Has("name") && wire.CanonicalService(given) != name {
		return nil, fault.Invalidf("name is %.260q: the name of a domain cannot change, it is %.260q", given, name)
	}
	delete(req, "name")
	return func(d *definitions.Draft, ch *Change) (*model.Domain, error) {
		if d.InFile(model.KindDomain, name) {
			return nil, op.changeDomainOverlay(r, d, ch, name, req)
		}
		before, err := objects.OwnDomain(d, name, "changed", r.Condition.Holds)
		if err != nil {
			return nil, err
		}
		after := *before
		if err := op.o.Edit.EditDomain(&after, req, model.FromOperator); err != nil {
			return nil, err
		}
		after.UpdatedAt = api.Stamp(op.o.Now())
		ch.Before = before
		if req.Has("regions") {
			after.Regions = d.Now().RegionNames(d.File()).All(after.Regions)
			err = objects.CheckRegions(d, after.Regions, before.Regions)
		}
		return &after, err
	}, nil
}

// changeDomainOverlay changes the overlay of a domain of the configuration.
func (op *Operations) changeDomainOverlay(r *Request, d *definitions.Draft, ch *Change, name string,
	req api.DomainChange) error {
	now, _ := objects.ConfiguredDomain(d.File(), name)
	if err := r.Condition.Holds(DomainTag(d.Now(), now)); err != nil {
		return err
	}
	file, _ := objects.ConfiguredDomain(d.Bare(), name)
	if regions := req.Texts("regions"); regions != nil {
		req["regions"] = d.Now().RegionNames(d.File()).All(regions)
	}
	merge := func(_, base, change api.DomainChange) (api.DomainChange, error) {
		merged, err := base.Merge(change)
		if err != nil {
			return nil, err
		}
		return merged.Differing(&file)
	}
	return changeOverlay(op, r, d, ch, overlayRequest[api.DomainChange]{
		Kind: definitions.OverDomain, Name: name, Configured: model.All(&file), Change: req, Merge: merge,
		Check: func(all api.DomainChange) error {
			trial := file
			if err := op.o.Edit.EditDomain(&trial, all, model.FromOperator); err != nil || !req.Has("regions") {
				return err
			}
			return objects.CheckRegions(d, trial.Regions, file.Regions)
		}})
}

// defineDomain commits a change of a domain, and returns the domain. edit returns the domain to store, or nil if edit
// has made the change itself, as an overlay of the configuration.
func (op *Operations) defineDomain(r *Request, ch *Change,
	edit func(*definitions.Draft, *Change) (*model.Domain, error)) (after *model.Domain, err error) {
	err = op.Define(r, ch, func(d *definitions.Draft) (err error) {
		if after, err = edit(d, ch); err != nil || after == nil {
			return err
		}
		ch.After = after
		d.Put(after)
		return nil
	})
	return after, err
}

// DeleteDomain deletes a domain of the API. The registry still knows the backends of the domain, and no answer contains
// them.
func (op *Operations) DeleteDomain(r *Request, name string) error {
	ch := &Change{Action: "delete", Resource: "domain", ID: name}
	return op.Define(r, ch, func(d *definitions.Draft) error {
		before, err := objects.OwnDomain(d, name, "deleted", r.Condition.Holds)
		if err != nil {
			return err
		}
		ch.Before = before
		d.Delete(model.KindDomain, name)
		return nil
	})
}

// DomainTag returns the part of a domain of the configuration to which the condition of a request applies. d is the
// current domain.
func DomainTag(set *definitions.Set, d config.Domain) any {
	if o := set.Overlay(definitions.OverDomain, d.Name); o != nil {
		return []any{d, o}
	}
	return d
}
