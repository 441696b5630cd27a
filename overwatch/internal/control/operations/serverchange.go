package operations

import (
	"bytes"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// ChangedServer is a server after a change.
type ChangedServer struct {
	ID string
	// Covered is the value to which the condition of a request applies.
	Covered any
	// Overlay reports that the configuration declares the server, and that an overlay has the values of the change.
	Overlay bool
}

// ChangeServer changes the fields of a request in a server. The values of a server of the configuration become an
// overlay.
func (op *Operations) ChangeServer(r *Request, text string, req api.ServerChange) (ChangedServer, error) {
	op.normalizeRegion(req)
	edit := func(server *model.Server) error { return op.o.Edit.EditServer(server, req) }
	if id, err := definitions.ParseTargetID(text); err == nil {
		after, err := op.changeTarget(r, id, func(t *model.Server) any { return t }, edit)
		return ChangedServer{ID: id.String(), Covered: after}, err
	}
	if server, found := op.declaredServer(text); found {
		return op.changeServerOverlay(r, server, req)
	}
	id, err := op.ownServer(text, "changed")
	if err != nil {
		return ChangedServer{}, err
	}
	var region *string
	if req.Has("region") {
		region = new(req.Text("region"))
	}
	after, err := op.changeServer(r, id, region, func(server model.Server) any { return server }, edit)
	return ChangedServer{ID: id.String(), Covered: after}, err
}

// changeServer changes a server of the API that has an address. covered returns the value to which the condition of the
// request applies. region is nil if the region does not change.
func (op *Operations) changeServer(r *Request, id registry.ID, region *string, covered func(model.Server) any,
	edit func(*model.Server) error) (after model.Server, err error) {
	e := &changes.EditServer{ID: id, Resource: serverResource, Covered: covered, Edit: func(server *model.Server) error {
		server.UpdatedAt = api.Stamp(op.o.Now())
		return edit(server)
	}}
	if region != nil {
		e.InRegion = op.regionExists(*region)
	}
	err = op.Apply(r, e, 0)
	return e.After, err
}

// declaredServer returns the server with an id if the configuration declares it and the API has not created it.
func (op *Operations) declaredServer(text string) (found config.StaticServer, ok bool) {
	id, err := objects.ParseID(text)
	if err != nil {
		return found, false
	}
	if _, fromAPI := op.o.Inventory.Get(id); fromAPI || op.o.View.Get(id) == nil {
		return found, false
	}
	return op.o.Edit.Config().Declared(id.String())
}

// ServerTag returns the value to which the condition of a request about a backend applies.
func (op *Operations) ServerTag(b *registry.Backend) any {
	if server, fromAPI := op.o.Inventory.Get(b.ID); fromAPI {
		return server
	}
	return []any{b.Weight, b.Region, b.Source, b.DeclaredAgent}
}

// changeServerOverlay changes the overlay of a server of the configuration.
func (op *Operations) changeServerOverlay(r *Request, file config.StaticServer,
	req api.ServerChange) (ChangedServer, error) {
	id := registry.ID{Service: file.Service, Address: file.Address, Port: file.Port}
	tag := func() (now any) {
		if b := op.o.View.Get(id); b != nil {
			now = op.ServerTag(b)
		}
		return now
	}
	ch := &Change{Action: api.AuditUpdate, Resource: serverResource, ID: id.String()}
	key := definitions.OverlayKey(definitions.OverServer, id.String())
	set, _ := op.o.Definitions.Defined()
	err := op.Define(r, ch, func(d *definitions.Draft) error {
		object := tag()
		if overlay := d.Now().Settings[key]; !bytes.Equal(overlay, set.Settings[key]) {
			object = overlay // changed by the same batch, so that the tag of the client cannot match
		}
		if err := r.Condition.Holds(object); err != nil {
			return err
		}
		return changeOverlay(op, r, d, ch, op.serverOverlay(file, req))
	})
	return ChangedServer{ID: id.String(), Covered: tag(), Overlay: true}, err
}

// serverOverlay returns the request to change the overlay of a server of the configuration.
func (op *Operations) serverOverlay(file config.StaticServer, req api.ServerChange) overlayRequest[api.ServerChange] {
	return overlayRequest[api.ServerChange]{Kind: definitions.OverServer, Name: file.ID(),
		Configured: model.All(op.o.Edit.ConfiguredServer(file)), Change: req,
		Merge: func(stored, base, change api.ServerChange) (api.ServerChange, error) {
			return op.o.Edit.MergeServerOverlay(file, stored, base, change)
		},
		Check: func(all api.ServerChange) error { return op.o.Edit.CheckServerOverlay(file, all) }}
}
