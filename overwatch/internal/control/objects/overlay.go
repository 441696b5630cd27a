package objects

import (
	"encoding/json"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
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

// configuredKind is a kind of configured objects that can have an overlay.
type configuredKind struct {
	// canonical returns the canonical form of a name.
	canonical func(name string) (string, error)
	// fields returns the values of an object in the file, as the body of PATCH, or false for an unknown name.
	fields func(cfg *config.Config, name string) (any, bool)
}

// configuredKinds has the kinds of configured objects that can have an overlay. It is never changed.
var configuredKinds = map[string]configuredKind{
	definitions.OverDomain: {func(name string) (string, error) { return wire.CanonicalService(name), nil },
		func(cfg *config.Config, name string) (any, bool) {
			d, found := ConfiguredDomain(cfg.File(), name)
			return model.All(&d), found
		}},
	definitions.OverRegion: {func(name string) (string, error) { return name, nil },
		func(cfg *config.Config, name string) (any, bool) {
			file := cfg.File()
			at := RegionAt(file, name)
			if at < 0 {
				return nil, false
			}
			return regionFields(&file.Regions[at]), true
		}},
	definitions.OverServer: {func(name string) (string, error) {
		id, err := ParseID(name)
		return id.String(), err
	}, func(cfg *config.Config, name string) (any, bool) {
		server, found := cfg.Declared(name)
		if !found {
			return nil, false
		}
		settings := server.Settings().Shown()
		fields := model.All(settings)
		fields[healthCheckField] = model.Written(settings.HealthCheck)
		return fields, true
	}},
}

// OverlayName returns the canonical name of a configured object of a kind that can have an overlay.
func OverlayName(kind, name string) (string, error) { return configuredKinds[kind].canonical(name) }

// OverlayView returns the API view of an object's overlay, or nil without an overlay.
func OverlayView(set *definitions.Set, cfg *config.Config, kind, name string) *api.Overlay {
	o := set.Overlay(kind, name)
	if o == nil {
		return nil
	}
	_, there := configuredKinds[kind].fields(cfg, name)
	return &api.Overlay{Fields: o.Shown().Fields, Configured: ConfiguredFields(cfg, kind, name, o), By: o.By,
		UpdatedAt: o.UpdatedAt, InForce: there && cfg.Laid(definitions.OverlayKey(kind, name))}
}

// ConfiguredFields returns the values of the file, without secrets, for the fields of overlays of an object. Overlays
// may be nil.
func ConfiguredFields(cfg *config.Config, kind, name string,
	overlays ...*definitions.Overlay) map[string]json.RawMessage {
	file := map[string]json.RawMessage{}
	if configured, found := configuredKinds[kind].fields(cfg, name); found {
		file = SetFields(configured)
	}
	maps.DeleteFunc(file, func(field string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(overlays, func(o *definitions.Overlay) bool {
			return o != nil && o.Fields[field] != nil
		})
	})
	return file
}
