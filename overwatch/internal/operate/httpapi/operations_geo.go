package httpapi

import (
	"net/http"
	"net/netip"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func geoOperations() []Operation {
	example := model.Mapping{CIDR: netip.MustParsePrefix("198.51.100.0/24"), Region: "eu-west", Comment: "the office"}
	placed := api.GeoMapping{Mapping: example, Source: api.GeoFromAPI, CreatedAt: exampleTime(), UpdatedAt: exampleTime()}
	mapping := api.GeoMappingChange{"cidr": "198.51.100.0/24", "region": "eu-west", "comment": "the office"}
	return []Operation{
		{Method: get, Path: v1 + "/geo/mappings", handle: (*Server).listGeoMappings,
			Summary: "List mappings of networks to regions", Query: paged(), Status: 200,
			Answer: api.GeoMappingList{Mappings: []api.GeoMapping{
				{Mapping: example, Source: api.GeoFromConfig}}, Total: 1,
				GeneratedAt: exampleTime()}},
		{Method: put, Path: v1 + "/geo/mappings", Changes: KindMapping, handle: decoded((*Server).putGeoMapping),
			Summary: "Set the region of a network",
			Description: "The status is 201 for a new mapping. A mapping of the configuration cannot change. The node " +
				"stores the network in its canonical form.",
			Header: conditionsOf(true), Body: mapping, Required: []string{"cidr"}, Status: 200, Answer: placed,
			Also: map[int]any{201: placed}, Errors: changeErrors},
		{Method: patch, Path: v1 + "/geo/mappings", Changes: KindMapping, handle: decoded((*Server).putGeoMapping),
			Summary: "Change the mapping of a network", Description: "An omitted field does not change.",
			Header: conditionsOf(false), Body: mapping, Required: []string{"cidr"}, Status: 200, Answer: placed,
			Errors: append([]int{http.StatusNotFound}, changeErrors...)},
		{Method: del, Path: v1 + "/geo/mappings/{cidr}", Changes: KindMapping,
			handle: (*Server).deleteGeoMapping, Summary: "Delete a mapping",
			Description: "Requires a mapping that the API has created. The slash can be escaped.",
			Header:      conditionsOf(false), Status: 204, Errors: changeErrors},
		{Method: get, Path: v1 + "/geo/test", handle: (*Server).getGeoTest, Summary: "Locate a client",
			Query: []Parameter{needed(text("ip", "the address of the client", "198.51.100.7"))}, Status: 200,
			Answer: api.GeoTest{IP: "198.51.100.7", Region: "eu-west", MatchType: "custom_mapping",
				MatchedCIDR: "198.51.100.0/24", Comment: "the office", ScopePrefix: 24}},
	}
}
