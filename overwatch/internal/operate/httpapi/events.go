package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/api"
)

func eventOperations() []Operation {
	event := api.Event{Sequence: 1_000_042, Time: at(), Kind: api.EventBackend, State: "unhealthy",
		Severity: api.EventWarning, Phase: api.PhaseBegins,
		Subject: exampleServer, Name: "app.example.com",
		Cause: "the agent reports unhealthy", Agent: "unhealthy: connection refused",
		Check:    "unhealthy: connection refused",
		Sentence: exampleServer + " in eu is unhealthy: the agent reports unhealthy"}
	after := number("after", "only what follows the event of this sequence", 0, maxChange, 0)
	after.otherwise = ""
	return []Operation{
		{Method: get, Path: v1 + "/events", handle: (*Server).getEvents, Summary: "What happened, as a list or as a " +
			"stream",
			Description: "With Accept: text/event-stream, server-sent events that go on until the client ends them: " +
				"the id " +
				"of a message is the sequence of its event, its data the event as JSON. A stream begins behind " +
				"Last-Event-ID " +
				"or after, at since, or else with what comes. A message of the type missed tells a reader of what " +
				"it has not " +
				"read and is no longer kept. Without that header, a list: the newest events, or with after those " +
				"that follow. " +
				"Streams have a quarter of api.max_connections; 503 for the next.",
			Query: []Parameter{
				list("kinds", "these, with commas, of "+listed(api.EventKindNames()), api.EventKindNames(),
					"backend,name"),
				text("names", "that concern these domains, with commas", "app.example.com"),
				word("severity", "of this severity or a worse one", api.EventSeverities()),
				moment("since", "not before"), moment("until", "not after"), after,
				number("limit", "how many events of a list at most", 1, api.MaxPageLimit, api.DefaultPageLimit)},
			Header: []Parameter{text("Last-Event-ID", "the sequence of the last event that the client has", "1000042")},
			Status: 200, Files: []string{eventStream},
			Answer: api.EventList{Events: []api.Event{event}, Total: 1, Oldest: 1, Newest: 1_000_042,
				GeneratedAt: at()},
			Errors: []int{noStream}},
	}
}

// noStream is the status where no more streams may be open.
const noStream = 503

const (
	// heartbeatEvery is the time between two signs of life in a stream without events.
	heartbeatEvery = 15 * time.Second
	// readerPatience bounds the time for which a reader may take nothing that is sent.
	readerPatience = 30 * time.Second
	// eventStream is the media type of server-sent events (HTML, section 9.2).
	eventStream = "text/event-stream"
)

// eventQuery selects events.
type eventQuery struct {
	kinds, names []string          // empty: all
	since, until time.Time         // zero: unbounded
	least        api.EventSeverity // empty: all
	limit        int
	after        uint64
	resumes      bool // after is given
}

func (q *eventQuery) wants(e *api.Event) bool {
	return (len(q.kinds) == 0 || slices.Contains(q.kinds, string(e.Kind))) &&
		(len(q.names) == 0 || slices.Contains(q.names, e.Name)) && !e.Time.Before(q.since) &&
		(q.until.IsZero() || !e.Time.After(q.until)) &&
		e.Severity.Rank() >= q.least.Rank()
}

// eventQuery reads the query, and Last-Event-ID, which counts before the parameter after.
func (c *call) eventQuery() (q eventQuery, err error) {
	q = eventQuery{kinds: c.query.list("kinds"), since: c.query.moment("since"),
		until: c.query.moment("until"), limit: c.query.number("limit"),
		least: api.EventSeverity(c.query["severity"])}
	for _, name := range c.query.list("names") {
		q.names = append(q.names, strings.TrimSuffix(strings.ToLower(name), "."))
	}
	after := c.query["after"]
	if id := c.GetHeader("Last-Event-ID"); id != "" {
		after = id
	}
	if after == "" {
		return q, nil
	}
	q.resumes = true
	if q.after, err = strconv.ParseUint(after, 10, 64); err != nil {
		return q, badRequest("Last-Event-ID is %.64q: it must be the sequence of an event", after)
	}
	return q, nil
}

// getEvents answers GET /events: as a stream where Accept says so, else as a list.
func (s *Server) getEvents(c *call) (answer, error) {
	q, err := c.eventQuery()
	if err != nil {
		return answer{}, err
	}
	if c.Request.Method == http.MethodGet && strings.Contains(c.GetHeader("Accept"), eventStream) {
		return answer{}, s.streamEvents(c, q)
	}
	kept, missed := s.o.Events.After(q.after)
	list := api.EventList{Events: []api.Event{}, Newest: s.o.Events.Newest(), Missed: missed && q.resumes,
		GeneratedAt: stamp(s.o.Now())}
	if all, _ := s.o.Events.After(0); len(all) > 0 {
		list.Oldest = all[0].Sequence
	}
	for i := range kept {
		if q.wants(&kept[i]) {
			list.Events = append(list.Events, kept[i])
		}
	}
	list.Total = len(list.Events)
	if limit := q.limit; limit > 0 && list.Total > limit {
		if q.resumes { // the next ones
			list.Events = list.Events[:limit]
		} else { // the newest
			list.Events = list.Events[list.Total-limit:]
		}
	}
	return ok(list), nil
}

// streamEvents sends events as they come, until the client goes, its token is taken away, or the node stops. It begins
// behind the last event that the client has, or with the events since a time, or with the next event.
func (s *Server) streamEvents(c *call, q eventQuery) error {
	if s.streams.Add(1) > s.maxStreams() {
		s.streams.Add(-1)
		c.Header("Retry-After", "5")
		return problemf(http.StatusServiceUnavailable, "%d streams of events are open, a quarter of "+
			"api.max_connections: "+
			"close one, or ask for the list", s.maxStreams())
	}
	defer s.streams.Add(-1)
	c.Header("Content-Type", eventStream)
	c.Header("X-Accel-Buffering", "no") // a proxy must not collect them
	c.Status(http.StatusOK)
	out := &eventWriter{c: c, q: &q, control: http.NewResponseController(c.Writer)}
	_ = out.control.SetReadDeadline(time.Time{}) // the request has been read; its connection stays
	if !q.resumes && q.since.IsZero() {
		q.after = s.o.Events.Newest()
	}
	heartbeat := time.NewTicker(heartbeatEvery)
	defer heartbeat.Stop()
	if !out.send("retry: 1000\n: events of " + s.o.NodeID + "\n\n") {
		return nil
	}
	for {
		changed := s.o.Events.Changed()
		if !s.stillAdmitted(c) || !out.follow(s.o.Events) {
			return nil
		}
		select {
		case <-c.Request.Context().Done():
			return nil
		case <-s.stopping:
			return nil
		case <-changed:
		case <-heartbeat.C:
			if !out.send(": heartbeat\n\n") {
				return nil
			}
		}
	}
}

// maxStreams returns how many streams may be open at a time.
func (s *Server) maxStreams() int64 { return int64(max(s.o.API.MaxConnections/4, 1)) }
