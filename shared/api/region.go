package api

import (
	"time"

	"gslb.internal/shared/model"
)

// Region is a location with servers.
type Region struct {
	ID   string `json:"id"`   // servers, domains and mappings refer to it
	Name string `json:"name"` // for people
	model.Region
	// Continent has the codes of Continents with commas between them.
	Continent string `json:"continent"`
	// CreatedAt and UpdatedAt are set for a region of the API.
	CreatedAt      time.Time `json:"created_at,omitzero"`
	UpdatedAt      time.Time `json:"updated_at,omitzero"`
	ServerCount    int       `json:"server_count"`
	HealthyServers int       `json:"healthy_servers"`
	ServingServers int       `json:"serving_servers"` // may serve now: without drained ones
	Source         string    `json:"source"`          // config or api
	// Overlay has the API values over a region of the configuration.
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

// RegionChange is the body of POST /api/v1/regions, which requires a name, and of PUT and PATCH /api/v1/regions/{id}: a
// merge patch. POST and PUT set omitted fields to their defaults, and PATCH retains their values; null resets a field
// to its default. The id of a new region is its name if the name has only lower-case letters, digits, hyphens,
// underscores and dots, else its code, else the name converted to these characters.
type RegionChange = model.Patch[model.Region]
