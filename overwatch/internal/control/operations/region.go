package operations

import (
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// CreateRegion creates a region.
func (op *Operations) CreateRegion(r *Request, req api.RegionChange) (*model.Region, error) {
	made, err := objects.NewRegion(req, op.regionNames(), model.FromOperator)
	if err != nil {
		return nil, err
	}
	if err := op.o.Edit.CompleteRegionCheck(made); err != nil {
		return nil, err
	}
	id := made.Name
	made.CreatedAt = api.Stamp(op.o.Now())
	made.UpdatedAt = made.CreatedAt
	return op.defineRegion(r, &Change{Action: "create", Resource: "region", ID: id}, nil,
		func(d *definitions.Draft, _ *Change) (*model.Region, error) {
			switch {
			case d.Now().Regions[id] != nil || d.InFile(model.KindRegion, id):
				return nil, fault.Invalidf("region %s exists already", id)
			case len(d.Now().Regions) >= definitions.MaxRegions:
				return nil, fault.Fullf("the API has created %d regions, which is the most", definitions.MaxRegions)
			}
			return made, nil
		})
}

// ChangeRegion changes the fields of a request in a region. With Replace, the other fields get their defaults. For
// a region of the configuration it changes the overlay, and returns nil.
func (op *Operations) ChangeRegion(r *Request, id string, req api.RegionChange) (*model.Region, error) {
	id = op.regionNames().Of(id)
	enabled := true
	var removes []impact.Withdrawal
	if err := req.Read("enabled", &enabled); err == nil && !enabled {
		removes = append(removes, impact.OfRegion(id))
	}
	return op.defineRegion(r, &Change{Action: "update", Resource: "region", ID: id}, removes,
		func(d *definitions.Draft, ch *Change) (*model.Region, error) {
			if at := objects.RegionAt(d.Bare(), id); at >= 0 {
				return nil, op.changeRegionOverlay(r, d, ch, &d.Bare().Regions[at], req)
			}
			before, err := objects.OwnRegion(d, id, "changed", r.Condition.Holds)
			if err != nil {
				return nil, err
			}
			after := *before
			if r.Replace {
				after = *model.New[model.Region]()
				after.Name, after.Meta = id, before.Meta
			}
			after.UpdatedAt = api.Stamp(op.o.Now())
			ch.Before = before
			if err := definitions.EditRegion(&after, req, model.FromOperator); err != nil {
				return nil, fault.FromCheck(err)
			}
			return &after, op.o.Edit.CompleteRegionCheck(&after, before.HealthCheck)
		})
}

// changeRegionOverlay changes the overlay of a region of the configuration. With Replace, omitted fields take the
// values of the file.
func (op *Operations) changeRegionOverlay(r *Request, d *definitions.Draft, ch *Change, file *config.Region,
	req api.RegionChange) error {
	now, _ := objects.FindRegion(d.Now(), d.File(), file.Name)
	if err := r.Condition.Holds(now); err != nil {
		return err
	}
	if req.Text("name") == file.Name && file.Label == "" {
		req["name"] = nil // the name of the file
	}
	merge := func(stored, base, change api.RegionChange) (api.RegionChange, error) {
		change, err := objects.KeepSecrets(stored, change, file.HealthCheck)
		if err != nil {
			return nil, err
		}
		merged, err := base.Merge(change)
		if err != nil {
			return nil, err
		}
		var continents model.Continents // a request may have a text
		if err := merged.Read("continents", &continents); err == nil && merged.Has("continents") {
			merged["continents"] = append([]string{}, continents...)
		}
		return merged.Differing(file)
	}
	return changeOverlay(op, r, d, ch, overlayRequest[api.RegionChange]{
		Kind: definitions.OverRegion, Name: file.Name, Configured: model.All(file), Change: req, Replace: r.Replace,
		Merge: merge, Check: func(all api.RegionChange) error {
			trial := *file
			if err := definitions.EditRegion(&trial, all, model.FromOperator); err != nil {
				return fault.FromCheck(err)
			}
			return op.o.Edit.CompleteRegionCheck(&trial, file.HealthCheck)
		}})
}

// defineRegion makes a change of a region, which removes backends from answers, and returns the region. edit returns
// the region to store, or nil if edit has changed the overlay of a region of the configuration.
func (op *Operations) defineRegion(r *Request, ch *Change, removes []impact.Withdrawal,
	edit func(*definitions.Draft, *Change) (*model.Region, error)) (after *model.Region, err error) {
	change := &changes.Definition{Entry: ch.entry, Removes: removes, Adds: len(removes) == 0}
	change.Edit = func(d *definitions.Draft) (err error) {
		if after, err = edit(d, ch); err != nil || after == nil {
			return err
		}
		ch.After = after
		d.Put(after)
		return nil
	}
	err = op.Apply(r, change, 0)
	return after, err
}

// DeleteRegion deletes a region of the API that is not in use.
func (op *Operations) DeleteRegion(r *Request, id string) error {
	id = op.regionNames().Of(id)
	ch := &Change{Action: "delete", Resource: "region", ID: id}
	// Apply excludes other changes, so that no server is added to the region during the deletion.
	return op.Apply(r, &changes.Definition{Entry: ch.entry, Edit: func(d *definitions.Draft) error {
		before, err := objects.OwnRegion(d, id, "deleted", r.Condition.Holds)
		if err == nil {
			err = op.checkUnusedRegion(r, d, id)
		}
		if err != nil {
			return err
		}
		ch.Before = before
		d.Delete(model.KindRegion, id)
		return nil
	}}, 0)
}

// checkUnusedRegion rejects the deletion of a region that an object names. For a request with limits, the error names
// no object.
func (op *Operations) checkUnusedRegion(r *Request, d *definitions.Draft, id string) error {
	err := op.o.Edit.CheckUnusedRegion(d, id)
	if err != nil && r.isLimited() {
		return fault.Conflictf("region %s is in use: an object names it, possibly outside the scope of the token",
			id)
	}
	return err
}

// regionNames returns the ids of the regions, which requests may write in any case.
func (op *Operations) regionNames() config.RegionNames {
	set, file := op.o.Definitions.Defined()
	return set.RegionNames(file)
}
