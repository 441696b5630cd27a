package httpapi

import (
	"gslb.internal/shared/api"
)

func documentOperations() []Operation {
	document := api.Document{
		Domains: []api.DocumentDomain{{"owner": "shop", "name": "app.example.com", "ttl": 30,
			"routing_algorithm": "weighted", "regions": []string{"eu-west"}}},
		Servers: []api.DocumentServer{{Owner: "shop", ServerCreate: api.ServerCreate{Service: "app.example.com",
			Address: "192.0.2.1", Port: 80, Weight: new(100), Region: "eu-west"}}},
	}
	request := api.ApplyRequest{Document: document, Owner: "shop", Prune: true}
	plan := api.Plan{
		Changes: []api.PlanChange{{Action: api.PlanUpdate, Kind: "domain", ID: "app.example.com", Owner: "shop",
			Fields: []api.PlanField{{Name: "ttl", Before: "60", After: "30"}}}},
		Unchanged: 1, Force: []string{}, GeneratedAt: at(),
		Answers: api.PlanAnswers{Counted: 400, Total: 12_345, ElsewherePercent: 0,
			Moves: []api.PlanMove{}, Names: []api.PlanName{}, Losses: []api.Consequence{}, Unused: []string{}},
	}
	done := plan
	done.Applied = true
	return []Operation{
		{Method: get, Path: v1 + "/document", handle: (*Server).getDocument, Query: none,
			Summary: "What the API holds, in one document",
			Description: "Regions, domains, servers, mappings and announced agents that were created here, with their " +
				"owners, and the settings of dns and health-check that differ from the configuration file, which have none. " +
				"What the configuration file declares is not among them, and no secret.",
			Status: 200, Answer: document},
		{Method: post, Path: v1 + "/document/plan", handle: documentTurn(decoded((*Server).postPlan)), Role: api.RoleOperate,
			Summary: "What a document changes",
			Description: "Object by object, and what becomes of answers, by the code that decides them and weighted with the " +
				"answers of the last hour. Nothing changes. " + documentLimits,
			Body: request, Required: []string{"document"}, MaxBody: api.MaxDocument, Status: 200, Answer: plan,
			Errors: []int{conflict, tooMany, noStore}},
		{Method: post, Path: v1 + "/document/apply", Changes: KindSeveral,
			handle:  documentTurn(decoded((*Server).postApply)),
			Summary: "Make what the API holds what a document says",
			Description: "All of it or nothing, in one publication. Objects that the document does not have stay, unless " +
				"prune deletes those of the owner. 409 without force if a name would be left with too few backends, or " +
				"if more than 30 percent of what the owner has would change. " + documentLimits,
			Body: request, Required: []string{"document"}, MaxBody: api.MaxDocument, Status: 200, Answer: done,
			Errors: []int{conflict, tooMany, noStore}},
	}
}

// documentLimits describes the bounds that the operations on whole documents share.
const documentLimits = "A node works on two documents at a time; others wait up to five seconds, then get 429 with " +
	"Retry-After. A list with more objects than a node can hold gets 413. An answer reports at most 1 000 problems. " +
	"When the client leaves, the work ends."
