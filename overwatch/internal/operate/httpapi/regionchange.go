package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// postRegion answers POST /regions.
func (s *Server) postRegion(c *call, req api.RegionChange) (answer, error) {
	id, err := objects.RegionID(objects.ValueOr(req.Name, ""), objects.ValueOr(req.Code, ""))
	if err != nil {
		return answer{}, err
	}
	id = s.regionNames().Of(id)
	now := stamp(s.o.Now())
	made := store.Region{Name: id, Enabled: true, CreatedAt: now, UpdatedAt: now}
	if err := objects.EditRegion(&made, req); err != nil {
		return answer{}, err
	}
	return s.defineRegion(c, http.StatusCreated, &operations.Change{Action: "create", Resource: "region", ID: id},
		func(d *definitions.Draft, _ *operations.Change) (*store.Region, error) {
			switch {
			case d.Now().Regions[id] != nil || objects.RegionAt(d.File(), id) >= 0:
				return nil, badRequest("region %s exists already", id)
			case len(d.Now().Regions) >= definitions.MaxRegions:
				return nil, fault.Fullf("the API has created %d regions, which is the most",
					definitions.MaxRegions)
			}
			return &made, nil
		})
}

// putRegion answers PUT and PATCH /regions/{id}. A field that the body does not have takes its default with PUT, and
// stays with PATCH.
func (s *Server) putRegion(c *call, req api.RegionChange) (answer, error) {
	name := s.regionNames().Of(c.Param("id"))
	if !objects.ValueOr(req.Enabled, true) {
		done, err := s.op.Safely(c.request(), impact.OfRegion(name))
		defer done()
		if err != nil {
			return answer{}, err
		}
	}
	return s.defineRegion(c, http.StatusOK, &operations.Change{Action: "update", Resource: "region", ID: name},
		func(d *definitions.Draft, ch *operations.Change) (*store.Region, error) {
			if at := objects.RegionAt(d.Bare(), name); at >= 0 {
				return nil, layRegion(s, c, d, ch, &d.Bare().Regions[at], req)
			}
			before, err := objects.OwnRegion(d, name, "changed", c.condition.holds)
			if err != nil {
				return nil, err
			}
			after := *before
			if c.Request.Method == http.MethodPut {
				after = store.Region{Name: name, Enabled: true, Owner: before.Owner, CreatedAt: before.CreatedAt}
			}
			after.UpdatedAt = stamp(s.o.Now())
			ch.Before = before
			return &after, objects.EditRegion(&after, req)
		})
}

// layRegion lays the values of a request over a region of the configuration. With PUT, fields that the body leaves out
// get the file's values again.
func layRegion(s *Server, c *call, d *definitions.Draft, ch *operations.Change, file *config.Region,
	req api.RegionChange) error {
	now, _ := objects.FindRegion(d.Now(), d.File(), file.Name)
	if err := c.condition.holds(now); err != nil {
		return err
	}
	return operations.LayOver(s.op, c.request(), d, ch, operations.OverlayRequest[api.RegionChange]{
		Kind: definitions.OverRegion, Name: file.Name, Configured: definitions.RegionFields(file), Change: req,
		Anew: c.Request.Method == http.MethodPut,
		Check: func(all api.RegionChange) error {
			return objects.EditRegion(&store.Region{Name: file.Name, Latitude: file.Latitude,
				Longitude: file.Longitude}, all)
		}})
}

// defineRegion commits a change of a region, and answers with the region. edit returns the region to store, or nil if
// it has made the change itself, as an overlay of the configuration.
func (s *Server) defineRegion(c *call, status int, ch *operations.Change,
	edit func(*definitions.Draft, *operations.Change) (*store.Region, error)) (answer, error) {
	var after *store.Region
	err := s.op.Define(c.request(), ch, func(d *definitions.Draft) (err error) {
		if after, err = edit(d, ch); err != nil || after == nil {
			return err
		}
		ch.After = after
		d.PutRegion(after)
		return nil
	})
	switch {
	case err != nil:
		return answer{}, err
	case after == nil:
		return s.getRegion(c)
	}
	set, file := s.o.Definitions.Defined()
	return tagged(c, status, regionView(*after, set, file, s.edit.CountServers()), *after), nil
}

// deleteRegion answers DELETE /regions/{id}. A region that is in use stays.
func (s *Server) deleteRegion(c *call) (answer, error) {
	defer s.o.Changes.Exclusive()() // no server comes into it meanwhile
	name := s.regionNames().Of(c.Param("id"))
	ch := &operations.Change{Action: "delete", Resource: "region", ID: name}
	return noContent(), s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		before, err := objects.OwnRegion(d, name, "deleted", c.condition.holds)
		if err == nil {
			err = s.edit.CheckUnusedRegion(d, name)
		}
		if err != nil {
			return err
		}
		ch.Before = before
		d.DeleteRegion(name)
		return nil
	})
}
