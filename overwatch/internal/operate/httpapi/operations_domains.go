package httpapi

import (
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func domainOperations() []Operation {
	domain := v1 + "/domains/{name}"
	example := model.New[model.Domain]()
	example.Name, example.TTL, example.RoutingAlgorithm, example.Regions = "app.example.com", 30, "weighted",
		[]string{"eu-west"}
	example.Description, example.Tags, example.CreatedAt, example.UpdatedAt = "the shop", []string{"shop"}, at(), at()
	one := api.Domain{ID: "app.example.com", Domain: *example, RoutingPolicy: "weighted", DNSSECEnabled: true,
		HealthCheckID: exampleServer, BackendCount: 4, HealthyBackends: 3, Source: api.FromAPI}
	full := one
	full.Settings = &api.DomainSettings{FailoverThreshold: 1, LoadBalancingMethod: "weighted"}
	change := api.DomainChange{"ttl": 60, "enabled": true}
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/domains", handle: (*Server).listDomains, Summary: "The names that are steered",
			Query: paged(text("tag", "only those that have this tag", "shop")), Status: 200,
			Answer: api.DomainList{Domains: []api.Domain{one}, Total: 1, GeneratedAt: at()}},
		{Method: post, Path: v1 + "/domains", Changes: KindDomain,
			handle: decoded((*Server).postDomain), Summary: "Have a name answered",
			Body: api.DomainChange{"name": "app.example.com", "ttl": 30, "routing_algorithm": "weighted",
				"regions": []string{"eu-west"}},
			Status: 201, Answer: api.DomainDetail{Domain: full}, Errors: []int{conflict, noStore}},
		{Method: get, Path: domain, handle: (*Server).getDomain, Summary: "One domain", Status: 200,
			Answer: api.DomainDetail{Domain: full}},
		{Method: put, Path: domain, Changes: KindDomain,
			handle: decoded((*Server).putDomain), Header: conditionsOf(false),
			Summary:     "Change a domain",
			Description: "What is left out stays. Over one of the configuration it is laid, see DELETE of its overlay.",
			Body:        change, Status: 200, Answer: api.DomainDetail{Domain: full}, Errors: changeErrors},
		{Method: patch, Path: domain, Changes: KindDomain,
			handle: decoded((*Server).putDomain), Header: conditionsOf(false),
			Summary:     "Change a domain",
			Description: "The same as PUT.",
			Body:        change, Status: 200, Answer: api.DomainDetail{Domain: full}, Errors: changeErrors},
		overlayOperation(domain, definitions.OverDomain, "name"),
		{Method: del, Path: domain, Changes: KindDomain, handle: (*Server).deleteDomain, Header: conditionsOf(false),
			Summary: "Answer a name no more", Description: "Only one that the API has created. Its backends stay known.",
			Status: 204, Errors: changeErrors},
		{Method: get, Path: domain + "/backends", handle: (*Server).listDomainBackends, Summary: "The backends of a domain",
			Query: paged(), Status: 200,
			Answer: api.DomainBackendList{Backends: []api.DomainBackend{{
				ID: exampleServer, Address: "192.0.2.1", Port: 80, Weight: 100, Priority: 1, Region: "eu-west", Healthy: true,
				Enabled: true, LastCheck: new(at()),
			}}, Total: 1, GeneratedAt: at()}},
		{Method: post, Path: domain + "/backends", Changes: KindServer, handle: decoded((*Server).postDomainBackend),
			Summary:     "Add a backend to a domain",
			Description: "400 if the domain is unknown or the backend exists.",
			Body:        api.DomainBackendCreate{Address: "192.0.2.1", Port: 80, Weight: new(1)},
			Required:    []string{"address", "port"}, Status: 201,
			Answer: api.Named{Message: "server created", ID: exampleServer},
			Errors: []int{noStore}},
		{Method: del, Path: domain + "/backends/{id}", Changes: KindServer,
			handle: (*Server).deleteDomainBackend, Header: conditionsOf(false),
			Summary: "Take a backend out of a domain", Description: "Only one that the API has created.", Status: 204,
			Query: safe, Errors: []int{conflict, noStore}},
	}
}
