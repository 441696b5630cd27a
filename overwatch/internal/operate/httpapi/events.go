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
	event := api.Event{Sequence: 1_000_042, Time: exampleTime(), Kind: api.EventBackend, State: "unhealthy",
		Severity: api.EventWarning, Phase: api.PhaseBegins,
		Subject: exampleServer, Name: "app.example.com",
		Cause: "the agent reports unhealthy", Agent: "unhealthy: connection refused",
		Check:    "unhealthy: connection refused",
		Sentence: exampleServer + " in eu is unhealthy: the agent reports unhealthy"}
	after := number("after", "list only events after the event with this sequence number", 0, maxChange, 0)
	after.otherwise = ""
	return []Operation{
		{Method: get, Path: v1 + "/events", handle: (*Server).getEvents, Summary: "List or stream events",
			Description: "With Accept: text/event-stream, the node sends server-sent events until the client disconnects. The " +
				"id of a message is the sequence of its event, its data the event as JSON. A stream begins after " +
				"Last-Event-ID or after, at since, or with the next event. A message of the type missed reports " +
				"that unread events have been deleted. Without the header, the answer is a list of the last " +
				"events, or of the first events after after. The node accepts api.max_connections / 4 streams, and " +
				"answers further ones with 503.",
			Query: []Parameter{
				list("kinds", "comma-separated list of "+listed(api.EventKindNames()), api.EventKindNames(),
					"backend,name"),
				text("names", "comma-separated list of domains", "app.example.com"),
				word("severity", "of this or a higher severity", api.EventSeverities()),
				moment("since", "not before"), moment("until", "not after"), after,
				number("limit", "maximum number of events in a list", 1, api.MaxPageLimit, api.DefaultPageLimit)},
			Header: []Parameter{text("Last-Event-ID", "the sequence of the last event that the client has", "1000042")},
			Status: 200, Files: []string{eventStream},
			Answer: api.EventList{Events: []api.Event{event}, Total: 1, Oldest: 1, Newest: 1_000_042,
				GeneratedAt: exampleTime()},
			Errors: []int{noStream}},
	}
}

// noStream is the status of a rejected stream.
const noStream = 503

const (
	// heartbeatEvery is the time between two heartbeats in a stream without events.
	heartbeatEvery = 15 * time.Second
	// readerPatience is the timeout of a write to a slow reader.
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

// eventQuery parses the query, and Last-Event-ID, which has precedence over the parameter after.
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

// getEvents answers GET /events with a stream or a list, depending on Accept.
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
		if q.wants(&kept[i]) && s.seesEvent(c, &kept[i]) {
			list.Events = append(list.Events, kept[i])
		}
	}
	list.Total = len(list.Events)
	if limit := q.limit; limit > 0 && list.Total > limit {
		if q.resumes { // the next ones
			list.Events = list.Events[:limit]
		} else { // the last ones
			list.Events = list.Events[list.Total-limit:]
		}
	}
	return ok(list), nil
}

// streamEvents sends new events until the client disconnects, its token is revoked, or the node stops. It starts after
// the last event that the client has received, at a time, or with the next event.
func (s *Server) streamEvents(c *call, q eventQuery) error {
	if s.streams.Add(1) > s.maxStreams() {
		s.streams.Add(-1)
		c.Header("Retry-After", "5")
		return problemf(http.StatusServiceUnavailable, "%d streams of events are open, a quarter of "+
			"api.max_connections: close a stream, or request the list", s.maxStreams())
	}
	defer s.streams.Add(-1)
	c.Header("Content-Type", eventStream)
	c.Header("X-Accel-Buffering", "no") // disables buffering in nginx
	c.Status(http.StatusOK)
	sees := func(e *api.Event) bool { return s.seesEvent(c, e) }
	out := &eventWriter{c: c, isValid: func() bool { return s.stillAdmitted(c) }, q: &q, sees: sees,
		control: http.NewResponseController(c.Writer)}
	_ = out.control.SetReadDeadline(time.Time{}) // the request has been read; the connection stays open
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
		if !out.follow(s.o.Events) {
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

// maxStreams returns the maximum number of open streams.
func (s *Server) maxStreams() int64 { return int64(max(s.o.API.MaxConnections/4, 1)) }
