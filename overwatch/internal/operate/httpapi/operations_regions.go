package httpapi

import (
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func regionOperations() []Operation {
	example := model.New[model.Region]()
	example.Code, example.Description = "eu-west", "Frankfurt and Paris"
	example.Latitude, example.Longitude = new(50.11), new(8.68)
	example.Continents, example.Countries, example.Priority = []string{"EU"}, []string{"DE", "FR"}, 10
	one := api.Region{ID: "eu-west", Name: "Western Europe", Region: *example, Continent: "EU",
		CreatedAt: exampleTime(), UpdatedAt: exampleTime(), ServerCount: 4, HealthyServers: 3, ServingServers: 3,
		Source: api.FromAPI}
	change := api.RegionChange{"name": "Western Europe", "code": "eu-west", "latitude": 50.11, "longitude": 8.68,
		"continents": []string{"EU"}, "countries": []string{"DE", "FR"}, "priority": 10}
	region := v1 + "/regions/{id}"
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/regions", handle: (*Server).listRegions, Summary: "List regions",
			Status: 200,
			Query: paged(flag("enabled", "list only enabled (true) or only disabled (false) regions"),
				word("continent", "list only regions with this continent", model.ContinentCodes())),
			Answer: api.RegionList{Regions: []api.Region{one}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: v1 + "/regions", Changes: KindRegion,
			handle: decoded((*Server).postRegion), Summary: "Create a region",
			Description: "Requires a name, which is any short text. The id is the name, if the name has only lower-case " +
				"letters, " +
				"digits, hyphens, underscores and dots; otherwise it is the code, or the name converted to this form. Servers " +
				"and domains refer to the id. The status is 400 if the region exists.",
			Body: change, Status: 201, Answer: one, Errors: []int{noStore}},
		{Method: get, Path: region, handle: (*Server).getRegion, Summary: "Get a region", Status: 200, Answer: one},
		{Method: put, Path: region, Changes: KindRegion,
			handle: decoded((*Server).putRegion), Header: conditionsOf(false),
			Summary: "Set a region",
			Description: "An omitted field takes its default. For a region of the configuration, the values become an " +
				"overlay, and an omitted field takes the value of the file.",
			Query: safe, Body: change, Status: 200, Answer: one, Errors: unsafeChangeErrors},
		{Method: patch, Path: region, Changes: KindRegion,
			handle: decoded((*Server).putRegion), Header: conditionsOf(false),
			Summary: "Change a region",
			Description: "An omitted field does not change. For a region of the configuration, the values become an " +
				"overlay.", Query: safe,
			Body: change, Status: 200, Answer: one, Errors: unsafeChangeErrors},
		overlayOperation(region, definitions.OverRegion, "id"),
		{Method: del, Path: region, Changes: KindRegion,
			handle: (*Server).deleteRegion, Header: conditionsOf(false), Summary: "Delete a region",
			Description: "Requires a region that the API has created, without servers, domains and mappings.",
			Status:      204, Errors: append([]int{conflict}, changeErrors...)},
	}
}
