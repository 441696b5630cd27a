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
	"gslb.internal/shared/check"
)

// CheckOfNew returns the health check of a new server: that of its region with the fields of the request.
func (e *Editor) CheckOfNew(cfg *config.Config, req api.ServerCreate) (check.Spec, error) {
	spec := cfg.CheckIn(req.Region)
	if req.HealthCheck == nil {
		return spec, nil
	}
	return e.EditCheck(spec, *req.HealthCheck)
}

// NewServerID returns the id of the server that a request describes.
func NewServerID(service string, req api.ServerCreate) (registry.ID, error) {
	if req.Address == "" {
		return registry.ID{},
			fault.Invalidf("address is missing: it must be an IPv4 or IPv6 address, or give a host name " +
				"as target")
	}
	if len(req.AllowedCIDRs) > 0 {
		return registry.ID{},
			fault.Invalidf("allowed_cidrs is for the addresses of a target: give a target, or leave it out")
	}
	address, err := ParseAddress(req.Address)
	if err != nil {
		return registry.ID{}, err
	}
	if req.Port < 1 || req.Port > 65535 {
		return registry.ID{}, fault.Invalidf("port is %d: it must be from 1 to 65535", req.Port)
	}
	id, err := registry.NewID(service, address, uint16(req.Port))
	if err != nil {
		return registry.ID{}, fault.Invalidf("%v", err)
	}
	return id, nil
}

// CheckWeight rejects a weight that is out of range.
func CheckWeight(weight int) error { return fault.FromCheck(definitions.CheckWeight(weight)) }

// CheckAgent refuses a text that cannot be an agent's id; "" stands for none.
func CheckAgent(id string) error { return fault.FromCheck(definitions.CheckAgent(id)) }

// CheckRegion refuses a region that is not configured. With a mistyped region a server would never be near anyone.
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

// CheckServerPatch rejects a change of a server with bad values.
func (e *Editor) CheckServerPatch(req api.ServerPatch) (err error) {
	cfg := e.Config()
	if req.Weight != nil {
		err = CheckWeight(*req.Weight)
	}
	if req.Region != nil {
		err = errors.Join(err, CheckRegion(cfg, *req.Region))
	}
	if req.Agent != nil {
		err = errors.Join(err, CheckAgent(*req.Agent))
	}
	if req.AllowedCIDRs != nil {
		err = errors.Join(err,
			fault.Invalidf("allowed_cidrs is for the addresses of a target: this server has one address"))
	}
	return err
}

// NewTarget returns the server by host name that a request describes.
func NewTarget(req api.ServerCreate) (id definitions.TargetID, t *definitions.TargetServer, err error) {
	if req.Address != "" {
		return id, nil, fault.Invalidf("address is %.64q beside a target: keep one of the two", req.Address)
	}
	if id, err = definitions.NewTargetID(req.Service, req.Target, req.Port); err != nil {
		return id, nil, fault.Invalidf("%v", err)
	}
	t = &definitions.TargetServer{Region: req.Region, Weight: ValueOr(req.Weight, api.DefaultServerWeight),
		Agent: req.Agent, HealthCheck: req.HealthCheck}
	if t.AllowedCIDRs, err = ParseNetworks(req.AllowedCIDRs); err != nil {
		return id, nil, err
	}
	return id, t, CheckTarget(t)
}

// ParseNetworks reads the networks of allowed_cidrs.
func ParseNetworks(texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := NetworkOf("allowed_cidrs", text)
		if err != nil {
			return nil, err
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// CheckTarget rejects a server by host name with bad settings.
func CheckTarget(t *definitions.TargetServer) error {
	if err := t.Check(); err != nil {
		return fault.Invalidf("%v", err)
	}
	return nil
}

// CheckNewTarget refuses a server by host name that the file has already, or whose name is answered by this node.
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
		if other.ID.Service == id.Service {
			return fault.NotFoundf("the API has no server %s: of this service it has %s", id, other.ID)
		}
	}
	return fault.NotFoundf("the API has no server %s; those of the configuration are changed there", id)
}

// OwnCheck returns the fields of a server's check, nil if the check is that of its region.
func OwnCheck(spec, ofRegion check.Spec) *api.HealthCheckChange {
	if spec == ofRegion {
		return nil
	}
	own := CheckFields(spec)
	own.Enabled, own.Path = new(!spec.Off), &spec.Path
	return own
}

// NetworkTexts returns networks as texts.
func NetworkTexts(networks []netip.Prefix) (list []string) {
	for _, network := range networks {
		list = append(list, network.String())
	}
	return list
}
