package httpapi

import (
	"gslb.internal/overwatch/internal/control/operations"
	"iter"
	"net/http"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// finder returns the objects of a request, to which the scope of its token applies. An error rejects the request.
type finder func(*Server, *call) ([]model.ScopedObject, error)

// checkScope rejects a request of a token with limits of objects if an object is outside the scope, or if the operation
// does not declare its objects. The text does not depend on the existence of the object.
func (s *Server) checkScope(c *call) error {
	if !c.isLimited() || c.operation.LeastRole() == api.RoleNone {
		return nil
	}
	if c.operation.filters {
		return nil
	}
	if c.operation.objects == nil {
		return outsideScope(c.actor)
	}
	list, err := c.operation.objects(s, c)
	if err != nil {
		return err
	}
	if !c.request().Covers(list...) {
		return outsideScope(c.actor)
	}
	return nil
}

// outsideScope returns the error for a request about objects outside the scope of a token.
func outsideScope(token string) error {
	return problemf(http.StatusForbidden, "the scope of the token %s does not include this: gslbctl tokens list shows "+
		"the scopes", token)
}

// isLimited reports whether the token has limits of objects.
func (c *call) isLimited() bool { return c.scope != nil && c.scope.IsLimited() }

// sees reports whether the scope of the token includes all objects.
func (c *call) sees(list ...model.ScopedObject) bool {
	return !c.isLimited() || c.request().Covers(list...)
}

// within returns the elements of a list that the scope of the token includes.
func within[T any](c *call, all iter.Seq[T], sees func(T) bool) iter.Seq[T] {
	if !c.isLimited() {
		return all
	}
	return filtered(all, sees)
}

// withScopes sets the functions that find the objects of operations. An operation without a function is not available
// to tokens with limits of objects.
func withScopes(list []Operation) []Operation {
	finders := scopeFinders()
	for i := range list {
		o := &list[i]
		o.objects = finders[o.Method+" "+strings.TrimPrefix(o.Path, v1)]
		if o.objects == nil && o.Method == patch {
			o.objects = finders[put+" "+strings.TrimPrefix(o.Path, v1)]
		}
		o.filters = slices.Contains(filteredOperations(), o.Method+" "+strings.TrimPrefix(o.Path, v1))
	}
	return list
}

// filteredOperations lists the operations with handlers that apply the scope: lists return only the objects of the
// scope, and documents and undos reject other objects.
func filteredOperations() []string {
	return []string{"GET /domains", "GET /servers", "GET /health/servers", "GET /overwatch/backends",
		"GET /overwatch/orders", "GET /overrides", "GET /regions", "GET /geo/mappings", "GET /records", "GET /document",
		"GET /events",
		"GET /whoami", "GET /audit-logs", "GET /audit-logs/{id}", "GET /audit-logs/export", "POST /document/plan",
		"POST /document/apply", "POST /audit-logs/{id}/undo"}
}

// scopeFinders returns the functions that find the objects of requests, by method and path below v1. A change also
// checks each changed object before and after the change (operations.Request.Covers).
func scopeFinders() map[string]finder {
	domain, server := named(model.KindDomain, "name"), named(operations.KindServer, "id")
	region := named(model.KindRegion, "id")
	all := map[string]finder{
		"POST /domains": newDomain, "GET /domains/{name}": domain, "PUT /domains/{name}": domain,
		"DELETE /domains/{name}": domain, "DELETE /domains/{name}/overlay": domain,
		"POST /domains/{name}/plan": domainWithBackends, "GET /domains/{name}/backends": domainWithBackends,
		"POST /domains/{name}/backends":        newBackend,
		"DELETE /domains/{name}/backends/{id}": both(domain, server),
		"POST /domains/{name}/failback":        asKind(operations.KindFailback, domain),
		"POST /routing/test":                   testedDomain,
		"GET /routing/answers":                 queriedDomain,

		"POST /servers": newServer, "GET /servers/{id}": server, "PATCH /servers/{id}": server,
		"DELETE /servers/{id}": server, "DELETE /servers/{id}/overlay": server, "GET /servers/{id}/health-check": server,
		"PUT /servers/{id}/health-check": server,
		"POST /servers/{id}/drain":       asKind(operations.KindDrain, server),
		"DELETE /servers/{id}/drain":     asKind(operations.KindDrain, server),

		"POST /regions": newRegion, "GET /regions/{id}": region, "PUT /regions/{id}": region, "DELETE /regions/{id}": region,
		"DELETE /regions/{id}/overlay": region, "GET /metrics/regions/{id}": region,
		"POST /records": newRecords, "GET /records/{name}/{type}": oldRecords, "PUT /records/{name}/{type}": oldRecords,
		"DELETE /records/{name}/{type}": oldRecords,
		"PUT /geo/mappings":             newMapping, "DELETE /geo/mappings/{cidr}": oldMapping,
	}
	const backend, override = "/overwatch/backends/{service}/{address}/{port}", "/overrides/{service}/{address}"
	all["GET "+backend] = ofTarget(operations.KindServer, backendTarget)
	for _, method := range []string{get, post, put, del} {
		all[method+" "+backend+"/override"] = ofTarget(operations.KindOverride, backendTarget)
		all[method+" "+backend+"/weight"] = ofTarget(operations.KindWeight, backendTarget)
		all[method+" "+override] = ofTarget(operations.KindOverride, overrideTarget)
	}
	return all
}

// named returns the finder of the object of a kind that the path names.
func named(kind, parameter string) finder {
	return func(s *Server, c *call) ([]model.ScopedObject, error) {
		return []model.ScopedObject{s.op.ScopedObject(kind, c.Param(parameter))}, nil
	}
}

// asKind returns a finder of the same objects as objects of another kind.
func asKind(kind string, find finder) finder {
	return func(s *Server, c *call) ([]model.ScopedObject, error) {
		list, err := find(s, c)
		for i := range list {
			list[i].Kind = kind
		}
		return list, err
	}
}

// both returns a finder of the objects of two finders.
func both(a, b finder) finder {
	return func(s *Server, c *call) ([]model.ScopedObject, error) {
		first, err := a(s, c)
		if err != nil {
			return nil, err
		}
		second, err := b(s, c)
		return append(first, second...), err
	}
}

// ofTarget returns the finder of the backends of an admin state.
func ofTarget(kind string, parse func(*call) (changes.Target, error)) finder {
	return func(s *Server, c *call) ([]model.ScopedObject, error) {
		t, err := parse(c)
		if err != nil {
			return nil, err
		}
		return s.op.ScopedTarget(kind, t), nil
	}
}

// domainWithBackends finds the domain of the path and its backends.
func domainWithBackends(s *Server, c *call) ([]model.ScopedObject, error) {
	return s.explained(c.Param("name")), nil
}

// explained returns a domain with its backends, which an explanation of its answers contains.
func (s *Server) explained(name string) []model.ScopedObject {
	list := []model.ScopedObject{s.op.ScopedObject(model.KindDomain, name)}
	for _, b := range s.o.View.Service(wire.CanonicalService(name)) {
		list = append(list, s.op.ScopedBackend(operations.KindServer, b.ID))
	}
	return list
}

func testedDomain(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.RoutingTestRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return s.explained(req.Domain), nil
}

func queriedDomain(s *Server, c *call) ([]model.ScopedObject, error) {
	return s.explained(c.query["domain"]), nil
}

func newDomain(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.DomainChange
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	list := []model.ScopedObject{{Kind: model.KindDomain, Names: []string{wire.CanonicalService(req.Text("name"))},
		Regions: s.regionNames().All(req.Texts("regions"))}}
	if s.op.HasDomain(req.Text("name")) {
		list = append(list, s.op.ScopedObject(model.KindDomain, req.Text("name")))
	}
	return list, nil
}

// serverOf returns the properties of the server of a request.
func (s *Server) serverOf(service string, req api.ServerChange) model.ScopedObject {
	made := model.Server{Service: wire.CanonicalService(service), Region: s.regionNames().Of(req.Text("region"))}
	return made.Scoped()
}

func newServer(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.ServerChange
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return []model.ScopedObject{s.serverOf(req.Text("service"), req)}, nil
}

func newBackend(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.ServerChange
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return []model.ScopedObject{s.serverOf(c.Param("name"), req)}, nil
}

func newRegion(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.RegionChange
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	id, err := objects.RegionID(req.Text("name"), req.Text("code"))
	if err != nil {
		return nil, err
	}
	return []model.ScopedObject{s.op.ScopedObject(model.KindRegion, id)}, nil
}

// mappingOf returns the properties of the mapping of a network in all sources. There can be none.
func (s *Server) mappingOf(text string) ([]model.ScopedObject, error) {
	network, err := objects.ParseNetwork(text)
	if err != nil {
		return nil, err
	}
	set, file := s.o.Definitions.Defined()
	var list []model.ScopedObject
	if m := set.Mappings[network.String()]; m != nil {
		list = append(list, m.Scoped())
	}
	for i := range file.Overwatch.Geolocation.CustomMappings {
		if m := &file.Overwatch.Geolocation.CustomMappings[i]; m.Key() == network.String() {
			list = append(list, m.Scoped())
		}
	}
	return list, nil
}

func newMapping(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.GeoMappingChange
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	list, err := s.mappingOf(req.Text("cidr"))
	if req.Has("region") || len(list) == 0 {
		made := model.Mapping{Region: s.regionNames().Of(req.Text("region"))}
		list = append(list, made.Scoped())
	}
	return list, err
}

// recordsOf returns the properties of the records of a name and type, or of a new record without an owner.
func (s *Server) recordsOf(name, rtype string) (list []model.ScopedObject, err error) {
	name, rtype, err = definitions.ParseRecordSet(name, rtype)
	if err != nil {
		return nil, fault.FromCheck(err)
	}
	set, _ := s.o.Definitions.Defined()
	for _, r := range set.RecordsOf(name, rtype) {
		list = append(list, r.Scoped())
	}
	if len(list) == 0 {
		list = append(list, (&model.Record{Name: name}).Scoped())
	}
	return list, nil
}

func oldRecords(s *Server, c *call) ([]model.ScopedObject, error) {
	return s.recordsOf(c.Param("name"), c.Param("type"))
}

func newRecords(s *Server, c *call) ([]model.ScopedObject, error) {
	var req api.RecordSetChange
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	return s.recordsOf(req.Text("name"), req.Text("type"))
}

func oldMapping(s *Server, c *call) ([]model.ScopedObject, error) {
	return s.mappingOf(strings.TrimPrefix(c.Param("cidr"), "/"))
}

// seesBackend, seesAdminState and seesEvent report whether the scope of the token includes an element of a list.
func (s *Server) seesBackend(c *call) func(*registry.Backend) bool {
	return func(b *registry.Backend) bool { return c.sees(s.op.ScopedBackend(operations.KindServer, b.ID)) }
}

func (s *Server) seesAdminState(c *call) func(registry.AdminState) bool {
	return func(o registry.AdminState) bool {
		return c.sees(s.op.ScopedTarget(string(o.Kind), changes.TargetOf(o))...)
	}
}

// seesEvent is false for events of other kinds than backends, names and admin states.
func (s *Server) seesEvent(c *call, e *api.Event) bool {
	kind, known := map[api.EventKind]string{api.EventBackend: operations.KindServer, api.EventName: model.KindDomain,
		api.EventOverride: operations.KindOverride, api.EventWeight: operations.KindWeight,
		api.EventDrain: operations.KindDrain}[e.Kind]
	if !c.isLimited() {
		return true
	}
	if !known || e.Name == "" {
		return false
	}
	if e.Kind == api.EventName {
		return c.sees(s.op.ScopedObject(model.KindDomain, e.Name))
	}
	o := model.ScopedObject{Kind: kind, Names: []string{wire.CanonicalService(e.Name)}}
	if id, err := registry.ParseID(e.Subject); err == nil {
		o = s.op.ScopedBackend(kind, id)
	}
	if e.Region != "" {
		o.Regions = []string{e.Region}
	}
	return c.sees(o)
}

// seesTarget reports whether the scope of the token includes a server by host name.
func (s *Server) seesTarget(c *call, t *model.Server) bool {
	return c.sees(s.op.ScopedObject(operations.KindServer, definitions.TargetIDOf(t).String()))
}
