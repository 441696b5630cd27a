package objects

import (
	"cmp"
	"fmt"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// checkHealth completes the health check of a server after a change by req, and rejects incompatible settings. prefix
// precedes the names of fields in errors.
func (e *Editor) checkHealth(s *model.Server, req api.HealthCheckChange, prefix string) error {
	cfg := e.Config()
	if h := s.HealthCheck; h != nil && req.Has("enabled") && h.Enabled != nil && !e.ChecksServers() {
		if *h.Enabled {
			return fault.Invalidf("%senabled is true: the node checks nothing, since "+
				"overwatch.validation.enabled is false", prefix)
		}
		h.Enabled = nil // otherwise the value would take effect later, when the node starts to check
	}
	if s.Target == "" && s.HealthCheck != nil {
		config.CompleteTimes(s.HealthCheck, &cfg.Overwatch.Validation)
		s.HealthCheck = model.HealthCheckOf(s.HealthCheck.Spec()) // omits values that equal the defaults
	}
	for _, p := range e.whole(checkOf(cfg, s)).Validate() {
		p.Field = prefix + model.HealthCheckField(p.Field)
		return fault.Invalidf("%v", p)
	}
	return nil
}

// checkOf returns the check of a server of the API.
func checkOf(cfg *config.Config, s *model.Server) check.Spec {
	if s.Target != "" {
		return definitions.TargetCheck(cfg, s)
	}
	return s.Check(cfg.CheckIn(s.Region))
}

// ChecksServers reports whether the node's own checks are enabled.
func (e *Editor) ChecksServers() bool {
	cfg := e.Config()
	return cfg.Overwatch.Validation.Enabled
}

// whole returns a check in which the values of the node replace missing times and thresholds.
func (e *Editor) whole(spec check.Spec) check.Spec {
	cfg := e.Config()
	settings := validation.SettingsOf(cfg)
	return settings.WithDefaults(spec)
}

// HealthCheckView returns the API view of a server's health check. The values of the node replace missing times and
// thresholds.
func (e *Editor) HealthCheckView(id fmt.Stringer, spec check.Spec) api.ServerHealthCheck {
	return api.ServerHealthCheck{ServerID: id.String(), HealthCheck: e.checkView(spec)}
}

// checkView returns the settings of a check without secrets. The values of the node, or the defaults, replace missing
// values.
func (e *Editor) checkView(spec check.Spec) api.HealthCheck {
	spec = e.whole(spec)
	h := model.HealthCheckOf(spec)
	h.Enabled = new(e.ChecksServers() && !spec.Off)
	if spec.Type == check.HTTP || spec.Type == check.HTTPS {
		h.ExpectedStatus = cmp.Or(h.ExpectedStatus, anyGoodStatus)
	}
	return api.HealthCheck{HealthCheck: *h.Shown()}
}

// anyGoodStatus contains the default healthy statuses of http and https checks.
const anyGoodStatus = "200-399"

// ConfiguredServer returns the settings of a server of the configuration. The values of the node, or the defaults,
// replace missing values of its health check.
func (e *Editor) ConfiguredServer(file config.StaticServer) *model.Server {
	made, view := file.Settings(), e.checkView(file.Check.Value())
	made.HealthCheck = &view.HealthCheck
	return made
}

// NonDefault returns a pointer to a value, or nil for the default.
func NonDefault[T comparable](value, byDefault T) *T {
	if value == byDefault {
		return nil
	}
	return &value
}
