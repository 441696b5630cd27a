package document

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Plan is the difference between a document and the objects of the API: objects to put and objects to delete.
type Plan struct {
	ctx       context.Context //nolint:containedctx // of the planning request
	request   Request
	now       time.Time
	places    map[string]string // positions of the objects, see Objects.places
	changes   []api.PlanChange
	unchanged int
	owned     int // number of objects of the owner
	touched   int // number of these objects that the plan changes or deletes
	problems  problems

	held *Objects // objects at the time of the plan
	put  *Objects
	gone *Objects
}

// compare returns the plan that changes the current objects to the objects of a document. It stops when ctx ends.
func compare(ctx context.Context, request Request, wanted, held *Objects, now time.Time) *Plan {
	p := &Plan{ctx: ctx, request: request, now: now, places: wanted.places, held: held, put: newObjects(),
		gone: newObjects()}
	compareAll(p, kindRegion, wanted.regions, held.regions, p.put.regions, p.gone.regions,
		func(r *model.Region) ownership { return ownership{&r.Owner, &r.CreatedAt, &r.UpdatedAt} })
	compareAll(p, kindDomain, wanted.domains, held.domains, p.put.domains, p.gone.domains,
		func(d *model.Domain) ownership { return ownership{&d.Owner, &d.CreatedAt, &d.UpdatedAt} })
	compareAll(p, kindServer, wanted.servers, held.servers, p.put.servers, p.gone.servers,
		func(s *model.Server) ownership { return ownership{&s.Owner, &s.CreatedAt, &s.UpdatedAt} })
	compareAll(p, kindServer, wanted.targets, held.targets, p.put.targets, p.gone.targets,
		func(t *model.Server) ownership { return ownership{&t.Owner, &t.CreatedAt, &t.UpdatedAt} })
	compareAll(p, kindMapping, wanted.mappings, held.mappings, p.put.mappings, p.gone.mappings,
		func(m *model.Mapping) ownership { return ownership{&m.Owner, &m.CreatedAt, &m.UpdatedAt} })
	compareAll(p, kindAgent, wanted.agents, held.agents, p.put.agents, p.gone.agents,
		func(n *store.Node) ownership { return ownership{&n.Owner, &n.RegisteredAt, new(time.Time)} })
	compareAll(p, kindSettings, wanted.settings, held.settings, p.put.settings, p.gone.settings,
		func(*json.RawMessage) ownership { return ownership{new(string), new(time.Time), new(time.Time)} })
	return p
}

// ownership has pointers to the fields of an object that a plan sets: owner, creation time and modification time. For a
// field that the kind lacks, the pointer refers to an unused value.
type ownership struct {
	owner            *string
	created, changed *time.Time
}

// compareAll adds the changes of one kind of objects to the plan.
func compareAll[K comparable, V any](p *Plan, kind string, wanted, held, put, gone map[K]*V,
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

// own sets the owner of an object of the document: the owner of the request, or else the current owner of the object.
// It rejects an object with an owner other than the owner of the request.
func (p *Plan) own(owner *string, before string) error {
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

// checkSameOwner rejects a change of an object that belongs to another owner.
func (p *Plan) checkSameOwner(before string) error {
	if before == "" || before == p.request.Owner {
		return nil
	}
	return fmt.Errorf("it belongs to the owner %q: apply it with that owner, or take it out of one of the documents",
		before)
}

// fieldsBetween lists the fields with different values in two objects, except for times and secrets.
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
		was, is = jsonFields(objects.WithoutSecrets(before)), jsonFields(objects.WithoutSecrets(after))
	}
	for i := range list {
		list[i].Before, list[i].After = was[list[i].Name], is[list[i].Name]
	}
	return list
}

func jsonFields(object any) map[string]string {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err) // stored objects can always be encoded
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

// change returns the function that applies the plan to a draft. It may be called several times.
func (p *Plan) change(pl *Planner) func(*definitions.Draft) error {
	return func(d *definitions.Draft) error {
		if err := p.check(pl, d); err != nil {
			return err
		}
		for name := range p.gone.domains {
			d.Delete(model.KindDomain, name)
		}
		for network := range p.gone.mappings {
			d.Delete(model.KindMapping, network)
		}
		for name := range p.gone.regions {
			d.Delete(model.KindRegion, name)
		}
		for _, r := range p.put.regions {
			d.Put(r)
		}
		for _, domain := range p.put.domains {
			d.Put(domain)
		}
		for _, m := range p.put.mappings {
			d.Put(m)
		}
		for id := range p.gone.agents {
			d.Delete(store.KindAgent, id)
		}
		for _, n := range p.put.agents {
			d.Put(n)
		}
		for id := range p.gone.targets {
			d.DeleteTarget(id)
		}
		for _, t := range p.put.targets {
			if err := d.PutTarget(t); err != nil {
				return err
			}
		}
		for section, overlay := range p.put.settings {
			d.PutSetting(section, valuesOf(overlay))
		}
		return nil
	}
}

func (p *problems) check(place string, err error) {
	if err != nil {
		p.add(place, err)
	}
}

// errStale is the error of a plan with an object that has changed since the plan.
var errStale = fault.Conflictf("nothing was changed: another change has changed objects of the document meanwhile: " +
	"plan it again")
