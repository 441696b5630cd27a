package objects

import (
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// LosesSecrets reports whether after lacks a secret of before, or has another value for it. An undo that takes the
// secrets from after would then restore a wrong object. LosesSecrets returns false if there is no object before or
// after.
func LosesSecrets(before, after any) bool {
	was, _ := heldCheck(before)
	is, exists := heldCheck(after)
	if was == nil || !exists {
		return false
	}
	back, err := was.Shown().Restore(is)
	return err != nil || back.Send != was.Send || !maps.Equal(back.Headers, was.Headers)
}

// heldCheck returns the health check of an object, nil if the object has none. exists is false without an object, and
// for kinds of objects without secrets.
func heldCheck(object any) (h *model.HealthCheck, exists bool) {
	switch o := object.(type) {
	case model.Server:
		return o.HealthCheck, true
	case *model.Server:
		if o != nil {
			return o.HealthCheck, true
		}
	case *model.Region:
		if o != nil {
			return o.HealthCheck, true
		}
	case *definitions.Overlay:
		return o.HealthCheck(), o != nil
	}
	return nil, false
}

// KeepSecrets replaces the redacted secrets in a change of an overlay by the secrets of the stored overlay. It omits
// a secret that only the file has, since the value of the file then takes effect. It rejects a redacted secret that
// neither has. file is the health check of the file, or nil.
func KeepSecrets[T any](stored, change model.Patch[T], file *model.HealthCheck) (model.Patch[T], error) {
	var given api.HealthCheckChange
	if err := change.Read(healthCheckField, &given); err != nil || given == nil {
		return change, nil //nolint:nilerr // Merge and Apply report the error
	}
	var headers map[string]*string
	var known model.HealthCheck
	if given.Read("headers", &headers) != nil || stored.Read(healthCheckField, &known) != nil {
		return change, nil //nolint:nilerr // Merge and Apply report the error
	}
	if file == nil {
		file = new(model.HealthCheck)
	}
	given, change = maps.Clone(given), maps.Clone(change)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if value := headers[name]; value == nil || *value != check.Redacted {
			continue
		}
		if secret, laid := known.Headers[name]; laid {
			headers[name] = &secret
		} else if _, configured := file.Headers[name]; configured {
			delete(headers, name)
		} else {
			return nil, fault.Invalidf("health_check.headers: the value of %.64q is %s, a placeholder, but the present "+
				"check has no such header: specify the value", name, check.Redacted)
		}
	}
	if len(headers) > 0 {
		given["headers"] = headers
	} else if headers != nil {
		delete(given, "headers")
	}
	if given.Text("send") == check.Redacted {
		switch delete(given, "send"); {
		case known.Send != "":
			given["send"] = known.Send
		case file.Send == "":
			return nil, fault.Invalidf("health_check.send is %s, a placeholder, but the present check sends nothing: "+
				"specify the value", check.Redacted)
		}
	}
	change[healthCheckField] = given
	return change, nil
}
