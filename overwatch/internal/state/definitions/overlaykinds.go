package definitions

import (
	"encoding/json"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// overlayKind is a kind of settings about an object: overlays of configured objects, and servers by host name.
type overlayKind struct {
	// check returns an error for a stored value that cannot be applied.
	check func(name string, value json.RawMessage) error
	// checkPeer applies the rules of an API change to a value that check accepts.
	checkPeer func(name string, value json.RawMessage) error
	// add adds an overlay that check accepts to the layers; nil: the value is not an overlay.
	add func(l *layers, name string, value json.RawMessage)
	// shown returns a value without secrets; nil: it has none.
	shown func(value json.RawMessage) (any, error)
	// readLegacy and writeLegacy convert the fields from and to the stored form, the form of version 0.9.0; nil: the forms
	// are equal.
	readLegacy, writeLegacy func(fields map[string]json.RawMessage)
}

// layers are the values over configured objects by name.
type layers struct {
	domains map[string]model.Patch[model.Domain]
	regions map[string]model.Patch[model.Region]
	servers map[string]model.Patch[model.Server]
}

// overlayKinds has the kinds of settings about an object. It is never changed.
var overlayKinds = map[string]overlayKind{
	OverDomain: {
		check: func(_ string, value json.RawMessage) error {
			patch, err := overlayFields[model.Patch[model.Domain]](value)
			if err == nil {
				_, err = layDomain(model.New[model.Domain](), patch)
			}
			return err
		},
		checkPeer: checkDomainOverlay,
		add: func(l *layers, name string, value json.RawMessage) {
			l.domains[name], _ = overlayFields[model.Patch[model.Domain]](value)
		},
		// Only for domains: a region also has a field routing_algorithm.
		readLegacy:  func(fields map[string]json.RawMessage) { rename(fields, legacyAlgorithm, algorithm) },
		writeLegacy: func(fields map[string]json.RawMessage) { rename(fields, algorithm, legacyAlgorithm) },
	},
	OverRegion: {
		check: func(_ string, value json.RawMessage) error {
			_, err := laidOver(model.New[model.Region](), value)
			return err
		},
		checkPeer: checkRegionOverlay,
		add: func(l *layers, name string, value json.RawMessage) {
			l.regions[name], _ = overlayFields[model.Patch[model.Region]](value)
		},
		shown: shownOverlay, readLegacy: model.ReadLegacyContinents, writeLegacy: model.WriteLegacyContinents,
	},
	OverServer: {
		check: func(_ string, value json.RawMessage) error {
			_, err := laidOver(model.New[model.Server](), value)
			return err
		},
		checkPeer: func(_ string, value json.RawMessage) error {
			laid, err := laidOver(model.New[model.Server](), value)
			if err != nil {
				return err
			}
			return errors.Join(CheckServer(laid), checkHealthCheck(laid.HealthCheck))
		},
		add: func(l *layers, name string, value json.RawMessage) {
			l.servers[name], _ = overlayFields[model.Patch[model.Server]](value)
		},
		shown: shownOverlay,
	},
	OverTarget: { // merged as a server
		check: func(name string, value json.RawMessage) error {
			_, err := DecodeTarget(name, value)
			return err
		},
		checkPeer: func(name string, value json.RawMessage) error {
			t, err := DecodeTarget(name, value)
			if err != nil {
				return err
			}
			return errors.Join(checkOptionalRegion(t.Region), CheckOwner(t.Owner), checkHealthCheck(t.HealthCheck))
		},
		shown: func(value json.RawMessage) (any, error) {
			server, err := model.Decode[model.Server](value)
			if err != nil {
				return nil, err
			}
			return server.Shown(), nil
		},
	},
}

// ShownSetting returns the value of a setting without secrets.
func ShownSetting(key string, value json.RawMessage) (any, error) {
	kind, _, _ := SplitOverlay(key)
	if shown := overlayKinds[kind].shown; shown != nil {
		return shown(value)
	}
	return value, nil
}

// Names of the routing algorithm of a domain. Stored overlays use the name of version 0.9.0, which does not know the
// other name, so that nodes of both versions apply them.
const algorithm, legacyAlgorithm = "routing_algorithm", "routing_policy"

// rename renames a field.
func rename(fields map[string]json.RawMessage, from, to string) {
	if value, there := fields[from]; there {
		delete(fields, from)
		fields[to] = value
	}
}

// checkDomainOverlay validates an overlay over a domain whose values in the file are unknown.
func checkDomainOverlay(name string, value json.RawMessage) error {
	patch, err := overlayFields[model.Patch[model.Domain]](value)
	if err != nil {
		return err
	}
	trial := model.New[model.Domain]()
	trial.Name = name
	if problems := patch.Lay(trial); len(problems) > 0 {
		return fieldError(problems)
	}
	if patch.Has("fallback_algorithm") && !patch.Has("routing_algorithm") { // it depends on the algorithm of the file
		if f := trial.FallbackAlgorithm; f != "" && policy.FindAlgorithm(f) == nil {
			return fmt.Errorf("fallback_algorithm is %.64q, which this version of gslb does not know", f)
		}
		trial.FallbackAlgorithm = ""
	}
	return CheckDomain(trial)
}

// checkRegionOverlay validates an overlay over a region with unknown values in the file.
func checkRegionOverlay(name string, value json.RawMessage) error {
	trial := model.New[model.Region]()
	trial.Latitude, trial.Longitude = new(float64), new(float64) // the overlay may contain only one of them
	laid, err := laidOver(trial, value)
	if err != nil {
		return err
	}
	laid.Name = name
	if problems := model.Bounds(laid); len(problems) > 0 {
		return fieldError(problems)
	}
	return errors.Join(checkRegionFields(laid), checkSharedAddress(laid.HealthCheck), checkHealthCheck(laid.HealthCheck))
}

// shownOverlay returns an overlay without the secrets of its health check.
func shownOverlay(value json.RawMessage) (any, error) {
	o := new(Overlay)
	if err := json.Unmarshal(value, o); err != nil {
		return nil, err
	}
	return o.Shown(), nil
}

// laidOver applies the values of an overlay to an object, and returns the object.
func laidOver[T any](object *T, value json.RawMessage) (*T, error) {
	patch, err := overlayFields[model.Patch[T]](value)
	if err != nil {
		return nil, err
	}
	if problems := patch.Lay(object); len(problems) > 0 {
		return nil, fieldError(problems)
	}
	return object, nil
}

// checkHealthCheck returns the first fault of settings over a health check of unknown type.
func checkHealthCheck(h *model.HealthCheck) (fault error) {
	if h == nil {
		return nil
	}
	for _, kind := range check.AllTypes() {
		unknown := check.Spec{Type: kind, Interval: check.MaxInterval, Timeout: check.MinTimeout,
			FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold}
		if kind.Takes("path") {
			unknown.Path = "/"
		}
		if h.Type == "" && !h.Fits(kind) {
			continue
		}
		problems := h.Over(model.HealthCheckOf(unknown)).Spec().Validate()
		if len(problems) == 0 {
			return nil
		}
		if fault == nil {
			fault = fmt.Errorf("health_check: %w", problems[0])
		}
	}
	if fault == nil {
		fault = errors.New("health_check: no type of check uses all its settings")
	}
	return fault
}
