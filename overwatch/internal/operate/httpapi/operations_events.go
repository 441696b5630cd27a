package httpapi

import (
	"gslb.internal/shared/api"
)

func eventOperations() []Operation {
	event := api.Event{Sequence: 1_000_042, Time: at(), Kind: api.EventBackend, State: "unhealthy",
		Severity: api.EventWarning, Phase: api.PhaseBegins,
		Subject: exampleServer, Name: "app.example.com",
		Cause: "its agent says unhealthy", Agent: "unhealthy: connection refused", Check: "unhealthy: connection refused",
		Sentence: exampleServer + " in eu is unhealthy: its agent says unhealthy"}
	after := number("after", "only what follows the event of this sequence", 0, maxChange, 0)
	after.otherwise = ""
	return []Operation{
		{Method: get, Path: v1 + "/events", handle: (*Server).getEvents, Summary: "What happened, as a list or as a stream",
			Description: "With Accept: text/event-stream, server-sent events that go on until the client ends them: the id " +
				"of a message is the sequence of its event, its data the event as JSON. A stream begins behind Last-Event-ID " +
				"or after, at since, or else with what comes. A message of the type missed tells a reader of what it has not " +
				"read and is no longer kept. Without that header, a list: the newest events, or with after those that follow. " +
				"Streams have a quarter of api.max_connections; 503 for the next.",
			Query: []Parameter{
				list("kinds", "these, with commas, of "+listed(api.EventKindNames()), api.EventKindNames(), "backend,name"),
				text("names", "that concern these domains, with commas", "app.example.com"),
				word("severity", "of this severity or a worse one", api.EventSeverities()),
				moment("since", "not before"), moment("until", "not after"), after,
				number("limit", "how many events of a list at most", 1, api.MaxPageLimit, api.DefaultPageLimit)},
			Header: []Parameter{text("Last-Event-ID", "the sequence of the last event that the client has", "1000042")},
			Status: 200, Files: []string{eventStream},
			Answer: api.EventList{Events: []api.Event{event}, Total: 1, Oldest: 1, Newest: 1_000_042, GeneratedAt: at()},
			Errors: []int{noStream}},
	}
}

// noStream is the status where no more streams may be open.
const noStream = 503
