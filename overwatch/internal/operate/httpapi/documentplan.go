package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// documentPlan is the difference between a document and the objects that the API has: objects to put and to delete.
type documentPlan struct {
	ctx       context.Context //nolint:containedctx // of the request that plans
	request   documentBody
	now       time.Time
	places    map[string]string // as objectSet.places has those of the document
	changes   []api.PlanChange
	unchanged int
	owned     int // objects that the owner has now
	touched   int // those of them that change or go
	problems  documentProblems

	held *objectSet // as they were when the plan was made
	put  *objectSet
	gone *objectSet
}

// planDocument makes the plan that turns the held objects into those of a document. It stops when ctx ends.
func planDocument(ctx context.Context, request documentBody, wanted, held *objectSet, now time.Time) *documentPlan {
	p := &documentPlan{ctx: ctx, request: request, now: now, places: wanted.places, held: held, put: newObjects(),
		gone: newObjects()}
	compareAll(p, kindRegion, wanted.regions, held.regions, p.put.regions, p.gone.regions,
		func(r *store.Region) ownership { return ownership{&r.Owner, &r.CreatedAt, &r.UpdatedAt} })
	compareAll(p, kindDomain, wanted.domains, held.domains, p.put.domains, p.gone.domains,
		func(d *model.Domain) ownership { return ownership{&d.Owner, &d.CreatedAt, &d.UpdatedAt} })
	compareAll(p, kindServer, wanted.servers, held.servers, p.put.servers, p.gone.servers,
		func(s *store.Server) ownership { return ownership{&s.Owner, &s.CreatedAt, &s.UpdatedAt} })
	compareAll(p, kindServer, wanted.targets, held.targets, p.put.targets, p.gone.targets,
		func(t *definitions.TargetServer) ownership { return ownership{&t.Owner, &t.CreatedAt, &t.UpdatedAt} })
	compareAll(p, kindMapping, wanted.mappings, held.mappings, p.put.mappings, p.gone.mappings,
		func(m *store.Mapping) ownership { return ownership{&m.Owner, new(time.Time), new(time.Time)} })
	compareAll(p, kindAgent, wanted.agents, held.agents, p.put.agents, p.gone.agents,
		func(n *store.Node) ownership { return ownership{&n.Owner, &n.RegisteredAt, new(time.Time)} })
	compareAll(p, kindSettings, wanted.settings, held.settings, p.put.settings, p.gone.settings,
		func(*json.RawMessage) ownership { return ownership{new(string), new(time.Time), new(time.Time)} })
	return p
}

// ownership points to the fields of an object that a plan sets: its owner, and when it was made and changed. For a
// field that the kind does not have it points elsewhere.
type ownership struct {
	owner            *string
	created, changed *time.Time
}

// compareAll adds the changes of one kind of objects to the plan.
func compareAll[K comparable, V any](p *documentPlan, kind string, wanted, held, put, gone map[K]*V,
	of func(*V) ownership) {
	mine := func(was *V) bool { return p.request.Owner != "" && *of(was).owner == p.request.Owner }
	for _, was := range held {
		if mine(was) {
			p.owned++
		}
	}
	for i, key := range sortedKeys(wanted) {
		if p.problems.full() || i%objectsPerLook == 0 && p.ctx.Err() != nil {
			return
		}
		after, was := wanted[key], held[key]
		name := fmt.Sprint(key)
		before := ownership{owner: new(string), created: &p.now}
		if was != nil {
			before = of(was)
		}
		if err := p.own(of(after).owner, *before.owner); err != nil {
			p.problems.add(p.places[kind+" "+name], err)
			continue
		}
		change := api.PlanChange{Action: api.PlanCreate, Kind: kind, ID: name, Owner: *of(after).owner}
		if was != nil {
			change.Action, change.Fields = api.PlanUpdate, fieldsBetween(was, after)
			if len(change.Fields) == 0 {
				p.unchanged++
				continue
			}
			if err := p.checkSameOwner(*before.owner); err != nil {
				p.problems.add(p.places[kind+" "+name], err)
				continue
			}
			if mine(was) {
				p.touched++
			}
		}
		*of(after).created, *of(after).changed = *before.created, p.now
		put[key] = after
		p.changes = append(p.changes, change)
	}
	if !p.request.Prune {
		return
	}
	for _, key := range sortedKeys(held) {
		if mine(held[key]) && wanted[key] == nil {
			gone[key] = held[key]
			p.touched++
			p.changes = append(p.changes, api.PlanChange{Action: api.PlanDelete, Kind: kind, ID: fmt.Sprint(key),
				Owner: p.request.Owner})
		}
	}
}

func sortedKeys[K comparable, V any](all map[K]V) []K {
	type namedKey struct {
		name string
		key  K
	}
	named := make([]namedKey, 0, len(all))
	for key := range all {
		named = append(named, namedKey{fmt.Sprint(key), key})
	}
	slices.SortFunc(named, func(a, b namedKey) int { return cmp.Compare(a.name, b.name) })
	keys := make([]K, len(named))
	for i := range named {
		keys[i] = named[i].key
	}
	return keys
}

// own sets the owner of an object of the document: the request's, or else the one that the object has, before. An
// object that names another owner than the request is refused.
func (p *documentPlan) own(owner *string, before string) error {
	switch wanted := *owner; {
	case p.request.Owner == "":
		*owner = cmp.Or(wanted, before)
	case wanted != "" && wanted != p.request.Owner:
		return fmt.Errorf("owner is %q, and the document is applied by %q: leave the owner out, or apply it by its own",
			wanted, p.request.Owner)
	default:
		*owner = p.request.Owner
	}
	return nil
}

// checkSameOwner refuses a change of an object that belongs to another owner.
func (p *documentPlan) checkSameOwner(before string) error {
	if before == "" || before == p.request.Owner {
		return nil
	}
	return fmt.Errorf("it belongs to the owner %q: apply it with that owner, or take it out of one of the documents",
		before)
}

// fieldsBetween lists the fields in which two objects differ, but for their times, without secrets.
func fieldsBetween(before, after any) (list []api.PlanField) {
	was, is := jsonFields(before), jsonFields(after)
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains([]string{"created_at", "updated_at", "registered_at"}, name) && was[name] != is[name] {
			list = append(list, api.PlanField{Name: name})
		}
	}
	if len(list) > 0 {
		was, is = jsonFields(withoutSecrets(before)), jsonFields(withoutSecrets(after))
	}
	for i := range list {
		list[i].Before, list[i].After = was[list[i].Name], is[list[i].Name]
	}
	return list
}

func jsonFields(object any) map[string]string {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err) // what the store keeps always encodes
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &raw); err != nil {
		panic(err)
	}
	fields := make(map[string]string, len(raw))
	for name, value := range raw {
		if text := string(value); text != `""` && text != "null" && text != "[]" {
			fields[name] = strings.Trim(text, `"`)
		}
	}
	return fields
}

// change returns the function that makes the plan's changes in a draft. It may be called more than once.
func (p *documentPlan) change(s *Server) func(*definitions.Draft) error {
	return func(d *definitions.Draft) error {
		if err := p.check(s, d); err != nil {
			return err
		}
		for name := range p.gone.domains {
			d.DeleteDomain(name)
		}
		for network := range p.gone.mappings {
			d.DeleteMapping(network)
		}
		for name := range p.gone.regions {
			d.DeleteRegion(name)
		}
		for _, r := range p.put.regions {
			d.PutRegion(r)
		}
		for _, domain := range p.put.domains {
			d.PutDomain(domain)
		}
		for network, m := range p.put.mappings {
			d.PutMapping(network, m)
		}
		for id := range p.gone.agents {
			d.DeleteNode(id)
		}
		for _, n := range p.put.agents {
			d.PutNode(n)
		}
		for id := range p.gone.targets {
			d.DeleteTarget(id)
		}
		for id, t := range p.put.targets {
			if err := d.PutTarget(id, t); err != nil {
				return err
			}
		}
		for section, overlay := range p.put.settings {
			d.PutSetting(section, valuesOf(overlay))
		}
		return nil
	}
}

// check checks the objects of a plan against one another, the file, and definitions that were made meanwhile.
func (p *documentPlan) check(s *Server, d *definitions.Draft) error {
	if err := p.stale(d.Now()); err != nil {
		return err
	}
	var problems documentProblems
	regions := p.regionsAfter(d)
	domains := maps.Clone(d.Now().Domains)
	maps.Copy(domains, p.put.domains)
	for name := range p.gone.domains {
		delete(domains, name)
	}
	for name := range p.put.regions {
		if objects.RegionAt(d.File(), name) >= 0 {
			problems.add(kindRegion+" "+name, objects.ErrOfFile)
		}
	}
	for name, domain := range p.put.domains {
		if d.InFile(name) {
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
		if _, err := objects.OwnMapping(d, network, "changed", nil); err != nil {
			problems.add(kindMapping+" "+network.String(), objects.ErrOfFile)
		}
		var named []string
		if was := p.held.mappings[network]; was != nil {
			named = []string{was.Region}
		}
		problems.check(kindMapping+" "+network.String(), p.mayName(regions, m.Region, named...))
		problems.check(kindMapping+" "+network.String(), objects.CheckEnabled(d, []string{m.Region}, named))
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
		err := s.checkServer(d, server, domains, byName)
		if was := p.held.servers[id]; err == nil && (was == nil || was.Region != server.Region) &&
			(server.Region != "" || len(regions) > 0) {
			err = p.mayName(regions, server.Region)
		}
		problems.check(kindServer+" "+id.String(), err)
	}
	p.checkTargets(s, d, domains, regions, &problems)
	if len(p.gone.regions) > 0 {
		users := p.regionUsers(s, d, domains)
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
			return problemf(
				http.StatusInsufficientStorage,
				"there would be %d %s, and %d are the most",
				c.have,
				c.kind,
				c.most,
			)
		}
	}
	return problems.err(http.StatusBadRequest)
}

func (p *documentProblems) check(place string, err error) {
	if err != nil {
		p.add(place, err)
	}
}

// errStale is the error of a plan of which an object has changed since it was made.
var errStale = problemf(http.StatusConflict,
	"nothing was changed: objects of the document were changed by somebody else at the same time: plan again")

// stale refuses a plan if one of its objects has changed since it was made.
func (p *documentPlan) stale(now *definitions.Set) error {
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

// staleServers is stale for servers. The caller has reserved them, so that nobody changes them meanwhile.
func (p *documentPlan) staleServers(inv Inventory) error {
	for _, touched := range []map[registry.ID]*store.Server{p.put.servers, p.gone.servers} {
		for id := range touched {
			now, there := inv.Get(id)
			if was := p.held.servers[id]; there != (was != nil) || there && now != *was {
				return errStale
			}
		}
	}
	return nil
}

// withNew returns the number of objects of now and of those in put that are new.
func withNew[K comparable, V any](now, put map[K]*V) int {
	count := len(now)
	for key := range put {
		if now[key] == nil {
			count++
		}
	}
	return count
}

// regionsAfter returns the names of the regions after a plan, with those of the file, and whether the API has disabled
// them.
func (p *documentPlan) regionsAfter(d *definitions.Draft) map[string]bool {
	all := map[string]bool{}
	for i := range d.File().Regions {
		all[d.File().Regions[i].Name] = true
	}
	for _, set := range []map[string]*store.Region{d.Now().Regions, p.put.regions} {
		for name, r := range set {
			all[name] = r.Enabled
		}
	}
	for name := range p.gone.regions {
		delete(all, name)
	}
	return all
}

// mayName checks that a region exists and is enabled. A disabled one may stay where it was named before, and be named
// by a document that has it, as an export does.
func (p *documentPlan) mayName(regions map[string]bool, name string, before ...string) error {
	enabled, there := regions[name]
	switch {
	case !there:
		return badRequest("region is %.64q: it must be one of %s", name,
			objects.ShortList(slices.Sorted(maps.Keys(regions))))
	case !enabled && !slices.Contains(before, name) && p.put.regions[name] == nil:
		return badRequest("region is %.64q, which is disabled: enable it first, or leave it out", name)
	}
	return nil
}

// domainsAnsweringNames returns the domains of a file and of the API whose answers are names.
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
func (s *Server) checkServer(d *definitions.Draft, server *store.Server, domains map[string]*model.Domain,
	byName map[string]bool) error {
	if domains[server.Service] == nil && !d.InFile(server.Service) {
		return badRequest(
			"service is %.260q: it must be the name of a domain of the document or of this node",
			server.Service,
		)
	}
	if byName[server.Service] {
		return badRequest("service is %q, whose answers are names (answer: cname): give a host name as target, since an "+
			"address is never answered", server.Service)
	}
	if b := s.o.View.Get(registry.ID{Service: server.Service, Address: server.Address, Port: server.Port}); b != nil &&
		b.Source == api.SourceStatic {
		return objects.ErrOfFile
	}
	return nil
}

// regionUsers returns, for each region that an object names after the plan, an error that names one such object.
func (p *documentPlan) regionUsers(s *Server, d *definitions.Draft, domains map[string]*model.Domain) map[string]error {
	users := map[string]error{}
	names := func(region, format string, object any) {
		if users[region] == nil {
			users[region] = badRequest(format, object)
		}
	}
	for _, domain := range domains {
		for _, region := range domain.Regions {
			names(region, "domain %s names it, and stays", domain.Name)
		}
	}
	for domain := range d.File().AllDomains { // where the API has laid it over the file's regions
		for _, region := range domain.Regions {
			names(region, "the regions laid over domain %s name it: change them first", domain.Name)
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
		put := p.put.targets[t.ID]
		if p.gone.targets[t.ID] == nil && (put == nil || put.Region == t.Region) {
			names(t.Region, "server %s is in it, and stays", t.ID)
		}
	}
	for b := range s.o.View.Backends() {
		put := p.put.servers[b.ID]
		// The addresses of a target do not count: their target stands for them.
		if !b.Part().Made && p.gone.servers[b.ID] == nil && (put == nil || put.Region == b.Region) {
			names(b.Region, "server %s is in it, and stays", b.ID)
		}
	}
	return users
}
