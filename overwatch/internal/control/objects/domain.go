package objects

import (
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// NewDomain returns the domain of a request. Omitted fields have their defaults.
func (e *Editor) NewDomain(req api.DomainChange, source string) (*model.Domain, error) {
	given := req.Text("name")
	name, remedy := settings.ParseService(given)
	if remedy != "" {
		return nil, fault.Invalidf("name is %.260q: %s", given, remedy)
	}
	made := model.New[model.Domain]()
	made.Name = name
	rest := maps.Clone(req)
	delete(rest, "name")
	return made, e.EditDomain(made, rest, source)
}

// EditDomain applies a request to d and validates the result.
func (e *Editor) EditDomain(d *model.Domain, req api.DomainChange, source string) error {
	if req.Text("answer") == config.AnswerCNAME {
		if err := e.checkNamesOnly(d.Name); err != nil {
			return err
		}
	}
	if err := definitions.EditDomain(d, req, source); err != nil {
		return fault.FromCheck(err)
	}
	if !req.Has("dnssec_enabled") {
		return nil
	}
	var signed *bool
	if err := req.Read("dnssec_enabled", &signed); err != nil {
		return err
	}
	switch signs := e.Signs; {
	case signed == nil:
		d.DNSSECEnabled = nil
	case *signed && !signs:
		return fault.Invalidf("dnssec_enabled is true: the node signs nothing, since overwatch.dnssec.enabled is false")
	case *signed:
		d.DNSSECEnabled = nil
	case signs: // otherwise the value would take effect later, when the node begins to sign
		d.DNSSECEnabled = signed
	}
	return nil
}

// checkNamesOnly returns an error if a declared server of a domain has an address instead of a host name.
func (e *Editor) checkNamesOnly(domain string) error {
	for _, b := range e.View.Service(domain) {
		if b.Source != api.SourceAgent && b.Host().Name == "" {
			return fault.Invalidf("answer is cname, and server %s has an address, which would never be answered: "+
				"remove it, and give the domain servers with a target", b.ID)
		}
	}
	return nil
}

// CheckRegions rejects a missing or disabled region. It accepts regions in before, the current regions of the object.
func CheckRegions(d *definitions.Draft, regions, before []string) error {
	if err := CheckEnabled(d, regions, before); err != nil {
		return err
	}
	for _, region := range regions {
		if r := d.Now().Regions[region]; r != nil && r.Enabled {
			continue
		}
		if err := CheckRegion(d.File(), region); err != nil {
			return err
		}
	}
	return nil
}

// CheckEnabled rejects a disabled region of the file, unless the object already references it.
func CheckEnabled(d *definitions.Draft, regions, before []string) error {
	for _, region := range regions {
		at := RegionAt(d.File(), region)
		if at >= 0 && !d.File().Regions[at].Enabled && !slices.Contains(before, region) {
			return fault.Invalidf("region is %.64q, which is disabled: enable it first, or leave it out", region)
		}
	}
	return nil
}

// OwnDomain returns a domain of the API if it satisfies the condition. done completes the sentence of the error, such
// as "deleted".
func OwnDomain(d *definitions.Draft, name, done string, cond Condition) (*model.Domain, error) {
	switch domain := d.Now().Domains[name]; {
	case d.InFile(model.KindDomain, name):
		return nil,
			fault.Invalidf("domain %.260q comes from the configuration: only domains of the API can be %s here", name,
				done)
	case domain == nil:
		return nil, fault.NotFoundf("no domain %.260q is configured", name)
	default:
		return domain, cond.Holds(domain)
	}
}

// ConfiguredDomain returns a domain of the configuration, even if the API has disabled it.
func ConfiguredDomain(cfg *config.Config, name string) (config.Domain, bool) {
	for _, list := range [][]config.Domain{cfg.Domains, cfg.Disabled()} {
		if at := domainAt(list, name); at >= 0 {
			return list[at], true
		}
	}
	return config.Domain{}, false
}

func domainAt(list []config.Domain, name string) int {
	return slices.IndexFunc(list, func(d config.Domain) bool { return d.Name == name })
}

// FindDomain finds a domain by its name, case-insensitive, with or without trailing dot.
func (e *Editor) FindDomain(cfg *config.Config, name string) (config.Domain, bool) {
	name = wire.CanonicalService(name)
	set, _ := e.Defined()
	if d := set.Domains[name]; d != nil {
		return *d, true
	}
	return ConfiguredDomain(cfg, name)
}
