package document

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// Request is api.ApplyRequest with encoded objects, so that each error can name its object.
type Request struct {
	Document json.RawMessage `json:"document"`
	Owner    string          `json:"owner,omitempty"`
	Prune    bool            `json:"prune,omitempty"`
	Force    bool            `json:"force,omitempty"`
}

// maxProblems is the maximum number of problems in a response. Validation stops at this number.
const maxProblems = 1000

// problems collects the faults of objects, at most maxProblems.
type problems []api.DocumentProblem

func (p *problems) add(place string, err error) {
	if !p.full() {
		*p = append(*p, api.DocumentProblem{Object: place, Problem: err.Error()})
	}
}

func (p *problems) full() bool { return len(*p) >= maxProblems }

// err returns the problems as an error of a kind, or nil if there are none.
func (p problems) err(kind fault.Kind) error {
	if len(p) == 0 {
		return nil
	}
	first := p[0]
	sentence := fmt.Sprintf("nothing was changed: %s: %s", first.Object, first.Problem)
	if p.full() {
		sentence += fmt.Sprintf(" (and at least %d more problems)", len(p)-1)
	} else if more := len(p) - 1; more > 0 {
		sentence += fmt.Sprintf(" (and %d more)", more)
	}
	e := fault.New(kind, "%s", sentence)
	e.Objects = p
	return e
}

// Read decodes a document and validates each object separately. It stops when ctx ends.
func (pl *Planner) Read(ctx context.Context, body Request) (*Objects, error) {
	if body.Owner != "" {
		if remedy := settings.LabelRemedy(body.Owner, api.MaxOwner); remedy != "" {
			return nil, fault.Invalidf("owner is %.70q: %s", body.Owner, remedy)
		}
	}
	if body.Prune && body.Owner == "" {
		return nil, fault.Invalidf("prune is true without an owner: it deletes what the owner has and the document " +
			"has not")
	}
	bounds := listBounds()
	total := 0
	for _, most := range bounds {
		total += most
	}
	if count := strictjson.CountElements(body.Document); count > total {
		return nil, fault.New(fault.TooLarge, "the document has %d objects: at most %d are allowed", count, total)
	}
	lists, err := readLists(body.Document, bounds)
	if err != nil {
		return nil, err
	}
	set, file := pl.o.Definitions.Defined()
	r := &reader{pl: pl, ctx: ctx, held: set, found: newObjects(), names: set.RegionNames(file)}
	for _, s := range sections() {
		if s.read != nil {
			r.readList(s, lists[s.list])
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.found, r.problems.err(fault.Invalid)
}

// readLists returns the lists of a document. It rejects a list with more objects than its bound.
func readLists(document json.RawMessage, bounds map[string]int) (map[string][]json.RawMessage, error) {
	members, err := strictjson.Members(document, &api.Document{})
	if err != nil {
		return nil, err
	}
	lists := make(map[string][]json.RawMessage, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var list []json.RawMessage
		if err := json.Unmarshal(members[name], &list); err != nil {
			return nil, fault.Invalidf("%s must be a list", name) // without the value, which can contain a secret
		}
		if len(list) > bounds[name] {
			return nil, fault.New(fault.TooLarge, "%s has %d objects: at most %d are allowed", name, len(list),
				bounds[name])
		}
		lists[name] = list
	}
	return lists, nil
}

// reader makes the objects of a document.
type reader struct {
	pl       *Planner
	ctx      context.Context //nolint:containedctx // of the request with the document
	held     *definitions.Set
	found    *Objects
	names    config.RegionNames // existing regions, and regions of the document
	problems problems
}

// readList makes the objects of a list. It records the faults with the positions of the objects.
func (r *reader) readList(s *section, list []json.RawMessage) {
	readElement := s.read(r)
	for i, element := range list {
		if r.problems.full() || i%objectsPerLook == 0 && r.ctx.Err() != nil {
			return
		}
		place := fmt.Sprintf("%s[%d]", s.list, i)
		one, err := readElement(element)
		if err == nil {
			err = r.found.place(s.kind, one.id, place)
		}
		if err != nil {
			r.problems.add(place, err)
			continue
		}
		r.found.of[one.section][one.id] = one.object
	}
}

// place records the position of an object in the document.
func (o *Objects) place(kind, name, place string) error {
	if before := o.places[kind+" "+name]; before != "" {
		return fmt.Errorf("%s %s is there twice: also at %s", kind, name, before)
	}
	o.places[kind+" "+name] = place
	return nil
}

// current returns the objects that the API has now.
func (pl *Planner) current() *Objects {
	set, _ := pl.o.Definitions.Defined()
	o := &Objects{of: map[string]map[string]any{}}
	for _, s := range sections() {
		o.of[s.name] = s.held(pl, set)
	}
	return o
}
