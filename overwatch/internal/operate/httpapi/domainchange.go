package httpapi

import (
	"maps"
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// postDomain answers POST /domains.
func (s *Server) postDomain(c *call, req api.DomainChange) (answer, error) {
	made, err := s.newDomain(req, model.FromOperator)
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
			return made, checkRegionsIn(d, made.Regions, nil)
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
			before, err := ownDomain(d, name, "changed", c.condition)
			if err != nil {
				return nil, err
			}
			after := *before
			if err := s.editDomain(&after, req, model.FromOperator); err != nil {
				return nil, err
			}
			after.UpdatedAt = stamp(s.o.Now())
			ch.before = before
			if req.Has("regions") {
				after.Regions = d.Now().RegionNames(d.File()).All(after.Regions)
				err = checkRegionsIn(d, after.Regions, before.Regions)
			}
			return &after, err
		})
}

// layDomain lays the values of a request over a domain of the configuration.
func (s *Server) layDomain(c *call, d *definitions.Draft, ch *change, name string, req api.DomainChange) error {
	now, _ := findConfigured(d.File(), name)
	if err := c.condition.holds(tagOfDomain(d.Now(), now)); err != nil {
		return err
	}
	file, _ := findConfigured(d.Bare(), name)
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
			if err := s.editDomain(&trial, all, model.FromOperator); err != nil || !req.Has("regions") {
				return err
			}
			return checkRegionsIn(d, trial.Regions, file.Regions)
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
		before, err := ownDomain(d, name, "deleted", c.condition)
		if err != nil {
			return err
		}
		ch.before = before
		d.DeleteDomain(name)
		return nil
	})
}

// ownDomain returns a domain that the API has created, if it fulfils the condition. done completes the sentence of the
// error, such as "deleted".
func ownDomain(d *definitions.Draft, name, done string, cond condition) (*model.Domain, error) {
	switch domain := d.Now().Domains[name]; {
	case d.InFile(name):
		return nil, badRequest("domain %.260q comes from the configuration: only domains of the API can be %s here", name,
			done)
	case domain == nil:
		return nil, notFound("no domain %.260q is configured", name)
	default:
		return domain, cond.holds(domain)
	}
}

// checkRegionsIn refuses a region that is neither configured nor created and enabled. before are those that the object
// named before.
func checkRegionsIn(d *definitions.Draft, regions, before []string) error {
	if err := checkEnabled(d, regions, before); err != nil {
		return err
	}
	for _, region := range regions {
		if r := d.Now().Regions[region]; r != nil && r.Enabled {
			continue
		}
		if err := checkRegion(d.File(), region); err != nil {
			return err
		}
	}
	return nil
}

// checkEnabled refuses a region of the file that is disabled, unless the object named it before.
func checkEnabled(d *definitions.Draft, regions, before []string) error {
	for _, region := range regions {
		at := regionAt(d.File(), region)
		if at >= 0 && d.File().Regions[at].Disabled() && !slices.Contains(before, region) {
			return badRequest("region is %.64q, which is disabled: enable it first, or leave it out", region)
		}
	}
	return nil
}

// newDomain returns the domain of a request, with the defaults of the fields that the request omits.
func (s *Server) newDomain(req api.DomainChange, source string) (*model.Domain, error) {
	given := req.Text("name")
	name, remedy := settings.ParseService(given)
	if remedy != "" {
		return nil, badRequest("name is %.260q: %s", given, remedy)
	}
	made := model.New[model.Domain]()
	made.Name = name
	rest := maps.Clone(req)
	delete(rest, "name")
	return made, s.editDomain(made, rest, source)
}

// editDomain applies a request to d and checks the result.
func (s *Server) editDomain(d *model.Domain, req api.DomainChange, source string) error {
	if req.Text("answer") == config.AnswerCNAME {
		if err := s.checkNamesOnly(d.Name); err != nil {
			return err
		}
	}
	if err := definitions.EditDomain(d, req, source); err != nil {
		return asBadRequest(err)
	}
	if !req.Has("dnssec_enabled") {
		return nil
	}
	var signed *bool
	if err := req.Read("dnssec_enabled", &signed); err != nil {
		return err
	}
	switch signs := s.o.SigningKeys != nil; {
	case signed == nil:
		d.DNSSECEnabled = nil
	case *signed && !signs:
		return badRequest("dnssec_enabled is true: the node signs nothing, since overwatch.dnssec.enabled is false")
	case *signed:
		d.DNSSECEnabled = nil
	case signs: // a value without effect would surprise when the node begins to sign
		d.DNSSECEnabled = signed
	}
	return nil
}

// checkNamesOnly returns an error if a declared server of a domain has an address instead of a host name.
func (s *Server) checkNamesOnly(domain string) error {
	for _, b := range s.o.View.Service(domain) {
		if b.Source != api.SourceAgent && b.Part().Target == "" {
			return badRequest("answer is cname, and server %s has an address, which would never be answered: remove it, and "+
				"give the domain servers with a target", b.ID)
		}
	}
	return nil
}
