package objects

import (
	"errors"
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// NewServer returns the server of a request. The health check of a server with an address has the settings of the
// request and, for omitted settings, of its region. A server by host name stores only the settings of the request; the
// settings of its region apply to the others.
func (e *Editor) NewServer(req api.ServerChange, source string) (*model.Server, error) {
	cfg, made := e.Config(), model.New[model.Server]()
	ofRegion := model.HealthCheckOf(cfg.CheckIn(req.Text("region")))
	byName := req.Text("target") != ""
	if !byName {
		made.HealthCheck = ofRegion
	}
	if err := definitions.ApplyPatch(made, req, source); err != nil {
		return nil, fault.FromCheck(err)
	}
	if !byName && made.HealthCheck == nil {
		made.HealthCheck = ofRegion
	}
	if err := canonicalServer(made); err != nil {
		return nil, err
	}
	return made, nil
}

// CheckNewServer checks and completes the health check of a new server, and rejects other bad settings. before is the
// server that it replaces, or nil.
func (e *Editor) CheckNewServer(made, before *model.Server, req api.ServerChange) error {
	others := []*model.HealthCheck{model.HealthCheckOf(e.Config().CheckIn(made.Region))}
	if before != nil {
		others = append([]*model.HealthCheck{before.HealthCheck}, others...)
	}
	return e.checkServer(made, req, others...)
}

// EditHealthCheck applies a request to the health check of a server. reset begins with the defaults of a configuration
// file.
func (e *Editor) EditHealthCheck(s *model.Server, req api.HealthCheckChange, reset bool) error {
	ofRegion := model.HealthCheckOf(e.Config().CheckIn(s.Region))
	before, h := s.HealthCheck, new(model.HealthCheck)
	switch {
	case reset:
		h = model.NewHealthCheck()
	case before != nil:
		*h = *before
	}
	if err := definitions.ApplyPatch(h, req, model.FromOperator); err != nil {
		return fault.FromCheck(err)
	}
	whole, err := h.Restore(before, ofRegion)
	if err != nil {
		return fault.FromCheck(err)
	}
	s.HealthCheck = whole
	return e.checkHealth(s, req, "")
}

// EditServer applies a request to a server. The request cannot change the id. Resetting the health check sets the
// health check of the region.
func (e *Editor) EditServer(s *model.Server, req api.ServerChange) error {
	before := *s
	if err := definitions.ApplyPatch(s, req, model.FromOperator); err != nil {
		return fault.FromCheck(err)
	}
	if err := canonicalServer(s); err != nil {
		return err
	}
	if s.ID() != before.ID() {
		return fault.Invalidf("the request would change the server %s into %s: service, address, target "+
			"and port of a server cannot change", before.ID(), s.ID())
	}
	ofRegion := model.HealthCheckOf(e.Config().CheckIn(s.Region))
	if s.HealthCheck == nil && s.Target == "" {
		s.HealthCheck = ofRegion
	}
	return e.checkServer(s, req, before.HealthCheck, ofRegion)
}

// canonicalServer converts the id of a server and its networks to canonical form, or rejects them.
func canonicalServer(s *model.Server) error {
	service, remedy := settings.ParseService(s.Service)
	if remedy != "" {
		return fault.Invalidf("service is %.260q: %s", s.Service, remedy)
	}
	s.Service = service
	switch {
	case s.Target != "" && s.Address.IsValid():
		return fault.Invalidf("address is %.64q, and target is set: remove one of the two", s.Address)
	case s.Target != "":
		id, err := definitions.NewTargetID(service, s.Target, int(s.Port))
		if err != nil {
			return fault.FromCheck(err)
		}
		s.Target = id.Name
		s.AllowedCIDRs, err = canonicalNetworks(s.AllowedCIDRs)
		return err
	case !s.Address.IsValid():
		return fault.Invalidf("address is missing: it must be an IPv4 or IPv6 address, or give a host name as target")
	case len(s.AllowedCIDRs) > 0:
		return fault.Invalidf("allowed_cidrs is for the addresses of a target: this server has one address")
	case s.Port == 0:
		return fault.Invalidf("port is missing: it must be from 1 to 65535")
	}
	_, err := registry.NewID(service, s.Address, s.Port)
	return fault.FromCheck(err)
}

// canonicalNetworks returns the canonical form of networks.
func canonicalNetworks(networks []netip.Prefix) (list []netip.Prefix, err error) {
	for _, network := range networks {
		one, err := NetworkOf("allowed_cidrs", network.String())
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// checkServer completes the health check of a server after a change by req, and rejects bad settings. others are health
// checks with secrets that the request may have redacted.
func (e *Editor) checkServer(s *model.Server, req api.ServerChange, others ...*model.HealthCheck) (err error) {
	if s.Target != "" {
		err = definitions.CheckTarget(s)
	}
	if err = errors.Join(err, definitions.CheckAgent(s.Agent), definitions.CheckHost(s.Host),
		definitions.CheckOwner(s.Owner)); err != nil {
		return fault.FromCheck(err)
	}
	if s.HealthCheck, err = s.HealthCheck.Restore(others...); err != nil {
		return fault.Invalidf("health_check: %v", err)
	}
	var given api.HealthCheckChange
	if err := req.Read("health_check", &given); err != nil {
		return err
	}
	return e.checkHealth(s, given, "health_check.")
}

// MergeServerOverlay returns the next overlay of a server of the configuration: the fields of base with the changes of
// a request, without values equal to the values of the configuration. A redacted secret of the request has the value
// of the stored overlay or of the configuration.
func (e *Editor) MergeServerOverlay(file config.StaticServer, stored, base, change api.ServerChange) (api.ServerChange,
	error) {
	change, err := KeepSecrets(stored, change, file.Settings().HealthCheck)
	if err != nil {
		return nil, err
	}
	merged, err := base.Merge(change)
	if err != nil {
		return nil, err
	}
	return merged.Differing(e.ConfiguredServer(file))
}

// CheckServerOverlay rejects an overlay that does not fit a server of the configuration.
func (e *Editor) CheckServerOverlay(file config.StaticServer, laid api.ServerChange) error {
	trial := file.Settings()
	if trial.HealthCheck.Host == "" && laid.Has("host") {
		trial.HealthCheck.Host = laid.Text("host")
	}
	if err := e.EditServer(trial, laid); err != nil {
		return err
	}
	if laid.Has("region") {
		return CheckRegion(e.Config(), trial.Region)
	}
	return nil
}

// CheckRegion rejects an unknown region, because no client would be near a server in a mistyped region.
func CheckRegion(cfg *config.Config, region string) error {
	names := make([]string, len(cfg.Regions))
	for i := range cfg.Regions {
		names[i] = cfg.Regions[i].Name
	}
	switch {
	case slices.Contains(names, region):
		return nil
	case region == "":
		return fault.Invalidf("region is missing: it must be one of %s", ShortList(names))
	}
	return fault.Invalidf("region is %.64q: it must be one of %s", region, ShortList(names))
}

// CheckNewTarget rejects a server by host name that the file has, or with a host name that this node answers.
func (e *Editor) CheckNewTarget(d *definitions.Draft, id definitions.TargetID) error {
	if definitions.FileTargets(d.File())[id] {
		return ErrOfFile
	}
	steered := make(map[string]bool)
	cfg := e.Config()
	for domain := range cfg.AllDomains {
		steered[domain.Name] = true
	}
	if config.Steers(steered, id.Name) {
		return fault.Invalidf("target is %q, a name that this node answers itself, so it would lead to itself: give "+
			"the name of the servers behind it", id.Name)
	}
	return nil
}

// UnknownTarget returns the error for a server by host name that the API does not have.
func UnknownTarget(set *definitions.Set, id definitions.TargetID) error {
	for _, other := range set.Targets() {
		if other.Service == id.Service {
			return fault.NotFoundf("the API has no server %s: of this service it has %s", id, other.ID())
		}
	}
	return fault.NotFoundf("the API has no server %s; change servers of the configuration in the file", id)
}
