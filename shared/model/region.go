package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gslb.internal/shared/settings"
)

// Bounds of the texts of a region or a mapping, in characters.
const (
	MaxRegionName = 100
	MaxComment    = 500
)

// Region is a location with servers, and the clients near it.
type Region struct {
	// Letters, digits, hyphens, underscores, dots; at most 64. Required. References to the region may have another case.
	Name string `key:"name" json:"id" write:"always"`
	// The name for people; default: `name`. At most 100 printable characters.
	Label string `key:"label" json:"name" usage:"name for people"`
	// A short code for people, such as that of an airport.
	Code string `key:"code" json:"code" usage:"short code for people; of a new region also its id if the name cannot be one"`
	// A text for people, of at most 500 printable characters.
	Description string `key:"description" json:"description" usage:"text for people"`
	// Countries whose clients are near: ISO 3166-1, two capitals.
	Countries []string `key:"countries" json:"countries" usage:"countries whose clients are near, such as DE,FR"`
	// Continents whose clients are near: AF, AN, AS, EU, NA, OC, SA.
	Continents Continents `key:"continents" json:"continents" alias:"continent" usage:"continents whose clients are near: AF, AN, AS, EU, NA, OC, SA"`
	// With `longitude` or not at all.
	Latitude *float64 `key:"latitude" json:"latitude" usage:"position: degrees north, from -90 to 90" min:"-90" max:"90" unit:"degrees"`
	// With `latitude` or not at all.
	Longitude *float64 `key:"longitude" json:"longitude" usage:"position: degrees east, from -180 to 180" min:"-180" max:"180" unit:"degrees"`
	// How backends inside the region are chosen for domains whose algorithm chooses a region first (`failover`,
	// `geolocation`, `proximity`): `weighted`, `round-robin`, `latency` or `client-hash`. Left out: `weighted`.
	RoutingAlgorithm string `key:"routing_algorithm" json:"routing_algorithm,omitempty" usage:"how backends inside the region are chosen (default weighted)"`
	// proximity: makes the region seem nearer to clients than it is, in percent of the distance, as in Amazon Route 53;
	// below 0: farther away.
	ProximityBias int `key:"proximity_bias" json:"proximity_bias,omitempty" usage:"proximity: percent by which the region seems nearer; below 0: farther away" min:"-99" max:"99"`
	// The place of the region for `failover` domains that list no `regions`: the lowest is asked first, of equal ones that
	// whose name comes first.
	Priority int `key:"priority" json:"priority" usage:"failover: place of the region among all, the lowest first" min:"0" max:"1000000"`
	// false: no client is placed in the region, and no domain prefers it. Its servers stay those of the domains that they
	// are declared for.
	Enabled bool `key:"enabled" json:"enabled" usage:"false: no client is placed in the region" default:"true"`
	Meta
}

// Continents is a list of continent codes. In JSON it is a list, or a text with commas, as version 0.9.0 has it.
type Continents []string

// UnmarshalJSON accepts a list or a text with commas.
func (c *Continents) UnmarshalJSON(data []byte) error {
	var text string
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if *c = nil; text != "" {
			*c = strings.Split(text, ",")
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(c))
}

// ContinentCodes returns the continents of regions.
func ContinentCodes() []string { return []string{"AF", "AN", "AS", "EU", "NA", "OC", "SA"} }

// IsContinent reports whether a code is that of a continent.
func IsContinent(code string) bool { return slices.Contains(ContinentCodes(), code) }

// IsCountry reports whether a code has the form of ISO 3166-1 alpha-2.
func IsCountry(code string) bool {
	capital := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	return len(code) == 2 && capital(code[0]) && capital(code[1])
}

// Key returns the id.
func (r *Region) Key() string { return r.Name }

// Problems returns the faults of a region that are independent of the node, apart from its id and the bounds of
// numbers. Keys are JSON names.
func (r *Region) Problems() (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	text := func(key, value string, limit int) {
		if remedy := textRemedy(value, limit); remedy != "" {
			add(key, value, "%s", remedy)
		}
	}
	text("name", r.Label, MaxRegionName)
	text("code", r.Code, MaxComment)
	text("description", r.Description, MaxComment)
	codes := func(name string, list []string, isCode func(string) bool, remedy string) {
		for at, code := range list {
			if key := fmt.Sprintf("%s[%d]", name, at); !isCode(code) {
				add(key, code, "%s", remedy)
			} else if slices.Index(list, code) < at {
				add(key, code, "is in this list already: keep one")
			}
		}
	}
	codes("countries", r.Countries, IsCountry, "give the two letters of ISO 3166-1 in capitals, such as DE")
	codes("continents", r.Continents, IsContinent, "use AF, AN, AS, EU, NA, OC or SA")
	if (r.Latitude == nil) != (r.Longitude == nil) {
		add("latitude", "", "only one of latitude and longitude is given: give both or none")
	}
	return found
}

// textRemedy returns the correction of an optional text for people, or "" for a valid text.
func textRemedy(text string, limit int) string {
	notPrintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case text == "":
		return ""
	case strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > limit || strings.ContainsFunc(text, notPrintable):
		return fmt.Sprintf("give a text of at most %d printable characters", limit)
	}
	return ""
}

// readLegacy converts the stored form, which is that of version 0.9.0: the id is named name, and the name label.
func (r *Region) readLegacy(fields map[string]any) error {
	if _, there := fields["id"]; there {
		return nil
	}
	move(fields, "name", "id")
	move(fields, "label", "name")
	return nil
}

// writeLegacy converts the fields to the stored form. Version 0.9.0 knows one continent.
func (r *Region) writeLegacy(fields map[string]any) {
	move(fields, "name", "label")
	move(fields, "id", "name")
	fields["enabled"] = r.Enabled
	r.writeLegacyPatch(fields)
}

// writeLegacyPatch converts the fields of an overlay for version 0.9.0, which knows one continent.
func (r *Region) writeLegacyPatch(fields map[string]any) {
	value, there := fields["continents"]
	if !there {
		return
	}
	encoded, _ := json.Marshal(value) // which has been decoded before
	var all Continents
	_ = json.Unmarshal(encoded, &all)
	if len(all) < 2 {
		delete(fields, "continents")
	}
	fields["continent"] = strings.Join(all[:min(1, len(all))], "")
}

// move gives the value of a field another name.
func move(fields map[string]any, from, to string) {
	if value, there := fields[from]; there {
		delete(fields, from)
		fields[to] = value
	}
}
