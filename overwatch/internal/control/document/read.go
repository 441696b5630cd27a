package document

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// Request is api.ApplyRequest with encoded objects, so that each error can name its object.
type Request struct {
	Document json.RawMessage `json:"document"`
	Owner    string          `json:"owner,omitempty"`
	Prune    bool            `json:"prune,omitempty"`
	Force    bool            `json:"force,omitempty"`
}

// objectLists are the lists of a document.
type objectLists struct {
	Regions  []json.RawMessage `json:"regions,omitempty"`
	Domains  []json.RawMessage `json:"domains,omitempty"`
	Servers  []json.RawMessage `json:"servers,omitempty"`
	Mappings []json.RawMessage `json:"mappings,omitempty"`
	Agents   []json.RawMessage `json:"agents,omitempty"`
	Settings []json.RawMessage `json:"settings,omitempty"`
}

// Objects has the objects of a document, or the current objects of the API, by their ids.
type Objects struct {
	regions  map[string]*model.Region
	domains  map[string]*model.Domain
	servers  map[registry.ID]*model.Server
	targets  map[definitions.TargetID]*model.Server
	mappings map[string]*model.Mapping
	agents   map[string]*store.Node
	settings map[string]*json.RawMessage
	places   map[string]string // positions in a document, such as domains[3], by kind and name
}

// The kinds of objects, as a plan names them.
const (
	kindRegion   = "region"
	kindDomain   = "domain"
	kindServer   = "server"
	kindMapping  = "mapping"
	kindAgent    = "agent"
	kindSettings = "settings"
)

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
	if count := strictjson.CountElements(body.Document); count > maxObjects() {
		return nil, fault.New(fault.TooLarge, "the document has %d objects: at most %d are allowed", count,
			maxObjects())
	}
	var lists objectLists
	if err := strictjson.DecodePart(body.Document, &lists); err != nil {
		return nil, err
	}
	if err := lists.checkLengths(); err != nil {
		return nil, err
	}
	set, file := pl.o.Definitions.Defined()
	r := &reader{pl: pl, ctx: ctx, held: set, found: newObjects(), names: set.RegionNames(file)}
	each(r, "regions", lists.Regions, r.region)
	each(r, "domains", lists.Domains, r.domain)
	each(r, "servers", lists.Servers, r.server)
	each(r, "mappings", lists.Mappings, r.mapping)
	each(r, "agents", lists.Agents, r.agent)
	each(r, "settings", lists.Settings, r.settings)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.found, r.problems.err(fault.Invalid)
}

func newObjects() *Objects {
	return &Objects{map[string]*model.Region{}, map[string]*model.Domain{}, map[registry.ID]*model.Server{},
		map[definitions.TargetID]*model.Server{}, map[string]*model.Mapping{},
		map[string]*store.Node{},
		map[string]*json.RawMessage{}, map[string]string{}}
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

// each decodes the objects of a list and calls take with each object. It records their faults with their positions.
func each[T any](r *reader, list string, raw []json.RawMessage, take func(T) (kind, name string, err error)) {
	fields := strictjson.FieldsOf(new(T))
	for i, one := range raw {
		if r.problems.full() || i%objectsPerLook == 0 && r.ctx.Err() != nil {
			return
		}
		place := fmt.Sprintf("%s[%d]", list, i)
		var object T
		err := strictjson.DecodeChecked(one, &object, fields)
		if err == nil {
			var kind, name string
			if kind, name, err = take(object); err == nil {
				err = r.found.place(kind, name, place)
			}
		}
		if err != nil {
			r.problems.add(place, err)
		}
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

func (r *reader) region(req api.DocumentRegion) (kind, name string, err error) {
	made, err := objects.NewRegion(req, r.names, model.FromDocument)
	if made == nil {
		return "", "", err
	}
	if r.found.regions[made.Name] == nil {
		r.names.Add(made.Name)
	}
	r.found.regions[made.Name] = made
	return kindRegion, made.Name, errors.Join(err, checkOwner(made.Owner))
}

func (r *reader) domain(req api.DocumentDomain) (kind, name string, err error) {
	made, err := r.pl.o.Edit.NewDomain(req, model.FromDocument)
	if made == nil {
		return "", "", err
	}
	made.Regions = r.names.All(made.Regions)
	r.found.domains[made.Name] = made
	return kindDomain, made.Name, errors.Join(err, checkOwner(made.Owner))
}

func (r *reader) server(req api.DocumentServer) (kind, name string, err error) {
	if region := req.Text("region"); region != "" {
		req["region"] = r.names.Of(region)
	}
	made, err := r.pl.o.Edit.NewServer(req, model.FromDocument)
	if err != nil {
		return "", "", err
	}
	var before *model.Server
	if made.Target != "" {
		id := definitions.TargetIDOf(made)
		r.found.targets[id], before = made, r.held.Target(id)
	} else {
		id := registry.ID{Service: made.Service, Address: made.Address, Port: made.Port}
		r.found.servers[id] = made
		if now, known := r.pl.o.Inventory.Get(id); known {
			before = &now
		}
	}
	return kindServer, made.ID(), r.pl.o.Edit.CheckNewServer(made, before, req)
}

func (r *reader) mapping(req api.DocumentMapping) (kind, name string, err error) {
	made, err := objects.NewMapping(req, r.names, model.FromDocument)
	if err != nil {
		return "", "", err
	}
	r.found.mappings[made.Key()] = made
	return kindMapping, made.CIDR.String(), checkOwner(made.Owner)
}

func checkOwner(owner string) error { return fault.FromCheck(definitions.CheckOwner(owner)) }

// current returns the objects that the API has now.
func (pl *Planner) current() *Objects {
	set, _ := pl.o.Definitions.Defined()
	o := newObjects()
	maps.Copy(o.regions, set.Regions)
	maps.Copy(o.domains, set.Domains)
	maps.Copy(o.mappings, set.Mappings)
	maps.Copy(o.agents, set.Nodes)
	for _, t := range set.Targets() {
		o.targets[definitions.TargetIDOf(t)] = t
	}
	for _, section := range store.SharedSettings() {
		overlay := cmp.Or(string(set.Settings[section]), noValues)
		o.settings[section] = new(json.RawMessage(overlay))
	}
	for _, server := range pl.o.Inventory.All() {
		o.servers[registry.ID{Service: server.Service, Address: server.Address, Port: server.Port}] = &server
	}
	return o
}

func (r *reader) agent(req api.DocumentAgent) (kind, name string, err error) {
	made, err := r.pl.o.Edit.NewAgent(req.AgentRegistration)
	if err != nil {
		return "", "", err
	}
	made.Owner, made.Region = req.Owner, r.names.Of(made.Region)
	r.found.agents[made.ID] = made
	return kindAgent, made.ID, checkOwner(req.Owner)
}

// rawSettings is api.DocumentSettings with encoded values.
type rawSettings struct {
	Section string          `json:"section"`
	Values  json.RawMessage `json:"values"`
}

// settings reads the settings of a section, and stores the resulting overlay. It rejects sections that are not
// replicated.
func (r *reader) settings(req rawSettings) (kind, name string, err error) {
	if shared := store.SharedSettings(); !slices.Contains(shared, req.Section) {
		return "", "", fault.Invalidf("section is %.64q: it must be one of %s", req.Section, strings.Join(shared, ", "))
	}
	if req.Values == nil {
		return "", "", fault.Invalidf("values is missing: the settings by name, or {} for those of the configuration " +
			"file")
	}
	if before := r.found.places[kindSettings+" "+req.Section]; before != "" {
		return "", "", fmt.Errorf("settings %s is there twice: also at %s", req.Section, before)
	}
	err = r.pl.o.Definitions.Draft(func(d *definitions.Draft) error {
		wanted := definitions.View(req.Section, d.Bare())
		if err := strictjson.DecodePart(req.Values, wanted); err != nil {
			return err
		}
		for section, overlay := range r.found.settings {
			d.PutSetting(section, valuesOf(overlay))
		}
		if err := d.PutSection(req.Section, wanted); err != nil {
			return err
		}
		overlay := cmp.Or(string(d.Now().Settings[req.Section]), noValues)
		r.found.settings[req.Section] = new(json.RawMessage(overlay))
		return nil
	})
	return kindSettings, req.Section, err
}

// noValues is the overlay of a section without values.
const noValues = "{}"

// valuesOf returns the overlay to store, nil for noValues.
func valuesOf(overlay *json.RawMessage) json.RawMessage {
	if string(*overlay) == noValues {
		return nil
	}
	return *overlay
}
