package httpapi

import (
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func regionOperations() []Operation {
	one := api.Region{
		ID: "eu-west", Name: "Western Europe", Code: "eu-west", Description: "Frankfurt and Paris", Latitude: new(50.11),
		Longitude: new(8.68), Continent: "EU",
		Countries: []string{"DE", "FR"}, Enabled: true, Priority: 10, ServerCount: 4, HealthyServers: 3, Source: api.FromAPI,
	}
	change := api.RegionChange{
		Name: new("Western Europe"), Code: new("eu-west"), Latitude: new(50.11), Longitude: new(8.68), Continent: new("EU"),
		Countries: &[]string{"DE", "FR"}, Priority: new(10),
	}
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
