package objects

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// EditCheck returns a health check with the fields of a request. It rejects times and thresholds that do not fit
// together.
func (e *Editor) EditCheck(spec check.Spec, req api.HealthCheckChange) (check.Spec, error) {
	cfg := e.Config()
	if checks := e.ChecksServers(); req.Enabled != nil && !checks {
		if *req.Enabled {
			return spec,
				fault.Invalidf("enabled is true: the node checks nothing, since overwatch.validation.enabled is false")
		}
		req.Enabled = nil // without effect, it would surprise when the node begins to check
	}
	spec, err := config.ChangeCheck(spec, &req, &cfg.Overwatch.Validation)
	if err != nil {
		return spec, fault.Invalidf("%v", err)
	}
	if spec.Off {
		spec.Type = cmp.Or(spec.Type, check.TCP)
	}
	whole := e.whole(spec)
	if req.Interval != nil || req.Timeout != nil { // 0 would be the node's, as with thresholds
		whole.Interval, whole.Timeout = spec.Interval, spec.Timeout
	}
	whole.SuccessThreshold = ValueOr(req.HealthyThreshold, whole.SuccessThreshold)
	whole.FailureThreshold = ValueOr(req.UnhealthyThreshold, whole.FailureThreshold)
	if problems := whole.Validate(); len(problems) > 0 {
		p := problems[0]
		p.Field = fieldOfCheck(p.Field)
		return spec, fault.Invalidf("%v", p)
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

// ChecksServers reports whether the node's own checks are switched on.
func (e *Editor) ChecksServers() bool {
	cfg := e.Config()
	return cfg.Overwatch.Validation.Enabled
}

// whole returns a check with the node's times and thresholds, where it has none of its own.
func (e *Editor) whole(spec check.Spec) check.Spec {
	cfg := e.Config()
	settings := validation.SettingsOf(cfg)
	return settings.Given(spec)
}

// HealthCheckView returns the API view of the check of a server, with the times and thresholds of the node where the
// check has none.
func (e *Editor) HealthCheckView(id fmt.Stringer, spec check.Spec) api.ServerHealthCheck {
	return api.ServerHealthCheck{ServerID: id.String(), HealthCheck: e.checkView(spec)}
}

func (e *Editor) checkView(spec check.Spec) api.HealthCheck {
	spec = e.whole(spec)
	view := api.HealthCheck{
		Enabled: e.ChecksServers() && !spec.Off, Type: string(spec.Type), Path: spec.Path,
		Interval: spec.Interval.String(), Timeout: spec.Timeout.String(),
		HealthyThreshold: spec.SuccessThreshold, UnhealthyThreshold: spec.FailureThreshold,
	}
	if spec.Type == check.HTTP || spec.Type == check.HTTPS {
		view.ExpectedStatus = cmp.Or(spec.Detail.Detail().ExpectedStatus, anyGoodStatus)
	}
	return view
}

// OverlayCheck returns the check to lay over a server: the overlay before, changed by the request, without fields that
// equal the file's.
func (e *Editor) OverlayCheck(before *definitions.Overlay, req api.HealthCheckChange, file check.Spec) (
	*api.HealthCheckChange, error) {
	fields := map[string]json.RawMessage{}
	if before != nil && before.Fields[healthCheckField] != nil {
		if err := json.Unmarshal(before.Fields[healthCheckField], &fields); err != nil {
			return nil, err
		}
	}
	maps.Copy(fields, SetFields(req))
	configured := SetFields(e.checkView(file))
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool { return sameJSON(value, configured[name]) })
	if len(fields) == 0 {
		return CheckFields(file), nil
	}
	all := new(api.HealthCheckChange)
	encoded, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(encoded, all)
	}
	if err == nil {
		_, err = e.EditCheck(file, *all)
	}
	return all, err
}

// DefaultCheck returns the check to which a PUT applies its fields: default times and thresholds.
func DefaultCheck() check.Spec {
	return check.Spec{Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold}
}

// anyGoodStatus are the statuses that http and https checks take for healthy by default.
const anyGoodStatus = "200-399"

// healthCheckField is the name of the check in the overlay of a server.
const healthCheckField = "health_check"

// ServerFields returns the file's values of a server in the form of an overlay.
func ServerFields(file config.StaticServer) definitions.ServerOver {
	fields := definitions.ServerFields(file)
	fields.HealthCheck = CheckFields(file.Check.Value())
	return fields
}

// ValueOr returns the value of an optional field, or otherwise if it has none.
func ValueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// CheckFields converts a check into the body of PATCH. Default values are left out, and so are times that are the
// node's own.
func CheckFields(spec check.Spec) *api.HealthCheckChange {
	kind := string(spec.Type)
	w := &api.HealthCheckChange{
		Enabled:            NonDefault(!spec.Off, true),
		Type:               &kind,
		Path:               NonDefault(spec.Path, ""),
		HealthyThreshold:   NonDefault(spec.SuccessThreshold, 0),
		UnhealthyThreshold: NonDefault(spec.FailureThreshold, 0),
		ExpectedStatus:     NonDefault(spec.Detail.Detail().ExpectedStatus, ""),
	}
	if spec.Interval != 0 {
		interval, timeout := spec.Interval.String(), spec.Timeout.String()
		w.Interval, w.Timeout = &interval, &timeout
	}
	return w
}

// NonDefault returns a pointer to a value, nil for the default.
func NonDefault[T comparable](value, byDefault T) *T {
	if value == byDefault {
		return nil
	}
	return &value
}
