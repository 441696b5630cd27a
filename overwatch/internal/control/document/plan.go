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
	"gslb.internal/shared/api"
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
	includes  func(kind string, object any) bool // see Planner
	outside   bool                               // the document has an object outside the scope of the operator

	held *Objects // objects at the time of the plan
	put  *Objects
	gone *Objects
}

// compare returns the plan that changes the current objects to the objects of a document. It stops when ctx ends.
func (pl *Planner) compare(ctx context.Context, request Request, wanted, held *Objects, now time.Time) *Plan {
	p := &Plan{ctx: ctx, request: request, now: now, places: wanted.places, held: held, put: newObjects(),
		gone: newObjects(), includes: pl.includes}
	for _, s := range sections() {
		p.compareAll(s, wanted.of[s.name], held.of[s.name])
	}
	return p
}

// compareAll adds the changes of the objects of a section to the plan.
func (p *Plan) compareAll(s *section, wanted, held map[string]any) {
	mine := func(was any) bool {
		return p.request.Owner != "" && *s.owned(was).owner == p.request.Owner && p.includes(s.kind, was)
	}
	for _, was := range held {
		if mine(was) {
			p.owned++
		}
	}
	for i, id := range slices.Sorted(maps.Keys(wanted)) {
		if p.problems.full() || i%objectsPerLook == 0 && p.ctx.Err() != nil {
			return
		}
		after, was := wanted[id], held[id]
		before := newOwnership()
		*before.created = p.now
		if was != nil {
			before = s.owned(was)
		}
		next := s.owned(after) // new values for settings, which have no owner
		if err := p.setOwner(next.owner, *before.owner); err != nil {
			p.problems.add(p.places[s.kind+" "+id], err)
			continue
		}
		if !p.includes(s.kind, after) || was != nil && !p.includes(s.kind, was) {
			p.outside = true
			return
		}
		change := api.PlanChange{Action: api.PlanCreate, Kind: s.kind, ID: id,
			Owner: *s.owned(after).owner}
		if was != nil {
			change.Action, change.Fields = api.PlanUpdate, fieldsBetween(was, after)
			if len(change.Fields) == 0 {
				p.unchanged++
				continue
			}
			if err := p.checkSameOwner(*before.owner); err != nil {
				p.problems.add(p.places[s.kind+" "+id], err)
				continue
			}
			if mine(was) {
				p.touched++
			}
		}
		*next.created, *next.changed, *next.extra = *before.created, p.now, *before.extra
		p.put.of[s.name][id] = after
		p.changes = append(p.changes, change)
	}
	if !p.request.Prune {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(held)) {
		if mine(held[id]) && wanted[id] == nil {
			p.gone.of[s.name][id] = held[id]
			p.touched++
			p.changes = append(p.changes, api.PlanChange{Action: api.PlanDelete, Kind: s.kind, ID: id,
				Owner: p.request.Owner})
		}
	}
}

// setOwner sets the owner of an object of the document: the owner of the request, or else the current owner of the
// object. It rejects an object with an owner other than the owner of the request.
func (p *Plan) setOwner(owner *string, before string) error {
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
	was, is := shownFields(before), shownFields(after)
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains([]string{"created_at", "updated_at", "registered_at"}, name) && was[name] != is[name] {
			list = append(list, api.PlanField{Name: name})
		}
	}
	if len(list) > 0 {
		was, is = shownFields(objects.WithoutSecrets(before)), shownFields(objects.WithoutSecrets(after))
	}
	for i := range list {
		list[i].Before, list[i].After = was[list[i].Name], is[list[i].Name]
	}
	return list
}

// shownFields returns the fields of an object as text for a plan, without empty fields.
func shownFields(object any) map[string]string {
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
		for _, s := range sections() {
			if s.put == nil {
				continue
			}
			for id := range p.gone.of[s.name] {
				if err := s.put(d, id, nil); err != nil {
					return err
				}
			}
			for id, object := range p.put.of[s.name] {
				if err := s.put(d, id, object); err != nil {
					return err
				}
			}
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
