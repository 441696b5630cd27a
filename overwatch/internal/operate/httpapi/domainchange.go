package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/objects"
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
	return s.defineDomain(c, http.StatusCreated, &change{action: "create", resource: "domain", id: name},
		func(d *definitions.Draft, _ *change) (*model.Domain, error) {
			switch {
			case d.Now().Domains[name] != nil || d.InFile(name):
				return nil, problemf(http.StatusConflict, "domain %s exists already", name)
			case len(d.Now().Domains) >= definitions.MaxDomains:
				return nil, problemf(http.StatusInsufficientStorage, "the API has created %d domains, which is the most",
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
	return s.defineDomain(c, http.StatusOK, &change{action: "update", resource: "domain", id: name},
		func(d *definitions.Draft, ch *change) (*model.Domain, error) {
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
			ch.before = before
			if req.Has("regions") {
				after.Regions = d.Now().RegionNames(d.File()).All(after.Regions)
				err = objects.CheckRegions(d, after.Regions, before.Regions)
			}
			return &after, err
		})
}

// layDomain lays the values of a request over a domain of the configuration.
func (s *Server) layDomain(c *call, d *definitions.Draft, ch *change, name string, req api.DomainChange) error {
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
	return layOver(s, c, d, ch, overlayRequest[api.DomainChange]{
		kind: definitions.OverDomain, name: name, configured: model.All(&file), change: req, merge: merge,
		check: func(all api.DomainChange) error {
			trial := file
			if err := s.edit.EditDomain(&trial, all, model.FromOperator); err != nil || !req.Has("regions") {
				return err
			}
			return objects.CheckRegions(d, trial.Regions, file.Regions)
		}})
}

// defineDomain commits a change of a domain, and answers with the domain. edit returns the domain to store, or nil if
// it has made the change itself, as an overlay of the configuration.
func (s *Server) defineDomain(c *call, status int, ch *change,
	edit func(*definitions.Draft, *change) (*model.Domain, error)) (answer, error) {
	var after *model.Domain
	err := s.define(c, ch, func(d *definitions.Draft) (err error) {
		if after, err = edit(d, ch); err != nil || after == nil {
			return err
		}
		ch.after = after
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
	ch := &change{action: "delete", resource: "domain", id: name}
	return noContent(), s.define(c, ch, func(d *definitions.Draft) error {
		before, err := objects.OwnDomain(d, name, "deleted", c.condition.holds)
		if err != nil {
			return err
		}
		ch.before = before
		d.DeleteDomain(name)
		return nil
	})
}
