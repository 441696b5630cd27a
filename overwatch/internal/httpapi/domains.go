package httpapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/shared/api"
)

// listDomains answers GET /domains.
func (s *Server) listDomains(c *gin.Context) (answer, error) {
	_, p, err := listQuery(c)
	if err != nil {
		return answer{}, err
	}
	cfg, since := s.o.Config()
	domains := slices.SortedFunc(slices.Values(cfg.Domains), func(a, b config.Domain) int { return strings.Compare(a.Name, b.Name) })
	list := api.DomainList{GeneratedAt: stamp(s.o.Now())}
	list.Domains, list.Total = pageOf(slices.Values(domains), p, func(d config.Domain) api.Domain { return s.domainView(cfg, d, since) })
	return ok(list), nil
}

// getDomain answers GET /domains/{name}.
func (s *Server) getDomain(c *gin.Context) (answer, error) {
	cfg, since := s.o.Config()
	d, err := domainOf(c, cfg)
	if err != nil {
		return answer{}, err
	}
	view := s.domainView(cfg, d, since)
	view.Settings = &api.DomainSettings{
		GeoRoutingEnabled:   d.RoutingAlgorithm == "geolocation",
		FailoverEnabled:     d.RoutingAlgorithm == "failover" || d.RoutingAlgorithm == "geolocation",
		FailoverThreshold:   d.FailoverThreshold,
		LoadBalancingMethod: balancing(d.RoutingAlgorithm),
	}
	return ok(api.DomainDetail{Domain: view}), nil
}

// domainOf finds the domain that the path names, in any case and with or
// without its trailing dot.
func domainOf(c *gin.Context, cfg *config.Config) (config.Domain, error) {
	name := canonicalName(c.Param("name"))
	at := slices.IndexFunc(cfg.Domains, func(d config.Domain) bool { return d.Name == name })
	if at < 0 {
		return config.Domain{}, notFound("no domain %.260q is configured", c.Param("name"))
	}
	return cfg.Domains[at], nil
}

// balancing is how a policy chooses among candidates that are equally good to
// it: all but round-robin share by weight.
func balancing(policy string) string {
	if policy == "round-robin" {
		return policy
	}
	return "weighted"
}

func (s *Server) domainView(cfg *config.Config, d config.Domain, since time.Time) api.Domain {
	view := api.Domain{
		ID:            d.Name,
		Name:          d.Name,
		TTL:           cmp.Or(d.TTL, cfg.DNS.DefaultTTL),
		RoutingPolicy: d.RoutingAlgorithm,
		DNSSECEnabled: s.o.SigningKeys != nil,
		Enabled:       true, // configuration knows no domain that is switched off
		Tags:          []string{},
		CreatedAt:     stamp(since),
		UpdatedAt:     stamp(since),
	}
	for _, b := range s.o.View.Service(d.Name) {
		view.BackendCount++
		if healthy(b) {
			view.HealthyBackends++
		}
	}
	return view
}

// listDomainBackends answers GET /domains/{name}/backends.
func (s *Server) listDomainBackends(c *gin.Context) (answer, error) {
	_, p, err := listQuery(c)
	if err != nil {
		return answer{}, err
	}
	cfg, _ := s.o.Config()
	d, err := domainOf(c, cfg)
	if err != nil {
		return answer{}, err
	}
	list := api.DomainBackendList{GeneratedAt: stamp(s.o.Now())}
	list.Backends, list.Total = pageOf(slices.Values(s.o.View.Service(d.Name)), p, func(b *registry.Backend) api.DomainBackend {
		return api.DomainBackend{
			ID:        b.ID.String(),
			Address:   b.Address.String(),
			Port:      int(b.Port),
			Weight:    b.Weight,
			Priority:  priority(d.Regions, b.Region),
			Region:    b.Region,
			Healthy:   healthy(b),
			Enabled:   b.Weight > 0 && !b.Draining,
			LastCheck: stampOrNull(later(b.ClaimAt(), b.Validation.At)),
		}
	})
	return ok(list), nil
}

// priority is the place of a region in a domain's order, from 1; a region
// that the domain does not list comes after all that it does.
func priority(order []string, region string) int {
	if at := slices.Index(order, region); at >= 0 {
		return at + 1
	}
	return len(order) + 1
}
