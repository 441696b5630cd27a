package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// postDomain answers POST /domains.
func (s *Server) postDomain(c *call, req api.DomainChange) (answer, error) {
	made, err := s.edit.NewDomain(req, model.FromOperator)
	if err != nil {
		return answer{}, err
	}
	name := made.Name
	made.CreatedAt = stamp(s.o.Now())
	made.UpdatedAt = made.CreatedAt
	return s.defineDomain(c, http.StatusCreated, &operations.Change{Action: "create", Resource: "domain", ID: name},
		func(d *definitions.Draft, _ *operations.Change) (*model.Domain, error) {
			switch {
			case d.Now().Domains[name] != nil || d.InFile(name):
				return nil, fault.Conflictf("domain %s exists already", name)
			case len(d.Now().Domains) >= definitions.MaxDomains:
				return nil, fault.Fullf("the API has created %d domains, which is the most",
					definitions.MaxDomains)
			}
			made.Regions = d.Now().RegionNames(d.File()).All(made.Regions)
			return made, objects.CheckRegions(d, made.Regions, nil)
		})
}

// putDomain answers PUT and PATCH /domains/{name}: both change the fields that the body has.
func (s *Server) putDomain(c *call, req api.DomainChange) (answer, error) {
	name := wire.CanonicalService(c.Param("name"))
	if given := req.Text("name"); req.Has("name") && wire.CanonicalService(given) != name {
		return answer{}, badRequest("name is %.260q: a domain keeps its name, %.260q", given, name)
	}
	delete(req, "name")
	return s.defineDomain(c, http.StatusOK, &operations.Change{Action: "update", Resource: "domain", ID: name},
		func(d *definitions.Draft, ch *operations.Change) (*model.Domain, error) {
			if d.InFile(name) {
				return nil, s.layDomain(c, d, ch, name, req)
			}
			before, err := objects.OwnDomain(d, name, "changed", c.condition.holds)
			if err != nil {
				return nil, err
			}
			after := *before
			if err := s.edit.EditDomain(&after, req, model.FromOperator); err != nil {
				return nil, err
			}
			after.UpdatedAt = stamp(s.o.Now())
			ch.Before = before
			if req.Has("regions") {
				after.Regions = d.Now().RegionNames(d.File()).All(after.Regions)
				err = objects.CheckRegions(d, after.Regions, before.Regions)
			}
			return &after, err
		})
}

// layDomain lays the values of a request over a domain of the configuration.
func (s *Server) layDomain(c *call, d *definitions.Draft, ch *operations.Change, name string,
	req api.DomainChange) error {
	now, _ := objects.ConfiguredDomain(d.File(), name)
	if err := c.condition.holds(tagOfDomain(d.Now(), now)); err != nil {
		return err
	}
	file, _ := objects.ConfiguredDomain(d.Bare(), name)
	if regions := req.Texts("regions"); regions != nil {
		req["regions"] = d.Now().RegionNames(d.File()).All(regions)
	}
	merge := func(before, change api.DomainChange) (api.DomainChange, error) {
		merged, err := before.Merge(change)
		if err != nil {
			return nil, err
		}
		return merged.Differing(&file)
	}
	return operations.LayOver(s.op, c.request(), d, ch, operations.OverlayRequest[api.DomainChange]{
		Kind: definitions.OverDomain, Name: name, Configured: model.All(&file), Change: req, Merge: merge,
		Check: func(all api.DomainChange) error {
			trial := file
			if err := s.edit.EditDomain(&trial, all, model.FromOperator); err != nil || !req.Has("regions") {
				return err
			}
			return objects.CheckRegions(d, trial.Regions, file.Regions)
		}})
}

// defineDomain commits a change of a domain, and answers with the domain. edit returns the domain to store, or nil if
// it has made the change itself, as an overlay of the configuration.
func (s *Server) defineDomain(c *call, status int, ch *operations.Change,
	edit func(*definitions.Draft, *operations.Change) (*model.Domain, error)) (answer, error) {
	var after *model.Domain
	err := s.op.Define(c.request(), ch, func(d *definitions.Draft) (err error) {
		if after, err = edit(d, ch); err != nil || after == nil {
			return err
		}
		ch.After = after
		d.PutDomain(after)
		return nil
	})
	switch {
	case err != nil:
		return answer{}, err
	case after == nil:
		return s.getDomain(c)
	}
	cfg, since := s.o.Config()
	return tagged(c, status, s.domainDetail(cfg, *after, after, since), after), nil
}

// deleteDomain answers DELETE /domains/{name}. Its backends stay known and are not served.
func (s *Server) deleteDomain(c *call) (answer, error) {
	name := wire.CanonicalService(c.Param("name"))
	ch := &operations.Change{Action: "delete", Resource: "domain", ID: name}
	return noContent(), s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		before, err := objects.OwnDomain(d, name, "deleted", c.condition.holds)
		if err != nil {
			return err
		}
		ch.Before = before
		d.DeleteDomain(name)
		return nil
	})
}
