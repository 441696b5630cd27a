package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

func domainOperations() []Operation {
	domain := v1 + "/domains/{name}"
	example := model.New[model.Domain]()
	example.Name, example.TTL, example.RoutingAlgorithm, example.Regions = "app.example.com", 30, "weighted",
		[]string{"eu-west"}
	example.Description, example.Tags, example.CreatedAt, example.UpdatedAt = "the shop", []string{"shop"}, exampleTime(),
		exampleTime()
	one := api.Domain{ID: "app.example.com", Domain: *example, RoutingPolicy: "weighted", DNSSECEnabled: true,
		HealthCheckID: exampleServer, BackendCount: 4, HealthyBackends: 3,
		ServingBackends: 3, RequiredBackends: 1, AnswerStatus: api.AnswersNormal, Source: api.FromAPI}
	full := one
	full.Settings = &api.DomainSettings{FailoverThreshold: 1, LoadBalancingMethod: "weighted"}
	change := api.DomainChange{"ttl": 60, "enabled": true}
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/domains", handle: (*Server).listDomains, Summary: "List domains",
			Query: paged(text("tag", "list only domains with this tag", "shop")), Status: 200,
			Answer: api.DomainList{Domains: []api.Domain{one}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: v1 + "/domains", Changes: KindDomain,
			handle: decoded((*Server).postDomain), Summary: "Create a domain",
			Body: api.DomainChange{"name": "app.example.com", "ttl": 30, "routing_algorithm": "weighted",
				"regions": []string{"eu-west"}},
			Status: 201, Answer: api.DomainDetail{Domain: full}, Errors: []int{conflict, noStore}},
		{Method: get, Path: domain, handle: (*Server).getDomain, Summary: "Get a domain", Status: 200,
			Answer: api.DomainDetail{Domain: full}},
		{Method: put, Path: domain, Changes: KindDomain,
			handle: decoded((*Server).putDomain), Header: conditionsOf(false),
			Summary:     "Change a domain",
			Description: "An omitted field does not change. For a domain of the configuration, the values become an overlay.",
			Body:        change, Status: 200, Answer: api.DomainDetail{Domain: full}, Errors: changeErrors},
		{Method: patch, Path: domain, Changes: KindDomain,
			handle: decoded((*Server).putDomain), Header: conditionsOf(false),
			Summary:     "Change a domain",
			Description: "PATCH and PUT of a domain are equivalent.",
			Body:        change, Status: 200, Answer: api.DomainDetail{Domain: full}, Errors: changeErrors},
		domainPlanOperation(domain, change),
		overlayOperation(domain, definitions.OverDomain, "name"),
		{Method: del, Path: domain, Changes: KindDomain, handle: (*Server).deleteDomain, Header: conditionsOf(false),
			Summary: "Delete a domain", Description: "Requires a domain that the API has " +
				"created. The backends of the domain are not deleted.",
			Status: 204, Errors: changeErrors},
		{Method: get, Path: domain + "/backends", handle: (*Server).listDomainBackends,
			Summary: "List backends of a domain",
			Query:   paged(), Status: 200,
			Answer: api.DomainBackendList{Backends: []api.DomainBackend{{
				ID: exampleServer, Address: "192.0.2.1", Port: 80, Weight: 100, Priority: 1, Region: "eu-west",
				Healthy: true,
				Enabled: true, LastCheck: new(exampleTime()),
			}}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: domain + "/backends", Changes: KindServer, handle: decoded((*Server).postDomainBackend),
			Summary:     "Add a backend to a domain",
			Description: "400 if the domain is unknown or the backend exists.",
			Body:        api.ServerChange{"address": "192.0.2.1", "port": 80, "weight": 1},
			Required:    []string{"address", "port"}, Status: 201,
			Answer: api.Named{Message: "server created", ID: exampleServer},
			Errors: []int{noStore}},
		{Method: del, Path: domain + "/backends/{id}", Changes: KindServer,
			handle: (*Server).deleteDomainBackend, Header: conditionsOf(false),
			Summary:     "Delete a backend of a domain",
			Description: "Requires a server that the API has created.", Status: 204,
			Query: safe, Errors: []int{conflict, noStore}},
	}
}

// listDomains answers GET /domains.
func (s *Server) listDomains(c *call) (answer, error) {
	cfg, since := s.o.Config()
	set, _ := s.o.Definitions.Defined()
	list := api.DomainList{GeneratedAt: stamp(s.o.Now())}
	all := within(c, slices.Values(s.sortedDomains(cfg, set)),
		func(d *config.Domain) bool { return c.sees(d.Scoped()) })
	if tag := c.query["tag"]; tag != "" {
		all = filtered(all, func(d *config.Domain) bool {
			return slices.Contains(d.Tags, tag)
		})
	}
	list.Domains, list.Total = pageOf(all, c.page,
		func(d *config.Domain) api.Domain { return s.domainView(cfg, *d, set.Domains[d.Name], since) })
	return ok(list), nil
}

// getDomain answers GET /domains/{name}.
func (s *Server) getDomain(c *call) (answer, error) {
	cfg, since := s.o.Config()
	d, err := s.domainOf(c, cfg)
	if err != nil {
		return answer{}, err
	}
	set, _ := s.o.Definitions.Defined()
	if created := set.Domains[d.Name]; created != nil {
		return tagged(c, http.StatusOK, s.domainDetail(cfg, d, created, since), created), nil
	}
	return tagged(c, http.StatusOK, s.domainDetail(cfg, d, nil, since), operations.DomainTag(set, d)), nil
}

// domainDetail returns the API view of a domain. created is nil for a domain of the configuration.
func (s *Server) domainDetail(cfg *config.Config, d config.Domain, created *model.Domain,
	since time.Time) api.DomainDetail {
	view := s.domainView(cfg, d, created, since)
	view.Settings = &api.DomainSettings{
		GeoRoutingEnabled:   policy.FindAlgorithm(d.RoutingAlgorithm).NeedsRegion,
		FailoverEnabled:     policy.FindAlgorithm(d.RoutingAlgorithm).ChoosesRegion(),
		FailoverThreshold:   d.FailoverThreshold,
		LoadBalancingMethod: balancing(d.RoutingAlgorithm),
	}
	return api.DomainDetail{Domain: view}
}

// domainsByName contains all domains of a configuration and a Set, sorted by name.
type domainsByName struct {
	cfg    *config.Config
	set    *definitions.Set
	sorted []*config.Domain
}

// sortedDomains returns all domains, including disabled domains, sorted by name. It caches the list until the state
// changes, because there can be 100 000 domains.
func (s *Server) sortedDomains(cfg *config.Config, set *definitions.Set) []*config.Domain {
	if last := s.byName.Load(); last != nil && last.cfg == cfg && last.set == set {
		return last.sorted
	}
	list := slices.AppendSeq(make([]*config.Domain, 0, len(cfg.Domains)+len(set.Domains)), cfg.AllDomains)
	for _, d := range set.Domains {
		if !d.Enabled {
			list = append(list, d)
		}
	}
	for i := range cfg.Disabled() {
		list = append(list, &cfg.Disabled()[i])
	}
	slices.SortFunc(list, func(a, b *config.Domain) int { return strings.Compare(a.Name, b.Name) })
	s.byName.Store(&domainsByName{cfg, set, list})
	return list
}

// domainOf returns the domain that the path names.
func (s *Server) domainOf(c *call, cfg *config.Config) (config.Domain, error) {
	d, found := s.edit.FindDomain(cfg, c.Param("name"))
	if !found {
		return d, notFound("no domain %.260q is configured", c.Param("name"))
	}
	return d, nil
}

// balancing returns the API's name for the method of an algorithm to select among equal candidates: by weight, except
// for round-robin and client-hash.
func balancing(algorithm string) string {
	if a := policy.FindAlgorithm(algorithm); a.IgnoresWeights || a.AssignsClients {
		return algorithm
	}
	return policy.Weighted.Name
}

func (s *Server) domainView(cfg *config.Config, d config.Domain, created *model.Domain, since time.Time) api.Domain {
	view := api.Domain{ID: d.Name, Domain: d, RoutingPolicy: d.RoutingAlgorithm, Source: api.FromAPI,
		DNSSECEnabled: s.o.SigningKeys != nil && !d.Unsigned()}
	view.TTL = cfg.DNS.TTL(d.TTL) // as DNS answers
	view.Regions, view.Tags = append([]string{}, d.Regions...), append([]string{}, d.Tags...)
	if created == nil {
		view.Source, view.CreatedAt, view.UpdatedAt = api.FromConfig, stamp(since), stamp(since)
		if at := s.o.CreatedAt(d.Name); !at.IsZero() {
			view.CreatedAt = stamp(at)
		}
		set, file := s.o.Definitions.Defined()
		if view.Overlay = objects.OverlayView(set, file, definitions.OverDomain, view.Name); view.Overlay != nil &&
			view.Overlay.InForce {
			view.UpdatedAt = view.Overlay.UpdatedAt
		}
	}
	service := wire.CanonicalService(d.Name)
	view.ActiveRegions, view.PendingFailbacks = s.o.Failbacks.InUse(service), failbackRecords(s.o.Failbacks.Of(service))
	checks, backends := cfg.Overwatch.Validation.Enabled, s.o.View.Service(d.Name)
	view.ServingBackends, view.RequiredBackends, view.AnswerStatus = conditions.Answers(conditions.DomainOf(cfg, &d),
		backends)
	if !d.Enabled {
		view.ServingBackends, view.AnswerStatus = 0, api.AnswersOff
	}
	for _, b := range backends {
		if checks && !b.Check().Off && view.HealthCheckID == "" {
			view.HealthCheckID = b.ID.String()
		}
		view.BackendCount++
		if b.IsHealthy() {
			view.HealthyBackends++
		}
	}
	return view
}

// listDomainBackends answers GET /domains/{name}/backends.
func (s *Server) listDomainBackends(c *call) (answer, error) {
	cfg, _ := s.o.Config()
	d, err := s.domainOf(c, cfg)
	if err != nil {
		return answer{}, err
	}
	list := api.DomainBackendList{GeneratedAt: stamp(s.o.Now())}
	list.Backends, list.Total = pageOf(slices.Values(s.o.View.Service(d.Name)), c.page,
		func(b *registry.Backend) api.DomainBackend {
			return api.DomainBackend{
				ID:             b.ID.String(),
				Address:        b.Address.String(),
				Port:           int(b.Port),
				Weight:         b.Weight,
				Priority:       explain.RegionPriority(d.Regions, b.Region),
				Region:         b.Region,
				Healthy:        b.IsHealthy(),
				Enabled:        b.EffectiveWeight() > 0 && (!b.Draining || b.DrainTo > 0),
				LastCheck:      api.MomentOrNull(later(b.Report().CheckedAt, b.OwnCheck.At)),
				WeightOverride: activeWeight(b),
			}
		})
	return ok(list), nil
}

// postDomain answers POST /domains.
func (s *Server) postDomain(c *call, req api.DomainChange) (answer, error) {
	made, err := s.op.CreateDomain(c.request(), req)
	return s.changedDomain(c, http.StatusCreated, made, err)
}

// putDomain answers PUT and PATCH /domains/{name}. Both change only the fields in the body.
func (s *Server) putDomain(c *call, req api.DomainChange) (answer, error) {
	after, err := s.op.ChangeDomain(c.request(), wire.CanonicalService(c.Param("name")), req)
	return s.changedDomain(c, http.StatusOK, after, err)
}

// changedDomain answers with a domain after its change. nil means the domain of the path, which the configuration
// declares.
func (s *Server) changedDomain(c *call, status int, after *model.Domain, err error) (answer, error) {
	switch {
	case err != nil:
		return answer{}, err
	case after == nil:
		return s.getDomain(c)
	}
	cfg, since := s.o.Config()
	return tagged(c, status, s.domainDetail(cfg, *after, after, since), after), nil
}

// deleteDomain answers DELETE /domains/{name}.
func (s *Server) deleteDomain(c *call) (answer, error) {
	return noContent(), s.op.DeleteDomain(c.request(), wire.CanonicalService(c.Param("name")))
}
