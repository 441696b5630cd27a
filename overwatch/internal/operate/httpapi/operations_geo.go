package httpapi

import (
	"net/http"

	"gslb.internal/shared/api"
)

func geoOperations() []Operation {
	placed := api.GeoMapping{CIDR: "198.51.100.0/24", Region: "eu-west", Comment: "the office", Source: api.GeoFromAPI}
	mapping := api.GeoMappingChange{CIDR: "198.51.100.0/24", Region: new("eu-west"), Comment: new("the office")}
	return []Operation{
		{Method: get, Path: v1 + "/geo/mappings", handle: (*Server).listGeoMappings,
			Summary: "Networks that are placed by hand", Query: paged(), Status: 200,
			Answer: api.GeoMappingList{Mappings: []api.GeoMapping{
				{CIDR: "198.51.100.0/24", Region: "eu-west", Comment: "the office", Source: api.GeoFromConfig}}, Total: 1,
				GeneratedAt: at()}},
		{Method: put, Path: v1 + "/geo/mappings", Changes: KindMapping, handle: decoded((*Server).putGeoMapping),
			Summary: "Place a network by hand",
			Description: "201 when it is new. Only a mapping that the API has created can be changed; the network is brought " +
				"into its one form.",
			Header: conditionsOf(true), Body: mapping, Required: []string{"cidr"}, Status: 200, Answer: placed,
			Also: map[int]any{201: placed}, Errors: changeErrors},
		{Method: patch, Path: v1 + "/geo/mappings", Changes: KindMapping, handle: decoded((*Server).putGeoMapping),
			Summary: "Change how a network is placed", Description: "What is left out stays.",
			Header: conditionsOf(false), Body: mapping, Required: []string{"cidr"}, Status: 200, Answer: placed,
			Errors: append([]int{http.StatusNotFound}, changeErrors...)},
		{Method: del, Path: v1 + "/geo/mappings/{cidr}", Changes: KindMapping,
			handle: (*Server).deleteGeoMapping, Summary: "Delete a mapping",
			Description: "Only one that the API has created. The slash may be escaped or not.",
			Header:      conditionsOf(false), Status: 204, Errors: changeErrors},
		{Method: get, Path: v1 + "/geo/test", handle: (*Server).getGeoTest, Summary: "In which region a client is, and why",
			Query: []Parameter{needed(text("ip", "the address of the client", "198.51.100.7"))}, Status: 200,
			Answer: api.GeoTest{IP: "198.51.100.7", Region: "eu-west", MatchType: "custom_mapping",
				MatchedCIDR: "198.51.100.0/24", Comment: "the office", ScopePrefix: 24}},
	}
}
