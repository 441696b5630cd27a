package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// documentBody is api.ApplyRequest whose objects are not decoded yet, so that each error names its object.
type documentBody struct {
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

// objectSet holds the objects of a document, or those that the API has now, by their ids.
type objectSet struct {
	regions  map[string]*store.Region
	domains  map[string]*model.Domain
	servers  map[registry.ID]*store.Server
	targets  map[definitions.TargetID]*definitions.TargetServer
	mappings map[netip.Prefix]*store.Mapping
	agents   map[string]*store.Node
	settings map[string]*json.RawMessage
	places   map[string]string // of those of a document in it, such as domains[3], by kind and name
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

// maxDocumentProblems bounds the problems in a response. The checks stop at this number.
const maxDocumentProblems = 1000

// documentProblems collects the faults of objects, at most maxDocumentProblems.
type documentProblems []api.DocumentProblem

func (p *documentProblems) add(place string, err error) {
	if !p.full() {
		*p = append(*p, api.DocumentProblem{Object: place, Problem: err.Error()})
	}
}

func (p *documentProblems) full() bool { return len(*p) >= maxDocumentProblems }

// err returns the problems as an error with a status, nil if there are none.
func (p documentProblems) err(status int) error {
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
	return &problem{status: status, sentence: sentence, objects: p}
}

// readDocument decodes a document and checks each of its objects by itself. It stops when ctx ends.
func (s *Server) readDocument(ctx context.Context, body documentBody) (*objectSet, error) {
	if body.Owner != "" {
		if remedy := settings.LabelRemedy(body.Owner, api.MaxOwner); remedy != "" {
			return nil, badRequest("owner is %.70q: %s", body.Owner, remedy)
		}
	}
	if body.Prune && body.Owner == "" {
		return nil, badRequest("prune is true without an owner: it deletes what the owner has and the document has not")
	}
	if count := elements(body.Document); count > maxDocumentObjects() {
		return nil, problemf(http.StatusRequestEntityTooLarge, "the document has %d objects: at most %d are allowed", count,
			maxDocumentObjects())
	}
	var lists objectLists
	if err := decodePart(body.Document, &lists); err != nil {
		return nil, err
	}
	if err := lists.checkLengths(); err != nil {
		return nil, err
	}
	r := &documentReader{s: s, ctx: ctx, found: newObjects(), names: s.regionNames()}
	r.cfg, _ = s.o.Config()
	each(r, "regions", lists.Regions, r.region)
	each(r, "domains", lists.Domains, r.domain)
	each(r, "servers", lists.Servers, r.server)
	each(r, "mappings", lists.Mappings, r.mapping)
	each(r, "agents", lists.Agents, r.agent)
	each(r, "settings", lists.Settings, r.settings)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.found, r.problems.err(http.StatusBadRequest)
}

func newObjects() *objectSet {
	return &objectSet{map[string]*store.Region{}, map[string]*model.Domain{}, map[registry.ID]*store.Server{},
		map[definitions.TargetID]*definitions.TargetServer{}, map[netip.Prefix]*store.Mapping{}, map[string]*store.Node{},
		map[string]*json.RawMessage{}, map[string]string{}}
}

// documentReader makes the objects of a document.
type documentReader struct {
	s        *Server
	ctx      context.Context //nolint:containedctx // of the request whose document it reads
	cfg      *config.Config
	found    *objectSet
	names    config.RegionNames // of the regions that exist, and of the document
	problems documentProblems
}

// each decodes the objects of a list and calls take with each. It notes their faults with their places.
func each[T any](r *documentReader, list string, raw []json.RawMessage, take func(T) (kind, name string, err error)) {
	fields := fieldsOf(new(T))
	for i, one := range raw {
		if r.problems.full() || i%objectsPerLook == 0 && r.ctx.Err() != nil {
			return
		}
		place := fmt.Sprintf("%s[%d]", list, i)
		var object T
		err := decodeChecked(one, &object, fields)
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

// place notes where an object stands in the document.
func (o *objectSet) place(kind, name, place string) error {
	if before := o.places[kind+" "+name]; before != "" {
		return fmt.Errorf("%s %s is there twice: also at %s", kind, name, before)
	}
	o.places[kind+" "+name] = place
	return nil
}

func (r *documentReader) region(req api.DocumentRegion) (kind, name string, err error) {
	if name = req.ID; name == "" {
		if name, err = objects.RegionID(objects.ValueOr(req.Name, ""), objects.ValueOr(req.Code, "")); err != nil {
			return "", "", err
		}
	}
	if remedy := settings.LabelRemedy(name, wire.MaxRegion); remedy != "" {
		return "", "", badRequest("id is %.64q: %s", name, remedy)
	}
	if name = r.names.Of(name); r.found.regions[name] == nil {
		r.names.Add(name)
	}
	made := &store.Region{Name: name, Enabled: true, Owner: req.Owner}
	r.found.regions[name] = made
	return kindRegion, name, errors.Join(objects.EditRegion(made, req.RegionChange), checkOwner(req.Owner))
}

func (r *documentReader) domain(req api.DocumentDomain) (kind, name string, err error) {
	made, err := r.s.edit.NewDomain(req, model.FromDocument)
	if made == nil {
		return "", "", err
	}
	made.Regions = r.names.All(made.Regions)
	r.found.domains[made.Name] = made
	return kindDomain, made.Name, errors.Join(err, checkOwner(made.Owner))
}

func (r *documentReader) server(req api.DocumentServer) (kind, name string, err error) {
	if req.Target != "" {
		return r.target(req)
	}
	req.Region = r.names.Of(req.Region)
	service, remedy := settings.ParseService(req.Service)
	if remedy != "" {
		return "", "", badRequest("service is %.260q: %s", req.Service, remedy)
	}
	id, err := objects.NewServerID(service, req.ServerCreate)
	if err != nil {
		return "", "", err
	}
	made := &store.Server{Service: id.Service, Address: id.Address, Port: id.Port, Region: req.Region, Agent: req.Agent,
		Weight: objects.ValueOr(req.Weight, api.DefaultServerWeight), Owner: req.Owner}
	r.found.servers[id] = made
	err = errors.Join(objects.CheckWeight(made.Weight), objects.CheckAgent(req.Agent), checkOwner(req.Owner))
	if err == nil {
		made.Check, err = r.s.edit.CheckOfNew(r.cfg, req.ServerCreate)
	}
	return kindServer, id.String(), err
}

func (r *documentReader) mapping(req api.DocumentMapping) (kind, name string, err error) {
	network, err := objects.ParseNetwork(req.CIDR)
	if err != nil {
		return "", "", err
	}
	if req.Comment != "" {
		err = objects.CheckText("comment", req.Comment, api.MaxComment)
	}
	r.found.mappings[network] = &store.Mapping{CIDR: network.String(), Region: r.names.Of(req.Region),
		Comment: req.Comment, Owner: req.Owner}
	return kindMapping, network.String(), errors.Join(err, checkOwner(req.Owner))
}

func checkOwner(owner string) error { return asBadRequest(definitions.CheckOwner(owner)) }

// currentObjects returns the objects that the API has now.
func (s *Server) currentObjects() *objectSet {
	set, _ := s.o.Definitions.Defined()
	o := newObjects()
	maps.Copy(o.regions, set.Regions)
	maps.Copy(o.domains, set.Domains)
	maps.Copy(o.mappings, set.Mappings)
	maps.Copy(o.agents, set.Nodes)
	for _, t := range set.Targets() {
		o.targets[t.ID] = t.TargetServer
	}
	for _, section := range store.SharedSettings() {
		overlay := cmp.Or(string(set.Settings[section]), noValues)
		o.settings[section] = new(json.RawMessage(overlay))
	}
	for _, server := range s.o.Inventory.All() {
		o.servers[registry.ID{Service: server.Service, Address: server.Address, Port: server.Port}] = &server
	}
	return o
}

// getDocument answers GET /document.
func (s *Server) getDocument(*call) (answer, error) {
	held, doc := s.currentObjects(), api.Document{}
	cfg, _ := s.o.Config()
	for _, name := range slices.Sorted(maps.Keys(held.regions)) {
		doc.Regions = append(doc.Regions, writtenRegion(held.regions[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(held.domains)) {
		doc.Domains = append(doc.Domains, model.Written(held.domains[name]))
	}
	for _, server := range s.o.Inventory.All() {
		doc.Servers = append(doc.Servers, s.writtenServer(cfg, &server))
	}
	for _, id := range slices.SortedFunc(maps.Keys(held.targets), definitions.TargetID.Compare) {
		doc.Servers = append(doc.Servers, writtenTarget(id, held.targets[id]))
	}
	for _, network := range slices.SortedFunc(maps.Keys(held.mappings), func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	}) {
		m := held.mappings[network]
		doc.Mappings = append(doc.Mappings, api.DocumentMapping{CIDR: m.CIDR, Region: m.Region, Comment: m.Comment,
			Owner: m.Owner})
	}
	for _, id := range sortedKeys(held.agents) {
		doc.Agents = append(doc.Agents, writtenAgent(held.agents[id]))
	}
	for _, section := range sortedKeys(held.settings) {
		if valuesOf(held.settings[section]) == nil {
			continue
		}
		w := api.DocumentSettings{Section: section}
		if err := json.Unmarshal(*held.settings[section], &w.Values); err != nil {
			return answer{}, fmt.Errorf("the stored settings of %s: %w", section, err)
		}
		doc.Settings = append(doc.Settings, w)
	}
	return ok(doc), nil
}

func writtenRegion(r *store.Region) api.DocumentRegion {
	name := cmp.Or(r.Label, r.Name)
	w := api.DocumentRegion{Owner: r.Owner, RegionChange: api.RegionChange{
		Name: &name, Code: objects.NonDefault(r.Code, ""), Description: objects.NonDefault(r.Description, ""),
		Latitude:  r.Latitude,
		Longitude: r.Longitude, Continent: objects.NonDefault(r.Continent, ""), Enabled: objects.NonDefault(r.Enabled,
			true),
		Priority: objects.NonDefault(r.Priority, 0), RoutingAlgorithm: objects.NonDefault(r.Pool, ""),
		ProximityBias: objects.NonDefault(r.Bias, 0),
	}}
	if id, err := objects.RegionID(name, r.Code); err != nil || id != r.Name {
		w.ID = r.Name
	}
	if len(r.Countries) > 0 {
		w.Countries = &r.Countries
	}
	return w
}

func (s *Server) writtenServer(cfg *config.Config, server *store.Server) api.DocumentServer {
	w := api.DocumentServer{Owner: server.Owner, ServerCreate: api.ServerCreate{Service: server.Service,
		Address: server.Address.String(), Port: int(server.Port), Weight: &server.Weight, Region: server.Region,
		Agent: server.Agent}}
	if server.Check != cfg.CheckIn(server.Region) {
		w.HealthCheck = objects.CheckFields(server.Check)
	}
	return w
}
