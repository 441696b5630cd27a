package document

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// newTargets returns the number of servers with host names that a plan creates.
func (p *Plan) newTargets() (count int) {
	for id := range p.put.targets {
		if p.held.targets[id] == nil {
			count++
		}
	}
	return count
}

// staleTargets is stale for servers by host name.
func (p *Plan) staleTargets(now *definitions.Set) bool {
	for _, touched := range []map[definitions.TargetID]*model.Server{p.put.targets, p.gone.targets} {
		for id := range touched {
			if !reflect.DeepEqual(p.held.targets[id], now.Target(id)) {
				return true
			}
		}
	}
	return false
}

// checkTargets validates the servers with host names of a plan against the resulting domains and regions.
func (p *Plan) checkTargets(pl *Planner, d *definitions.Draft, domains map[string]*model.Domain,
	regions map[string]bool, problems *problems) {
	for id, t := range p.put.targets {
		place := kindServer + " " + id.String()
		if domains[id.Service] == nil && !d.InFile(model.KindDomain, id.Service) {
			problems.add(place, fault.Invalidf("service is %.260q: it must be the name of a domain of the document or "+
				"of this node",
				id.Service))
			continue
		}
		if was := p.held.targets[id]; was == nil || was.Region != t.Region {
			problems.check(place, p.mayName(regions, t.Region))
		}
		problems.check(place, pl.o.Edit.CheckNewTarget(d, id))
	}
}

// check validates the objects of a plan against each other, the file, and definitions created since the plan.
func (p *Plan) check(pl *Planner, d *definitions.Draft) error {
	if err := p.stale(d.Now()); err != nil {
		return err
	}
	var problems problems
	regions := p.regionsAfter(d)
	domains := map[string]*model.Domain{}
	maps.Copy(domains, d.Now().Domains)
	maps.Copy(domains, p.put.domains)
	for name := range p.gone.domains {
		delete(domains, name)
	}
	for name := range p.put.regions {
		if d.InFile(model.KindRegion, name) {
			problems.add(kindRegion+" "+name, objects.ErrOfFile)
		}
	}
	for name, domain := range p.put.domains {
		if d.InFile(model.KindDomain, name) {
			problems.add(kindDomain+" "+name, objects.ErrOfFile)
		}
		var named []string
		if was := p.held.domains[name]; was != nil {
			named = was.Regions
		}
		for _, region := range domain.Regions {
			problems.check(kindDomain+" "+name, p.mayName(regions, region, named...))
		}
		problems.check(kindDomain+" "+name, objects.CheckEnabled(d, domain.Regions, named))
	}
	for network, m := range p.put.mappings {
		if d.InFile(model.KindMapping, network) {
			problems.add(kindMapping+" "+network, objects.ErrOfFile)
		}
		var named []string
		if was := p.held.mappings[network]; was != nil {
			named = []string{was.Region}
		}
		problems.check(kindMapping+" "+network, p.mayName(regions, m.Region, named...))
		problems.check(kindMapping+" "+network, objects.CheckEnabled(d, []string{m.Region}, named))
	}
	for id, n := range p.put.agents {
		if was := p.held.agents[id]; n.Region != "" && (was == nil || was.Region != n.Region) {
			problems.check(kindAgent+" "+id, p.mayName(regions, n.Region))
		}
	}
	byName := domainsAnsweringNames(d.File(), domains)
	for id, server := range p.put.servers {
		if problems.full() {
			break
		}
		err := pl.checkServer(d, server, domains, byName)
		if was := p.held.servers[id]; err == nil && (was == nil || was.Region != server.Region) &&
			(server.Region != "" || len(regions) > 0) {
			err = p.mayName(regions, server.Region)
		}
		problems.check(kindServer+" "+id.String(), err)
	}
	p.checkTargets(pl, d, domains, regions, &problems)
	if len(p.gone.regions) > 0 {
		users := p.regionUsers(pl, d, domains)
		for name := range p.gone.regions {
			problems.check(kindRegion+" "+name, users[name])
		}
	}
	counts := []struct {
		kind       string
		have, most int
	}{{"domains", len(domains), definitions.MaxDomains},
		{"regions", withNew(d.Now().Regions, p.put.regions) - len(p.gone.regions), definitions.MaxRegions},
		{"mappings", withNew(d.Now().Mappings, p.put.mappings) - len(p.gone.mappings), definitions.MaxMappings},
		{"servers by host name", len(d.Now().Targets()) + p.newTargets() - len(p.gone.targets), definitions.MaxTargets},
		{"announced agents", withNew(d.Now().Nodes, p.put.agents) - len(p.gone.agents), definitions.MaxNodes}}
	for _, c := range counts {
		if c.have > c.most {
			return fault.Fullf("there would be %d %s, and %d are the most",
				c.have,
				c.kind,
				c.most,
			)
		}
	}
	return problems.err(fault.Invalid)
}

// regionsAfter returns the names of the regions after a plan, including regions of the file, and whether the API has
// disabled them.
func (p *Plan) regionsAfter(d *definitions.Draft) map[string]bool {
	all := map[string]bool{}
	for i := range d.File().Regions {
		all[d.File().Regions[i].Name] = true
	}
	for _, set := range []map[string]*model.Region{d.Now().Regions, p.put.regions} {
		for name, r := range set {
			all[name] = r.Enabled
		}
	}
	for name := range p.gone.regions {
		delete(all, name)
	}
	return all
}

// mayName checks that a region exists and is enabled. An object may name a disabled region if it named the region
// before, or if the document contains the region, as in an export.
func (p *Plan) mayName(regions map[string]bool, name string, before ...string) error {
	enabled, there := regions[name]
	switch {
	case !there:
		return fault.Invalidf("region is %.64q: it must be one of %s", name,
			objects.ShortList(slices.Sorted(maps.Keys(regions))))
	case !enabled && !slices.Contains(before, name) && p.put.regions[name] == nil:
		return fault.Invalidf("region is %.64q, which is disabled: enable it first, or leave it out", name)
	}
	return nil
}

// domainsAnsweringNames returns the domains of a file and of the API that answer with host names.
func domainsAnsweringNames(file *config.Config, made map[string]*model.Domain) map[string]bool {
	all := map[string]bool{}
	for _, list := range [][]config.Domain{file.Domains, file.Disabled()} {
		for i := range list {
			if list[i].AnswersNames() {
				all[list[i].Name] = true
			}
		}
	}
	for name, d := range made {
		if d.AnswersNames() {
			all[name] = true
		}
	}
	return all
}

// checkServer checks that a server's domain exists and answers with addresses, and that the file does not declare the
// server.
func (pl *Planner) checkServer(d *definitions.Draft, server *model.Server, domains map[string]*model.Domain,
	byName map[string]bool) error {
	if domains[server.Service] == nil && !d.InFile(model.KindDomain, server.Service) {
		return fault.Invalidf(
			"service is %.260q: it must be the name of a domain of the document or of this node",
			server.Service,
		)
	}
	if byName[server.Service] {
		return fault.Invalidf("service is %q, whose answers are names (answer: cname): give a host name as target, "+
			"since an "+
			"address is never answered", server.Service)
	}
	if b := pl.o.View.Get(registry.ID{Service: server.Service, Address: server.Address, Port: server.Port}); b != nil &&
		b.Source == api.SourceStatic {
		return objects.ErrOfFile
	}
	return nil
}

// regionUsers returns an error for each region that an object references after the plan. The error names such an
// object.
func (p *Plan) regionUsers(pl *Planner, d *definitions.Draft, domains map[string]*model.Domain) map[string]error {
	users := map[string]error{}
	names := func(region, format string, object any) {
		if users[region] == nil {
			users[region] = fault.Invalidf(format, object)
		}
	}
	for _, domain := range domains {
		for _, region := range domain.Regions {
			names(region, "domain %s names it, and stays", domain.Name)
		}
	}
	for domain := range d.File().AllDomains { // regions of overlays
		for _, region := range domain.Regions {
			names(region, "the overlay of domain %s names it: change it first", domain.Name)
		}
	}
	for network, m := range d.Now().Mappings {
		if put := p.put.mappings[network]; put != nil {
			m = put
		}
		if p.gone.mappings[network] == nil {
			names(m.Region, "the mapping of %s names it, and stays", network)
		}
	}
	for _, t := range d.Now().Targets() {
		id := definitions.TargetIDOf(t)
		put := p.put.targets[id]
		if p.gone.targets[id] == nil && (put == nil || put.Region == t.Region) {
			names(t.Region, "server %s is in it, and stays", id)
		}
	}
	for b := range pl.o.View.Backends() {
		put := p.put.servers[b.ID]
		// The addresses of a target are omitted, because the target represents them.
		if !b.Host().FromAPI && p.gone.servers[b.ID] == nil && (put == nil || put.Region == b.Region) {
			names(b.Region, "server %s is in it, and stays", b.ID)
		}
	}
	return users
}

// staleServers is stale for servers. The caller holds the reservation of the servers, so that no other change can
// change them.
func (p *Plan) staleServers(inv Inventory) error {
	for _, touched := range []map[registry.ID]*model.Server{p.put.servers, p.gone.servers} {
		for id := range touched {
			now, there := inv.Get(id)
			if was := p.held.servers[id]; there != (was != nil) || there && !reflect.DeepEqual(&now, was) {
				return errStale
			}
		}
	}
	return nil
}

// stale rejects a plan if one of its objects has changed since the plan.
func (p *Plan) stale(now *definitions.Set) error {
	if changedSince(p.put.domains, p.held.domains, now.Domains) ||
		changedSince(p.gone.domains, p.held.domains, now.Domains) ||
		changedSince(p.put.regions, p.held.regions, now.Regions) ||
		changedSince(p.gone.regions, p.held.regions, now.Regions) ||
		changedSince(p.put.mappings, p.held.mappings, now.Mappings) ||
		changedSince(p.gone.mappings, p.held.mappings, now.Mappings) ||
		changedSince(p.put.agents, p.held.agents, now.Nodes) ||
		changedSince(p.gone.agents, p.held.agents, now.Nodes) || p.staleTargets(now) {
		return errStale
	}
	for section := range p.put.settings {
		if !bytes.Equal(valuesOf(p.held.settings[section]), now.Settings[section]) {
			return errStale
		}
	}
	return nil
}

func changedSince[K comparable, V any](touched, held, now map[K]*V) bool {
	for key := range touched {
		if held[key] != now[key] {
			return true
		}
	}
	return false
}

// withNew returns the number of objects in the union of now and put.
func withNew[K comparable, V any](now, put map[K]*V) int {
	count := len(now)
	for key := range put {
		if now[key] == nil {
			count++
		}
	}
	return count
}
