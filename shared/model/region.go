package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// Bounds of the texts of a region or a mapping, in characters.
const (
	MaxRegionName = 100
	MaxComment    = 500
)

// Region is a location with servers, and the clients near it.
type Region struct {
	// Letters, digits, hyphens, underscores, dots; at most 64. Required. References to the region may have another case.
	Name string `key:"name" json:"id" source:"document"`
	// The display name; default: `name`. At most 100 printable characters.
	Label string `key:"label" json:"name" usage:"display name"`
	// A short display code, such as an airport code. At most 500 printable characters.
	Code string `key:"code" json:"code" usage:"display code; the id of a new region if its name is not a valid id"`
	// A description, of at most 500 printable characters.
	Description string `key:"description" json:"description" usage:"description"`
	// Tags for filters: at most 50, each of at most 64 printable characters, without commas.
	Tags []string `key:"tags" json:"tags,omitempty" usage:"tags, separated by commas"`
	// The countries of the nearby clients: ISO 3166-1 alpha-2 codes, such as DE.
	Countries []string `key:"countries" json:"countries" usage:"countries of its clients, such as DE,FR"`
	// The continents of the nearby clients: AF, AN, AS, EU, NA, OC, SA.
	Continents Continents `key:"continents" json:"continents" alias:"continent" usage:"continents of its clients: AF, AN, AS, EU, NA, OC or SA"`
	// Requires `longitude`.
	Latitude *float64 `key:"latitude" json:"latitude" usage:"position: degrees north, from -90 to 90" min:"-90" max:"90" unit:"degrees"`
	// Requires `latitude`.
	Longitude *float64 `key:"longitude" json:"longitude" usage:"position: degrees east, from -180 to 180" min:"-180" max:"180" unit:"degrees"`
	// The algorithm that chooses backends inside the region, for domains with an algorithm that chooses a region first
	// (`failover`, `geolocation`, `proximity`): `weighted`, `round-robin`, `latency` or `client-hash`. Default:
	// `weighted`.
	RoutingAlgorithm string `key:"routing_algorithm" json:"routing_algorithm,omitempty" usage:"how backends inside the region are chosen: weighted, round-robin, latency or client-hash"`
	// proximity: the percentage by which the distance of clients to the region is reduced, as in Amazon Route 53; a
	// negative value increases the distance.
	ProximityBias int `key:"proximity_bias" json:"proximity_bias,omitempty" usage:"proximity: percent that reduces the distance to the region; a negative value increases it" min:"-99" max:"99"`
	// The priority of the region for `failover` domains without `regions`: the region with the lowest value is first. For
	// equal values, the order of the names decides.
	Priority int `key:"priority" json:"priority" usage:"failover: priority of the region for domains without regions, lowest value first" min:"0" max:"1000000"`
	// false: the node assigns no clients to the region, and skips it in the `regions` of domains. Servers that name a
	// domain remain backends of the domain.
	Enabled bool `key:"enabled" json:"enabled" usage:"false: nodes assign no clients to the region" default:"true"`
	// The declared backends of the region.
	Servers []Server `key:"servers" json:"-"`
	// The health check of servers without their own `health_check`. Default: a tcp connection, with the node's
	// `check_interval` and `check_timeout`. `address` is not allowed here, because all servers of the region would have
	// the same address.
	HealthCheck *HealthCheck `key:"health_check" json:"health_check,omitempty"`
	Meta
}

// Continents is a list of continent codes. In JSON, a text with commas is also accepted, as in version 0.9.0.
type Continents []string

// UnmarshalJSON accepts a list, or a text with commas.
func (c *Continents) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]string)(c))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if *c = nil; text != "" {
		*c = strings.Split(text, ",")
	}
	return nil
}

// String returns the codes with commas between them.
func (c Continents) String() string { return strings.Join(c, ",") }

// ContinentCodes returns the continents of regions.
func ContinentCodes() []string { return []string{"AF", "AN", "AS", "EU", "NA", "OC", "SA"} }

// IsContinent reports whether a code is a continent code.
func IsContinent(code string) bool { return slices.Contains(ContinentCodes(), code) }

// IsCountry reports whether a code has the form of ISO 3166-1 alpha-2.
func IsCountry(code string) bool {
	capital := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	return len(code) == 2 && capital(code[0]) && capital(code[1])
}

// Key returns the id.
func (r *Region) Key() string { return r.Name }

// Shown returns the region without the secrets of its health check.
func (r *Region) Shown() *Region {
	shown := *r
	shown.HealthCheck = r.HealthCheck.Shown()
	return &shown
}

// readLegacy converts the stored form, the form of version 0.9.0: the id is named name, and the name label. A region of
// the audit log has an id.
func (r *Region) readLegacy(fields map[string]any) error {
	if _, there := fields["id"]; there {
		return nil
	}
	moveField(fields, "name", "id")
	moveField(fields, "label", "name")
	return nil
}

// writeLegacy converts the fields to the stored form. Version 0.9.0 knows one continent.
func (r *Region) writeLegacy(fields map[string]any) {
	moveField(fields, "name", "label")
	moveField(fields, "id", "name")
	fields["enabled"] = r.Enabled
	if len(r.Continents) > 0 {
		fields["continent"] = r.Continents[0]
	}
	if len(r.Continents) < 2 {
		delete(fields, "continents")
	}
}

// WriteLegacyContinents converts the fields of an overlay to the stored form: version 0.9.0 knows one continent.
func WriteLegacyContinents(fields map[string]json.RawMessage) {
	value, there := fields["continents"]
	var all Continents
	if !there || json.Unmarshal(value, &all) != nil {
		return
	}
	if len(all) < 2 {
		delete(fields, "continents")
	}
	first, _ := json.Marshal(all[:min(1, len(all))].String()) // a string always encodes
	fields["continent"] = first
}

// ReadLegacyContinents converts the stored fields of an overlay, which version 0.9.0 may have written.
func ReadLegacyContinents(fields map[string]json.RawMessage) {
	value, there := fields["continent"]
	if delete(fields, "continent"); !there || fields["continents"] != nil {
		return
	}
	all := Continents{}
	if json.Unmarshal(value, &all) != nil {
		return
	}
	list, _ := json.Marshal(append([]string{}, all...)) // a list of strings always encodes
	fields["continents"] = list
}

// moveField renames a field.
func moveField(fields map[string]any, from, to string) {
	if value, there := fields[from]; there {
		delete(fields, from)
		fields[to] = value
	}
}
