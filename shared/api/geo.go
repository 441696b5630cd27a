package api

import (
	"context"
	"net/url"
	"time"

	"gslb.internal/shared/model"
)

// GeoSource is the origin of a mapping.
type GeoSource string

// The sources of mappings.
const (
	GeoFromConfig GeoSource = FromConfig
	GeoFromAPI    GeoSource = FromAPI
)

// GeoMapping maps the clients of a network to a region.
type GeoMapping struct {
	model.Mapping
	Source GeoSource `json:"source"`
	// CreatedAt and UpdatedAt are set for a mapping of the API.
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
}

// GeoMappingChange is the body of PUT and PATCH /api/v1/geo/mappings, which requires cidr: a merge patch. PUT sets
// omitted fields to their defaults; PATCH retains their values.
type GeoMappingChange = model.Patch[model.Mapping]

// GeoMappingList is the answer of GET /api/v1/geo/mappings.
type GeoMappingList struct {
	Mappings    []GeoMapping `json:"mappings"`
	Total       int          `json:"total"`
	GeneratedAt time.Time    `json:"generated_at"`
}

// GeoTest is the answer of GET /api/v1/geo/test: the location of a client, and its source.
type GeoTest struct {
	IP          string `json:"ip"`
	Region      string `json:"region"`       // "" if the client has no region
	MatchType   string `json:"match_type"`   // custom_mapping, country, continent or default
	MatchedCIDR string `json:"matched_cidr"` // the mapping's or the database's network, "" for a default
	Comment     string `json:"comment"`      // of the mapping
	Country     string `json:"country"`      // country of the database, or ""
	Continent   string `json:"continent"`
	ScopePrefix int    `json:"scope_prefix"` // leading bits of the address that the location depends on
}

// GeoMappings lists the custom mappings of clients to regions.
func (c *Client) GeoMappings(ctx context.Context) (GeoMappingList, error) {
	return everyPage(ctx, c, "/api/v1/geo/mappings", nil,
		func(l *GeoMappingList) (*[]GeoMapping, int) { return &l.Mappings, l.Total })
}

// GeoTest returns the location of a client.
func (c *Client) GeoTest(ctx context.Context, ip string) (GeoTest, error) {
	return get[GeoTest](ctx, c, "/api/v1/geo/test", url.Values{"ip": {ip}})
}
