package operations

import (
	"context"
	"errors"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// The names of a server in the audit log: as a server, and as the backend of a domain.
const (
	serverResource  = "server"
	backendResource = "backend"
)

// CreateServer creates a server and returns its id.
func (op *Operations) CreateServer(r *Request, req api.ServerChange) (id string, err error) {
	cfg := op.o.Edit.Config()
	domain, found := op.o.Edit.FindDomain(cfg, req.Text("service"))
	if !found {
		if _, err := op.o.Edit.NewServer(req, model.FromOperator); err != nil {
			return "", err // an unknown or invalid field, such as a misspelled service
		}
		return "", fault.Invalidf("service is %.260q: it must be the name of a domain of this node", req.Text("service"))
	}
	return op.createServer(r, serverResource, cfg, domain, req)
}

// AddBackend creates a server of a domain and returns its id. The default region is the first region of the domain, or
// the region of the node.
func (op *Operations) AddBackend(r *Request, name string, req api.ServerChange) (id string, err error) {
	cfg := op.o.Edit.Config()
	domain, found := op.o.Edit.FindDomain(cfg, name)
	switch {
	case !found:
		return "", fault.Invalidf("no domain %.260q is configured", name)
	case req.Has("service") && wire.CanonicalService(req.Text("service")) != domain.Name:
		return "", fault.Invalidf("service is %.260q: the path has the domain %s", req.Text("service"), domain.Name)
	case req.Text("region") != "":
	case len(domain.Regions) > 0:
		req["region"] = domain.Regions[0]
	case len(cfg.Regions) > 0:
		req["region"] = cfg.Regions[0].Name
	}
	if !req.Has("weight") {
		req["weight"] = api.DefaultBackendWeight
	}
	return op.createServer(r, backendResource, cfg, domain, req)
}

// createServer checks a server of a domain and creates it.
func (op *Operations) createServer(r *Request, resource string, cfg *config.Config, domain config.Domain,
	req api.ServerChange) (id string, err error) {
	op.normalizeRegion(req)
	req["service"] = domain.Name
	server, err := op.o.Edit.NewServer(req, model.FromOperator)
	if err != nil {
		return "", err
	}
	if server.Target == "" && domain.AnswersNames() {
		return "", fault.Invalidf("service is %q, whose answers are names (answer: cname): give a host name as target, "+
			"since an address is never answered", server.Service)
	}
	// On a node without regions, a backend of a domain needs no region.
	hasRegion := resource != backendResource || server.Region != "" || len(cfg.Regions) > 0
	if hasRegion {
		err = objects.CheckRegion(cfg, server.Region)
	}
	if err = errors.Join(err, op.o.Edit.CheckNewServer(server, nil, req)); err != nil {
		return "", err
	}
	server.CreatedAt = api.Stamp(op.o.Now())
	server.UpdatedAt = server.CreatedAt
	if server.Target != "" {
		return server.ID(), op.createTarget(r, server)
	}
	create := changes.CreateServer{Server: *server, Resource: resource}
	if hasRegion {
		create.InRegion = op.regionExists(server.Region)
	}
	return server.ID(), op.Apply(r, create, 0)
}

// normalizeRegion replaces the region of a request, which can be written in any case, by its id.
func (op *Operations) normalizeRegion(req api.ServerChange) {
	if region := req.Text("region"); region != "" {
		set, file := op.o.Definitions.Defined()
		req["region"] = set.RegionNames(file).Of(region)
	}
}

// DeleteServer deletes a server of the API, with its weights and drains.
func (op *Operations) DeleteServer(r *Request, text string) error {
	if id, err := definitions.ParseTargetID(text); err == nil {
		return op.deleteTarget(r, id)
	}
	id, err := op.ownServer(text, "deleted")
	if err != nil {
		return err
	}
	return op.deleteServer(r, serverResource, id)
}

// DeleteBackend deletes a server of the API that is a backend of a domain.
func (op *Operations) DeleteBackend(r *Request, domain, text string) error {
	id, err := op.ownServer(text, "deleted")
	if err != nil {
		return err
	}
	if id.Service != wire.CanonicalService(domain) {
		return fault.NotFoundf("%s is not a backend of %.260q", id, domain)
	}
	return op.deleteServer(r, backendResource, id)
}

func (op *Operations) deleteServer(r *Request, resource string, id registry.ID) error {
	return op.Apply(r, changes.DeleteServer{ID: id, Resource: resource, Stays: op.stays}, 0)
}

// ownServer parses the id of a server that the API has created. done completes the sentence of the error, such as
// "deleted".
func (op *Operations) ownServer(text, done string) (registry.ID, error) {
	id, err := objects.ParseID(text)
	if err != nil {
		return id, err
	}
	b := op.o.View.Get(id)
	switch {
	case b == nil:
		return id, unknownServer(id)
	case b.Host().FromAPI:
		t := definitions.TargetID{Service: id.Service, Name: b.Host().Name, Port: id.Port}
		return id, fault.Invalidf("server %s is an address of %s: only that can be %s", id, t, done)
	case b.Source != api.SourceAPI:
		return id, fault.Invalidf("server %s comes from the %s source: only servers of the api source can be %s here", id,
			b.Source, done)
	}
	return id, nil
}

func unknownServer(id registry.ID) error { return fault.NotFoundf("no server %s is known", id) }

// regionExists returns a check function. The function returns an error if the region does not exist when it is called.
func (op *Operations) regionExists(region string) func() error {
	return func() error { return objects.CheckRegion(op.o.Edit.Config(), region) }
}

// EndAdminStatesOf ends the weights and the drains of deleted servers. Only a step of a change that excludes other
// changes may call it.
func (op *Operations) EndAdminStatesOf(ctx context.Context, deleted ...registry.ID) error {
	return op.o.Changes.EndAdminStatesOf(ctx, deleted, op.stays)
}

// stays reports whether something declares a backend or reports it. An address of a deleted host name may serve until
// its successors have a check result, and does not stay.
func (op *Operations) stays(id registry.ID) bool {
	b := op.o.View.Get(id)
	if b == nil || !b.Host().FromAPI || b.AgentID != "" {
		return b != nil
	}
	set, _ := op.o.Definitions.Defined()
	return set.Target(definitions.TargetID{Service: id.Service, Name: b.Host().Name, Port: id.Port}) != nil
}
