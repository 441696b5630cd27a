package api

import "time"

// Region is a place with servers in it.
type Region struct {
	ID             string   `json:"id"`   // what servers, domains and mappings name
	Name           string   `json:"name"` // for people
	Code           string   `json:"code"`
	Description    string   `json:"description"`
	Latitude       *float64 `json:"latitude"` // degrees; null, as the longitude: not known
	Longitude      *float64 `json:"longitude"`
	Continent      string   `json:"continent"` // AF, AN, AS, EU, NA, OC or SA; several of the configuration with commas
	Countries      []string `json:"countries"` // ISO 3166-1 alpha-2
	Enabled        bool     `json:"enabled"`   // false: no client is placed in it, and no domain prefers it
	Priority       int      `json:"priority"`  // of regions that the API created, the lowest comes first
	ServerCount    int      `json:"server_count"`
	HealthyServers int      `json:"healthy_servers"`
	Source         string   `json:"source"` // config or api
	// RoutingAlgorithm chooses among the region's backends; empty: the domain's algorithm.
	RoutingAlgorithm string `json:"routing_algorithm,omitempty"`
	ProximityBias    int    `json:"proximity_bias,omitempty"` // percent
	// Overlay has the values that the API has laid over a region of the configuration.
	Overlay *Overlay `json:"overlay,omitempty"`
}

// RegionList is the answer of GET /api/v1/regions.
type RegionList struct {
	Regions     []Region  `json:"regions"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// Sources of a region or a mapping.
const (
	FromConfig = "config"
	FromAPI    = "api"
)

// RegionChange is the body of POST /api/v1/regions, and of PUT and PATCH /api/v1/regions/{id}. A
// nil field gets its default with POST and PUT, and stays with PATCH.
type RegionChange struct {
	// Name is any short text; POST needs it. A new region's id is its name if that has lower-case letters,
	// digits, hyphens, underscores and dots alone, else its code, else the name in that form.
	Name        *string   `json:"name,omitempty"`
	Code        *string   `json:"code,omitempty"`
	Description *string   `json:"description,omitempty"`
	Latitude    *float64  `json:"latitude,omitempty"`
	Longitude   *float64  `json:"longitude,omitempty"`
	Continent   *string   `json:"continent,omitempty"`
	Countries   *[]string `json:"countries,omitempty"`
	Enabled     *bool     `json:"enabled,omitempty"` // default true
	Priority    *int      `json:"priority,omitempty"`
	// RoutingAlgorithm chooses among the region's backends after the domain has chosen the region;
	// empty: the domain's algorithm.
	RoutingAlgorithm *string `json:"routing_algorithm,omitempty"`
	// ProximityBias changes the region's distance for proximity, in percent.
	ProximityBias *int `json:"proximity_bias,omitempty"`
}
