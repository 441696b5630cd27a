package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// Bounds of a domain that the API creates.
const (
	maxTTL         = math.MaxInt32 // RFC 2181 section 8, seconds
	maxDescription = 500           // characters
)

// postDomain answers POST /domains.
func (s *Server) postDomain(c *gin.Context) (answer, error) {
	var req api.DomainChange
	if err := bodyInto(c, &req); err != nil {
		return answer{}, err
	}
	name, remedy := settings.CanonicalService(req.Name)
	if remedy != "" {
		return answer{}, badRequest("name is %.260q: %s", req.Name, remedy)
	}
	s.domains.Lock()
	defer s.domains.Unlock()
	cfg, _ := s.o.Config()
	if _, exists := s.findDomain(cfg, name); exists {
		return answer{}, problemf(http.StatusConflict, "domain %s exists already", name)
	}
	now := stamp(s.o.Now())
	d := store.Domain{Name: name, RoutingPolicy: config.DefaultRoutingAlgorithm, Regions: []string{}, Enabled: true, CreatedAt: now, UpdatedAt: now}
	if err := s.editDomain(cfg, &d, req); err != nil {
		return answer{}, err
	}
	return s.storeDomain(c, http.StatusCreated, &change{action: "create", resource: "domain", id: name, after: d}, d)
}

// putDomain answers PUT and PATCH /domains/{name}: both change what the body
// names.
func (s *Server) putDomain(c *gin.Context) (answer, error) {
	s.domains.Lock()
	defer s.domains.Unlock()
	before, err := s.ownDomain(c, "changed")
	if err != nil {
		return answer{}, err
	}
	var req api.DomainChange
	if err := bodyInto(c, &req); err != nil {
		return answer{}, err
	}
	if req.Name != "" && canonicalName(req.Name) != before.Name {
		return answer{}, badRequest("name is %.260q: a domain keeps its name, %s", req.Name, before.Name)
	}
	cfg, _ := s.o.Config()
	after := before
	if err := s.editDomain(cfg, &after, req); err != nil {
		return answer{}, err
	}
	after.UpdatedAt = stamp(s.o.Now())
	return s.storeDomain(c, http.StatusOK, &change{action: "update", resource: "domain", id: before.Name, before: before, after: after}, after)
}

// storeDomain makes the change and shows the domain as it is then.
func (s *Server) storeDomain(c *gin.Context, status int, ch *change, d store.Domain) (answer, error) {
	err := s.commit(c, ch, func(ctx context.Context) error { return s.o.Domains.PutDomain(ctx, d) })
	if err != nil {
		return answer{}, err
	}
	cfg, since := s.o.Config()
	shown, found := s.findDomain(cfg, d.Name)
	if !found {
		return answer{}, errors.New("a domain that was stored is not shown")
	}
	return answer{status, s.domainDetail(cfg, shown, since)}, nil
}

// deleteDomain answers DELETE /domains/{name}. Its backends stay known and
// are not served.
func (s *Server) deleteDomain(c *gin.Context) (answer, error) {
	s.domains.Lock()
	defer s.domains.Unlock()
	d, err := s.ownDomain(c, "deleted")
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.commit(c, &change{action: "delete", resource: "domain", id: d.Name, before: d}, func(ctx context.Context) error {
		return s.o.Domains.DeleteDomain(ctx, d.Name)
	})
}

// ownDomain finds the domain that the path names, if the API has created it.
func (s *Server) ownDomain(c *gin.Context, done string) (store.Domain, error) {
	cfg, _ := s.o.Config()
	name := canonicalName(c.Param("name"))
	if d, ours := s.o.Domains.CreatedDomains()[name]; ours {
		return d, nil
	}
	if _, found := s.findDomain(cfg, name); found {
		return store.Domain{}, badRequest("domain %s comes from the configuration: only domains of the API can be %s here", name, done)
	}
	return store.Domain{}, notFound("no domain %.260q is configured", c.Param("name"))
}

// editDomain checks what a request changes, and changes it.
func (s *Server) editDomain(cfg *config.Config, d *store.Domain, req api.DomainChange) error {
	if req.TTL != nil {
		if *req.TTL < 1 || *req.TTL > maxTTL {
			return badRequest("ttl is %d: it must be from 1 to %d seconds", *req.TTL, maxTTL)
		}
		d.TTL = *req.TTL
	}
	if req.RoutingPolicy != nil {
		if !slices.Contains(policy.Algorithms(), policy.Algorithm(*req.RoutingPolicy)) {
			return badRequest("routing_policy is %.64q: it must be one of %v", *req.RoutingPolicy, policy.Algorithms())
		}
		d.RoutingPolicy = *req.RoutingPolicy
	}
	if signs := s.o.SigningKeys != nil; req.DNSSECEnabled != nil && *req.DNSSECEnabled != signs {
		return badRequest("dnssec_enabled is %t: the node signs all of its zones or none, and overwatch.dnssec.enabled is %t", *req.DNSSECEnabled, signs)
	}
	if req.Enabled != nil {
		d.Enabled = *req.Enabled
	}
	if req.Description != nil {
		if err := checkDescription(*req.Description); err != nil {
			return err
		}
		d.Description = *req.Description
	}
	if req.Regions != nil {
		return setRegions(cfg, d, *req.Regions)
	}
	return nil
}

func setRegions(cfg *config.Config, d *store.Domain, regions []string) error {
	for i, region := range regions {
		if err := checkRegion(cfg, region); err != nil {
			return err
		}
		if slices.Contains(regions[:i], region) {
			return badRequest("regions lists %q twice", region)
		}
	}
	d.Regions = slices.Clone(regions)
	return nil
}

// checkDescription is checkText for a text that may be empty.
func checkDescription(text string) error {
	if text == "" {
		return nil
	}
	if utf8.RuneCountInString(text) > maxDescription || slices.ContainsFunc([]rune(text), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return badRequest("description must be at most %d characters that can be printed", maxDescription)
	}
	return nil
}
