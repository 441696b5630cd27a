package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// settingsSection returns the document section of the changed settings. Each object is the overlay of one configuration
// section. The overlay is noValues if the configuration section has no changed setting.
func settingsSection() *section {
	return &section{name: sectionSettings, kind: sectionSettings, list: sectionSettings, plural: "sections of settings",
		state: "Settings", most: maxSettings, everywhere: true, read: elements((*reader).settings),
		held: func(_ *Planner, set *definitions.Set) map[string]any {
			all := map[string]any{}
			for _, name := range store.SharedSettings() {
				all[name] = overlayOf(set, name)
			}
			return all
		},
		get: func(set *definitions.Set, name string) any { return overlayOf(set, name) },
		put: func(d *definitions.Draft, name string, object any) error {
			d.PutSetting(name, valuesOf(object))
			return nil
		},
		check: func(*checker, string, any, any) {},
		write: func(_ *Planner, name string, object any) (any, error) {
			values, w := valuesOf(object), api.DocumentSettings{Section: name}
			if values == nil {
				return nil, nil
			}
			if err := json.Unmarshal(values, &w.Values); err != nil {
				return nil, fmt.Errorf("the stored settings of %s: %w", name, err)
			}
			return w, nil
		},
		owned:  func(any) ownership { return newOwnership() },
		encode: func(all map[string]any) (any, error) { return all, nil },
		decode: func(stored json.RawMessage) (map[string]any, error) {
			var values map[string]json.RawMessage
			err := json.Unmarshal(stored, &values)
			all := map[string]any{}
			for name, overlay := range values {
				all[name] = &overlay
			}
			return all, err
		}}
}

// rawSettings is api.DocumentSettings with encoded values.
type rawSettings struct {
	Section string          `json:"section"`
	Values  json.RawMessage `json:"values"`
}

// settings reads the settings of a section, and returns the resulting overlay. It rejects sections that are not
// replicated.
func (r *reader) settings(req rawSettings) (found read, err error) {
	if shared := store.SharedSettings(); !slices.Contains(shared, req.Section) {
		return found, fault.Invalidf("section is %.64q: it must be one of %s", req.Section, strings.Join(shared, ", "))
	}
	if req.Values == nil {
		return found, fault.Invalidf("values is missing: the settings by name, or {} for those of the configuration " +
			"file")
	}
	if before := r.found.places[sectionSettings+" "+req.Section]; before != "" {
		return found, fmt.Errorf("settings %s is there twice: also at %s", req.Section, before)
	}
	err = r.pl.o.Definitions.Draft(func(d *definitions.Draft) error {
		wanted := definitions.View(req.Section, d.Bare())
		if err := strictjson.DecodePart(req.Values, wanted); err != nil {
			return err
		}
		for name, overlay := range r.found.of[sectionSettings] {
			d.PutSetting(name, valuesOf(overlay))
		}
		if err := d.PutSection(req.Section, wanted); err != nil {
			return err
		}
		found = read{sectionSettings, req.Section, overlayOf(d.Now(), req.Section)}
		return nil
	})
	return found, err
}

// noValues is the overlay of a section without values.
const noValues = "{}"

// overlayOf returns the overlay of a section.
func overlayOf(set *definitions.Set, name string) *json.RawMessage {
	return new(json.RawMessage(cmp.Or(string(set.Settings[name]), noValues)))
}

// valuesOf returns the overlay to store, nil for noValues and for no object.
func valuesOf(object any) json.RawMessage {
	overlay, is := object.(*json.RawMessage)
	if !is || string(*overlay) == noValues {
		return nil
	}
	return *overlay
}
