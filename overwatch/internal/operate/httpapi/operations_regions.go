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
		CreatedAt: at(), UpdatedAt: at(), ServerCount: 4, HealthyServers: 3, Source: api.FromAPI}
	change := api.RegionChange{"name": "Western Europe", "code": "eu-west", "latitude": 50.11, "longitude": 8.68,
		"continents": []string{"EU"}, "countries": []string{"DE", "FR"}, "priority": 10}
	region := v1 + "/regions/{id}"
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/regions", handle: (*Server).listRegions, Summary: "Places with servers in them",
			Status: 200,
			Query: paged(flag("enabled", "only those that are, or are not"),
				word("continent", "only of this continent", model.ContinentCodes())),
			Answer: api.RegionList{Regions: []api.Region{one}, Total: 1, GeneratedAt: at()}},
		{Method: post, Path: v1 + "/regions", Changes: KindRegion,
			handle: decoded((*Server).postRegion), Summary: "Create a region",
			Description: "400 if it exists already. A name is needed: any short text. The id, which servers and domains " +
				"name, is the name if that has lower-case letters, digits, hyphens, underscores and dots alone, else the code, " +
				"else the name in that form.",
			Body: change, Status: 201, Answer: one, Errors: []int{noStore}},
		{Method: get, Path: region, handle: (*Server).getRegion, Summary: "One region", Status: 200, Answer: one},
		{Method: put, Path: region, Changes: KindRegion,
			handle: decoded((*Server).putRegion), Header: conditionsOf(false),
			Summary: "Set a region",
			Description: "What is left out takes its default. Over one of the configuration it is laid, see DELETE of its " +
				"overlay; what is left out is then the file's.",
			Query: safe, Body: change, Status: 200, Answer: one, Errors: unsafeChangeErrors},
		{Method: patch, Path: region, Changes: KindRegion,
			handle: decoded((*Server).putRegion), Header: conditionsOf(false),
			Summary:     "Change a region",
			Description: "What is left out stays. Over one of the configuration it is laid, as with PUT.", Query: safe,
			Body: change, Status: 200, Answer: one, Errors: unsafeChangeErrors},
		overlayOperation(region, definitions.OverRegion, "id"),
		{Method: del, Path: region, Changes: KindRegion,
			handle: (*Server).deleteRegion, Header: conditionsOf(false), Summary: "Delete a region",
			Description: "Only one that the API has created, and that no server, domain or mapping is in.",
			Status:      204, Errors: append([]int{conflict}, changeErrors...)},
	}
}
