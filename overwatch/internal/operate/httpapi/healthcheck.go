package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// getHealthCheck answers GET /servers/{id}/health-check, of any server.
func (s *Server) getHealthCheck(c *call) (answer, error) {
	if id, is := targetID(c); is {
		return s.getTargetCheck(c, id)
	}
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	view := s.healthCheckView(id, b.Check())
	view.HealthCheck.Note = b.CheckNote()
	return tagged(c, http.StatusOK, view, view), nil
}

// putHealthCheck answers PUT and PATCH /servers/{id}/health-check. A field that the body does not have takes its
// default with PUT, and stays with PATCH.
func (s *Server) putHealthCheck(c *call) (answer, error) {
	if id, is := targetID(c); is {
		return s.putTargetCheck(c, id)
	}
	if file, declared := s.declaredServer(c); declared {
		return s.layHealthCheck(c, file)
	}
	id, err := s.ownServer(c, "changed")
	if err != nil {
		return answer{}, err
	}
	var req api.HealthCheckChange
	if err := c.decode(&req); err != nil {
		return answer{}, err
	}
	var view api.ServerHealthCheck
	_, err = s.changeServer(c, id, nil, func(server store.Server) any { return s.healthCheckView(id, server.Check) },
		func(server *store.Server) error {
			spec := server.Check
			if c.Request.Method == http.MethodPut {
				spec = defaultCheck()
			}
			spec, err := s.editCheck(spec, req)
			if err != nil {
				return err
			}
			server.Check, view = spec, s.healthCheckView(id, spec)
			return nil
		})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, view, view), nil
}

// defaultCheck returns the check from which a PUT starts: default times and thresholds.
func defaultCheck() check.Spec {
	return check.Spec{Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold}
}

// layHealthCheck lays the values of a request over the check of a server of the configuration. With PUT, fields that
// the body leaves out get the file's values again.
func (s *Server) layHealthCheck(c *call, file config.StaticServer) (answer, error) {
	var req api.HealthCheckChange
	if err := c.decode(&req); err != nil {
		return answer{}, err
	}
	id := registry.ID{Service: file.Service, Address: file.Address, Port: file.Port}
	now := func() (view api.ServerHealthCheck) {
		if b := s.o.View.Get(id); b != nil {
			view = s.healthCheckView(id, b.Check())
		}
		return view
	}
	ch := &change{action: api.AuditUpdate, resource: "server", id: id.String()}
	err := s.define(c, ch, func(d *definitions.Draft) error {
		if err := c.condition.holds(now()); err != nil {
			return err
		}
		var before *definitions.Overlay
		if c.Request.Method == http.MethodPatch {
			before = d.Now().Overlay(definitions.OverServer, id.String())
		}
		all, err := s.checkOver(before, req, file.Check.Value())
		if err != nil {
			return err
		}
		return layOver(s, c, d, ch, overlayRequest[definitions.ServerOver]{kind: definitions.OverServer, name: id.String(),
			configured: serverFields(file), change: definitions.ServerOver{HealthCheck: all},
			check: func(definitions.ServerOver) error { return nil }})
	})
	if err != nil {
		return answer{}, err
	}
	view := now()
	return tagged(c, http.StatusOK, view, view), nil
}

// checkOver returns the check to lay over a server: the overlay before, changed by the request, without fields that
// equal the file's.
func (s *Server) checkOver(before *definitions.Overlay, req api.HealthCheckChange, file check.Spec) (
	*api.HealthCheckChange, error) {
	fields := map[string]json.RawMessage{}
	if before != nil && before.Fields[healthCheckField] != nil {
		if err := json.Unmarshal(before.Fields[healthCheckField], &fields); err != nil {
			return nil, err
		}
	}
	maps.Copy(fields, setFields(req))
	configured := setFields(s.checkView(file))
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool { return sameJSON(value, configured[name]) })
	if len(fields) == 0 {
		return writtenCheck(file), nil
	}
	all := new(api.HealthCheckChange)
	encoded, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(encoded, all)
	}
	if err == nil {
		_, err = s.editCheck(file, *all)
	}
	return all, err
}

// healthCheckField is the name of the check in the overlay of a server.
const healthCheckField = "health_check"

// serverFields returns the file's values of a server in the form of an overlay.
func serverFields(file config.StaticServer) definitions.ServerOver {
	fields := definitions.ServerFields(file)
	fields.HealthCheck = writtenCheck(file.Check.Value())
	return fields
}

func (s *Server) editCheck(spec check.Spec, req api.HealthCheckChange) (check.Spec, error) {
	cfg, _ := s.o.Config()
	if checks := s.checks(); req.Enabled != nil && !checks {
		if *req.Enabled {
			return spec, badRequest("enabled is true: the node checks nothing, since overwatch.validation.enabled is false")
		}
		req.Enabled = nil // without effect, it would surprise when the node begins to check
	}
	spec, err := config.ChangeCheck(spec, &req, &cfg.Overwatch.Validation)
	if err != nil {
		return spec, badRequest("%v", err)
	}
	if spec.Off {
		spec.Type = cmp.Or(spec.Type, check.TCP)
	}
	whole := s.whole(spec)
	if req.Interval != nil || req.Timeout != nil { // 0 would be the node's, as with thresholds
		whole.Interval, whole.Timeout = spec.Interval, spec.Timeout
	}
	whole.SuccessThreshold = valueOr(req.HealthyThreshold, whole.SuccessThreshold)
	whole.FailureThreshold = valueOr(req.UnhealthyThreshold, whole.FailureThreshold)
	if problems := whole.Validate(); len(problems) > 0 {
		p := problems[0]
		p.Field = fieldOfCheck(p.Field)
		return spec, badRequest("%v", p)
	}
	return spec, nil
}

// fieldOfCheck returns the API's name of a key of a check.
func fieldOfCheck(key string) string {
	switch key {
	case "success_threshold":
		return "healthy_threshold"
	case "failure_threshold":
		return "unhealthy_threshold"
	}
	return key
}

// valueOr returns the value of an optional field, or otherwise if it has none.
func valueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// checks reports whether the node's own checks are switched on.
func (s *Server) checks() bool {
	cfg, _ := s.o.Config()
	return cfg.Overwatch.Validation.Enabled
}

// whole returns a check with the node's times and thresholds, where it has none of its own.
func (s *Server) whole(spec check.Spec) check.Spec {
	cfg, _ := s.o.Config()
	settings := control.Checks(cfg)
	return settings.Given(spec)
}

// anyGoodStatus are the statuses that http and https checks take for healthy by default.
const anyGoodStatus = "200-399"

func (s *Server) healthCheckView(id fmt.Stringer, spec check.Spec) api.ServerHealthCheck {
	return api.ServerHealthCheck{ServerID: id.String(), HealthCheck: s.checkView(spec)}
}

func (s *Server) checkView(spec check.Spec) api.HealthCheck {
	spec = s.whole(spec)
	view := api.HealthCheck{
		Enabled: s.checks() && !spec.Off, Type: string(spec.Type), Path: spec.Path,
		Interval: spec.Interval.String(), Timeout: spec.Timeout.String(),
		HealthyThreshold: spec.SuccessThreshold, UnhealthyThreshold: spec.FailureThreshold,
	}
	if spec.Type == check.HTTP || spec.Type == check.HTTPS {
		view.ExpectedStatus = cmp.Or(spec.Detail.Detail().ExpectedStatus, anyGoodStatus)
	}
	return view
}
