package httpapi

import (
	"cmp"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// getHealthCheck answers GET /servers/{id}/health-check, of any server.
func (s *Server) getHealthCheck(c *call) (answer, error) {
	id, err := parseID(c.Param("id"))
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
				spec = check.Spec{
					Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
					FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold,
				}
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

func (s *Server) editCheck(spec check.Spec, req api.HealthCheckChange) (check.Spec, error) {
	switch checks := s.checks(); {
	case req.Enabled == nil:
	case *req.Enabled && !checks:
		return spec, badRequest("enabled is true: the node checks nothing, since overwatch.validation.enabled is false")
	case *req.Enabled, checks: // false without effect would surprise when the node begins to check
		spec.Off = !*req.Enabled
	}
	spec.Type = check.Type(valueOr(req.Type, string(spec.Type)))
	if spec.Off {
		spec.Type = cmp.Or(spec.Type, check.TCP)
	}
	spec.Path = valueOr(req.Path, spec.Path)
	spec.SuccessThreshold = valueOr(req.HealthyThreshold, spec.SuccessThreshold)
	spec.FailureThreshold = valueOr(req.UnhealthyThreshold, spec.FailureThreshold)
	if req.ExpectedStatus != nil {
		detail := spec.Detail.Detail()
		detail.ExpectedStatus = *req.ExpectedStatus
		spec.Detail = detail.Details()
	}
	var err error
	own := spec.Interval != 0 || req.Interval != nil || req.Timeout != nil // times, and not those of the node
	whole := s.whole(spec)
	whole.SuccessThreshold = valueOr(req.HealthyThreshold, whole.SuccessThreshold) // 0 would be the node's
	whole.FailureThreshold = valueOr(req.UnhealthyThreshold, whole.FailureThreshold)
	if whole.Interval, err = durationOr("interval", req.Interval, whole.Interval); err != nil {
		return spec, err
	}
	if whole.Timeout, err = durationOr("timeout", req.Timeout, whole.Timeout); err != nil {
		return spec, err
	}
	if own {
		spec.Interval, spec.Timeout = whole.Interval, whole.Timeout
	}
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

// valueOr returns the value of an optional field, or what it is without one.
func valueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// durationOr is valueOr for a duration that is written as text.
func durationOr(field string, text *string, otherwise time.Duration) (time.Duration, error) {
	if text == nil {
		return otherwise, nil
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return 0, badRequest("%s is %.64q: it must be a duration such as 5s", field, *text)
	}
	return d, nil
}

// checks reports whether the node makes checks of its own.
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

func (s *Server) healthCheckView(id registry.ID, spec check.Spec) api.ServerHealthCheck {
	spec = s.whole(spec)
	view := api.HealthCheck{
		Enabled: s.checks() && !spec.Off, Type: string(spec.Type), Path: spec.Path,
		Interval: spec.Interval.String(), Timeout: spec.Timeout.String(),
		HealthyThreshold: spec.SuccessThreshold, UnhealthyThreshold: spec.FailureThreshold,
	}
	if spec.Type == check.HTTP || spec.Type == check.HTTPS {
		view.ExpectedStatus = cmp.Or(spec.Detail.Detail().ExpectedStatus, anyGoodStatus)
	}
	return api.ServerHealthCheck{ServerID: id.String(), HealthCheck: view}
}
