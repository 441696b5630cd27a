package operations

import (
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// healthCheckField is the name of the health check in a server.
const healthCheckField = "health_check"

// HealthCheck returns the health check of a server of any source.
func (op *Operations) HealthCheck(text string) (view api.ServerHealthCheck, err error) {
	if id, err := definitions.ParseTargetID(text); err == nil {
		set, _ := op.o.Definitions.Defined()
		t := set.Target(id)
		if t == nil {
			return view, objects.UnknownTarget(set, id)
		}
		return op.targetCheckView(id, t), nil
	}
	id, err := objects.ParseID(text)
	if err != nil {
		return view, err
	}
	b := op.o.View.Get(id)
	if b == nil {
		return view, unknownServer(id)
	}
	view = op.o.Edit.HealthCheckView(id, b.Check())
	view.HealthCheck.Note = b.CheckNote()
	return view, nil
}

// ChangeHealthCheck changes the health check of a server, and returns it. With Replace, omitted fields are set to their
// defaults. Otherwise omitted fields are unchanged.
func (op *Operations) ChangeHealthCheck(r *Request, text string, req api.HealthCheckChange) (
	view api.ServerHealthCheck, err error) {
	edit := func(server *model.Server) error { return op.o.Edit.EditHealthCheck(server, req, r.Replace) }
	if id, err := definitions.ParseTargetID(text); err == nil {
		covered := func(t *model.Server) any { return op.targetCheckView(id, t) }
		after, err := op.changeTarget(r, id, covered, edit)
		if err != nil {
			return view, err
		}
		return op.targetCheckView(id, after), nil
	}
	if file, declared := op.declaredServer(text); declared {
		return op.changeHealthCheckOverlay(r, file, req)
	}
	id, err := op.ownServer(text, "changed")
	if err != nil {
		return view, err
	}
	covered := func(server model.Server) any { return op.o.Edit.HealthCheckView(id, server.OwnCheck()) }
	after, err := op.changeServer(r, id, nil, covered, edit)
	if err != nil {
		return view, err
	}
	return op.o.Edit.HealthCheckView(id, after.OwnCheck()), nil
}

func (op *Operations) targetCheckView(id definitions.TargetID, t *model.Server) api.ServerHealthCheck {
	return op.o.Edit.HealthCheckView(id, definitions.TargetCheck(op.o.Edit.Config(), t))
}

// changeHealthCheckOverlay changes the health check in the overlay of a server of the configuration. With Replace,
// fields that the request omits take the values of the file.
func (op *Operations) changeHealthCheckOverlay(r *Request, file config.StaticServer, req api.HealthCheckChange) (
	view api.ServerHealthCheck, err error) {
	id := registry.ID{Service: file.Service, Address: file.Address, Port: file.Port}
	now := func() (view api.ServerHealthCheck) {
		if b := op.o.View.Get(id); b != nil {
			view = op.o.Edit.HealthCheckView(id, b.Check())
		}
		return view
	}
	overlay := op.serverOverlay(file, api.ServerChange{healthCheckField: req})
	if merge := overlay.Merge; r.Replace {
		overlay.Merge = func(stored, base, change api.ServerChange) (api.ServerChange, error) {
			reset, err := base.Merge(api.ServerChange{healthCheckField: nil})
			if err != nil {
				return nil, err
			}
			return merge(stored, reset, change)
		}
	}
	ch := &Change{Action: api.AuditUpdate, Resource: serverResource, ID: id.String()}
	err = op.Define(r, ch, func(d *definitions.Draft) error {
		if err := r.Condition.Holds(now()); err != nil {
			return err
		}
		return changeOverlay(op, r, d, ch, overlay)
	})
	if err != nil {
		return view, err
	}
	return now(), nil
}
