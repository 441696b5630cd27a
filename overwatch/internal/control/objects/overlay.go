package objects

import (
	"encoding/json"
	"maps"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// SetFields returns the fields that the body of a PATCH sets.
func SetFields(body any) (fields map[string]json.RawMessage) {
	encoded, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(encoded, &fields)
	}
	if err != nil {
		panic(err) // requests can always be encoded
	}
	return fields
}

// healthCheckField is the name of the health check in a server.
const healthCheckField = "health_check"

// configuredFields returns the values of an object in the file in the format of a PATCH. there is false if the file
// lacks the object.
func configuredFields(cfg *config.Config, kind, name string) (fields any, there bool) {
	file := cfg.File()
	switch kind {
	case definitions.OverDomain:
		if d, found := ConfiguredDomain(file, name); found {
			return model.All(&d), true
		}
	case definitions.OverRegion:
		if at := RegionAt(file, name); at >= 0 {
			return regionFields(&file.Regions[at]), true
		}
	case definitions.OverServer:
		if server, found := cfg.Declared(name); found {
			settings := server.Settings().Shown()
			fields := model.All(settings)
			fields[healthCheckField] = model.Written(settings.HealthCheck)
			return fields, true
		}
	}
	return struct{}{}, false
}

// OverlayView returns the API view of an object's overlay, or nil without an overlay.
func OverlayView(set *definitions.Set, cfg *config.Config, kind, name string) *api.Overlay {
	o := set.Overlay(kind, name)
	if o == nil {
		return nil
	}
	configured, there := configuredFields(cfg, kind, name)
	file := SetFields(configured)
	maps.DeleteFunc(file, func(name string, _ json.RawMessage) bool { return o.Fields[name] == nil })
	return &api.Overlay{Fields: o.Shown().Fields, Configured: file, By: o.By, UpdatedAt: o.UpdatedAt,
		InForce: there && cfg.Laid(definitions.OverlayKey(kind, name))}
}
