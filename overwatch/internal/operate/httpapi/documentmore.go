package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

func (r *documentReader) agent(req api.DocumentAgent) (kind, name string, err error) {
	made, err := r.s.edit.NewAgent(req.AgentRegistration)
	if err != nil {
		return "", "", err
	}
	made.Owner, made.Region = req.Owner, r.names.Of(made.Region)
	r.found.agents[made.ID] = made
	return kindAgent, made.ID, checkOwner(req.Owner)
}

func writtenAgent(n *store.Node) api.DocumentAgent {
	return api.DocumentAgent{Owner: n.Owner, AgentRegistration: api.AgentRegistration{Name: n.ID, Address: n.Address,
		Port: n.Port, Region: n.Region, Version: n.Version}}
}

// documentSettings is api.DocumentSettings whose values are not decoded yet.
type documentSettings struct {
	Section string          `json:"section"`
	Values  json.RawMessage `json:"values"`
}

// settings reads the settings of a section, and keeps the overlay that they make over the file. Sections that each node
// has for itself cannot be in a document.
func (r *documentReader) settings(req documentSettings) (kind, name string, err error) {
	if shared := store.SharedSettings(); !slices.Contains(shared, req.Section) {
		return "", "", badRequest("section is %.64q: it must be one of %s", req.Section, strings.Join(shared, ", "))
	}
	if req.Values == nil {
		return "", "", badRequest("values is missing: the settings by name, or {} for those of the configuration file")
	}
	if before := r.found.places[kindSettings+" "+req.Section]; before != "" {
		return "", "", fmt.Errorf("settings %s is there twice: also at %s", req.Section, before)
	}
	err = r.s.o.Definitions.Draft(func(d *definitions.Draft) error {
		wanted := definitions.View(req.Section, d.Bare())
		if err := decodePart(req.Values, wanted); err != nil {
			return err
		}
		for section, overlay := range r.found.settings {
			d.PutSetting(section, valuesOf(overlay))
		}
		if err := d.PutSection(req.Section, wanted); err != nil {
			return err
		}
		overlay := cmp.Or(string(d.Now().Settings[req.Section]), noValues)
		r.found.settings[req.Section] = new(json.RawMessage(overlay))
		return nil
	})
	return kindSettings, req.Section, err
}

// noValues stands for the overlay of a section without any values.
const noValues = "{}"

// valuesOf returns the overlay to store, nil for noValues.
func valuesOf(overlay *json.RawMessage) json.RawMessage {
	if string(*overlay) == noValues {
		return nil
	}
	return *overlay
}
