package httpapi

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// Bounds of a domain that the API creates.
const (
	maxTTL         = math.MaxInt32 // RFC 2181 section 8, seconds
	maxDescription = 500           // characters
	maxTags        = 50
	maxTag         = 64 // characters
)

// postDomain answers POST /domains.
func (s *Server) postDomain(c *call, req api.DomainChange) (answer, error) {
	name, remedy := settings.ParseService(req.Name)
	if remedy != "" {
		return answer{}, badRequest("name is %.260q: %s", req.Name, remedy)
	}
	now := stamp(s.o.Now())
	made := store.Domain{Name: name, RoutingPolicy: config.DefaultRoutingAlgorithm, Regions: []string{}, Enabled: true,
		CreatedAt: now, UpdatedAt: now}
	if err := s.editDomain(&made, req); err != nil {
		return answer{}, err
	}
	return s.defineDomain(c, http.StatusCreated, &change{action: "create", resource: "domain", id: name},
		func(d *definitions.Draft, _ *change) (*store.Domain, error) {
			switch {
			case d.Now().Domains[name] != nil || d.InFile(name):
				return nil, problemf(http.StatusConflict, "domain %s exists already", name)
			case len(d.Now().Domains) >= definitions.MaxDomains:
				return nil, problemf(http.StatusInsufficientStorage, "the API has created %d domains, which is the most",
					definitions.MaxDomains)
			}
			return &made, checkRegionsIn(d, made.Regions, nil)
		})
}

// putDomain answers PUT and PATCH /domains/{name}: both change the fields that the body has.
func (s *Server) putDomain(c *call, req api.DomainChange) (answer, error) {
	name := wire.CanonicalService(c.Param("name"))
	if req.Name != "" && wire.CanonicalService(req.Name) != name {
		return answer{}, badRequest("name is %.260q: a domain keeps its name, %.260q", req.Name, name)
	}
	req.Name = ""
	return s.defineDomain(c, http.StatusOK, &change{action: "update", resource: "domain", id: name},
		func(d *definitions.Draft, ch *change) (*store.Domain, error) {
			if d.InFile(name) {
				return nil, s.layDomain(c, d, ch, name, req)
			}
			before, err := ownDomain(d, name, "changed", c.condition)
			if err != nil {
				return nil, err
			}
			after := *before
			if err := s.editDomain(&after, req); err != nil {
				return nil, err
			}
			after.UpdatedAt = stamp(s.o.Now())
			ch.before = before
			if req.Regions != nil {
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
	file := d.Bare().Domains[domainAt(d.Bare().Domains, name)]
	return layOver(s, c, d, ch, overlayRequest[api.DomainChange]{
		kind: definitions.OverDomain, name: name, configured: definitions.DomainFields(&file), change: req,
		check: func(all api.DomainChange) error {
			trial := store.Domain{Name: name, RoutingPolicy: file.RoutingAlgorithm, FallbackAlgorithm: file.FallbackAlgorithm}
			if err := s.editDomain(&trial, all); err != nil {
				return err
			}
			if err := checkRecords(definitions.LayRecords(file, &all)); err != nil || req.Regions == nil {
				return err
			}
			return checkRegionsIn(d, *req.Regions, file.Regions)
		}})
}

// defineDomain commits a change of a domain, and answers with the domain. edit returns the domain to store, or nil if
// it has made the change itself, as an overlay of the configuration.
func (s *Server) defineDomain(c *call, status int, ch *change,
	edit func(*definitions.Draft, *change) (*store.Domain, error)) (answer, error) {
	var after *store.Domain
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
	return tagged(c, status, s.domainDetail(cfg, definitions.Domain(after), after, since), after), nil
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
func ownDomain(d *definitions.Draft, name, done string, cond condition) (*store.Domain, error) {
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

// editDomain checks the fields of a request and sets them in d.
func (s *Server) editDomain(d *store.Domain, req api.DomainChange) error {
	if req.TTL != nil {
		if *req.TTL < 1 || *req.TTL > maxTTL {
			return badRequest("ttl is %d: it must be from 1 to %d seconds", *req.TTL, maxTTL)
		}
		d.TTL = *req.TTL
	}
	if req.RoutingPolicy != nil {
		if policy.Named(*req.RoutingPolicy) == nil {
			return badRequest("routing_policy is %.64q: it must be one of %s", *req.RoutingPolicy,
				listed(policy.Names(policy.Algorithms())))
		}
		d.RoutingPolicy = *req.RoutingPolicy
	}
	if req.FallbackAlgorithm != nil {
		d.FallbackAlgorithm = *req.FallbackAlgorithm
	}
	if err := checkFallback(d); err != nil {
		return err
	}
	if req.MinHealthy != nil {
		if _, ok := policy.ParseMinimum(*req.MinHealthy); !ok {
			return badRequest(
				"min_healthy is %.64q: it must be a number of backends from 1 to %d, a part of them from 1%% to 100%%, or empty",
				*req.MinHealthy, policy.MaxMinimum)
		}
		d.MinHealthy = *req.MinHealthy
	}
	if err := editSettings(d, req); err != nil {
		return err
	}
	if req.Answer != nil {
		if err := s.setAnswer(d, *req.Answer); err != nil {
			return err
		}
	}
	if req.HTTPS != nil {
		if d.HTTPS = req.HTTPS; len(req.HTTPS.ALPN) == 0 && req.HTTPS.Port == 0 && req.HTTPS.ECH == "" {
			d.HTTPS = nil
		}
	}
	if req.SRV != nil {
		d.SRV = *req.SRV
	}
	if err := checkRecords(definitions.Domain(d)); err != nil {
		return err
	}
	switch signs := s.o.SigningKeys != nil; {
	case req.DNSSECEnabled == nil:
	case *req.DNSSECEnabled && !signs:
		return badRequest("dnssec_enabled is true: the node signs nothing, since overwatch.dnssec.enabled is false")
	case *req.DNSSECEnabled, signs: // false without effect would surprise when the node begins to sign
		d.Unsigned = !*req.DNSSECEnabled
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
	if req.Tags != nil {
		if err := setTags(d, *req.Tags); err != nil {
			return err
		}
	}
	if req.Regions != nil {
		return setRegions(d, *req.Regions)
	}
	return nil
}

// setAnswer sets the field answer of a domain. For cname, no declared server of the domain may have an address instead
// of a host name.
func (s *Server) setAnswer(d *store.Domain, kind string) error {
	switch kind {
	case config.AnswerAddress:
		d.Answer = ""
		return nil
	case config.AnswerCNAME:
	default:
		return badRequest("answer is %.64q: it must be %s or %s", kind, config.AnswerAddress, config.AnswerCNAME)
	}
	for _, b := range s.o.View.Service(d.Name) {
		if b.Source != api.SourceAgent && b.Part().Target == "" {
			return badRequest("answer is cname, and server %s has an address, which would never be answered: remove it, and "+
				"give the domain servers with a target", b.ID)
		}
	}
	d.Answer = kind
	return nil
}

// checkRecords checks the settings of a domain's HTTPS and SRV records.
func checkRecords(d config.Domain) error {
	for _, p := range d.RecordProblems() {
		return badRequest("%s is %.64q: %s", p.Key, p.Value, p.Message)
	}
	return nil
}

// editSettings sets the fields of proximity and client-hash.
func editSettings(d *store.Domain, req api.DomainChange) error {
	if req.ProximityToleranceKm != nil {
		if km := *req.ProximityToleranceKm; km < 0 || km > config.MaxTolerance {
			return badRequest("proximity_tolerance_km is %g: it must be from 0 to %d", km, config.MaxTolerance)
		}
		d.Tolerance = req.ProximityToleranceKm
	}
	for _, prefix := range []struct {
		field         string
		wanted        *int
		lowest, limit int
		of            **int
	}{
		{"client_hash_ipv4_prefix", req.ClientHashIPv4Prefix, config.MinIPv4Prefix, 32, &d.IPv4Prefix},
		{"client_hash_ipv6_prefix", req.ClientHashIPv6Prefix, config.MinIPv6Prefix, config.MaxIPv6Prefix, &d.IPv6Prefix},
	} {
		if prefix.wanted == nil {
			continue
		}
		if bits := *prefix.wanted; bits < prefix.lowest || bits > prefix.limit {
			return badRequest("%s is %d: it must be from %d to %d bits", prefix.field, bits, prefix.lowest, prefix.limit)
		}
		*prefix.of = prefix.wanted
	}
	return nil
}

// checkFallback checks that the fallback exists, and that the domain's policy can lack data at all.
func checkFallback(d *store.Domain) error {
	switch fallback := d.FallbackAlgorithm; {
	case fallback == "":
	case policy.Named(fallback) == nil:
		return badRequest("fallback_algorithm is %.64q: it must be one of %s, or empty", fallback,
			listed(policy.Names(policy.Algorithms())))
	case !policy.Named(d.RoutingPolicy).MayLackData():
		return badRequest("fallback_algorithm is %q: the routing_policy %s never lacks data, so it must be empty", fallback,
			d.RoutingPolicy)
	case fallback == d.RoutingPolicy:
		return badRequest("fallback_algorithm is %q: it must be another than the routing_policy, or empty", fallback)
	}
	return nil
}

func setRegions(d *store.Domain, regions []string) error {
	for i, region := range regions {
		if slices.Contains(regions[:i], region) {
			return badRequest("regions lists %q twice", region)
		}
	}
	d.Regions = append([]string{}, regions...)
	return nil
}

// setTags sets the tags of a domain. An empty list takes them all away.
func setTags(d *store.Domain, tags []string) error {
	if len(tags) > maxTags {
		return badRequest("tags has %d entries: it must have at most %d", len(tags), maxTags)
	}
	for i, tag := range tags {
		if !isTag(tag) {
			return badRequest("tags has %.260q: a tag must be 1 to %d characters that can be printed, without commas and "+
				"without spaces around it", tag, maxTag)
		}
		if slices.Contains(tags[:i], tag) {
			return badRequest("tags lists %q twice", tag)
		}
	}
	d.Tags = slices.Clone(tags)
	return nil
}

func isTag(tag string) bool {
	unfit := func(r rune) bool { return !unicode.IsPrint(r) || r == ',' }
	return tag != "" && utf8.ValidString(tag) && utf8.RuneCountInString(tag) <= maxTag &&
		strings.TrimSpace(tag) == tag && !strings.ContainsFunc(tag, unfit)
}

// checkDescription is checkText for a text that may be empty.
func checkDescription(text string) error {
	if text == "" {
		return nil
	}
	if utf8.RuneCountInString(text) > maxDescription ||
		slices.ContainsFunc([]rune(text), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return badRequest("description must be at most %d characters that can be printed", maxDescription)
	}
	return nil
}
