package api

import (
	"context"
	"net/url"
	"slices"
	"time"
)

// Event is an event of a node.
type Event struct {
	// Sequence grows with each event. Each start of the node continues at the next multiple of a million, so that a number
	// is never reused, even if a full disk has lost events.
	Sequence uint64        `json:"sequence"`
	Time     time.Time     `json:"time"`
	Kind     EventKind     `json:"kind"`
	State    string        `json:"state"` // the new state of Subject, such as unhealthy: see docs/events.md
	Severity EventSeverity `json:"severity"`
	// Phase reports whether the event begins a state, which another event of the same Kind and Subject ends.
	Phase    Phase  `json:"phase"`
	Subject  string `json:"subject"`            // the backend, name, agent, node or file
	Name     string `json:"name"`               // the affected domain; empty: all, or none
	Region   string `json:"region,omitempty"`   // of a backend, an agent or a region
	AgentID  string `json:"agent_id,omitempty"` // the agent that reports the backend; empty for other kinds
	Cause    string `json:"cause"`
	Sentence string `json:"sentence"`
	// Agent and Check are for a backend: the report of its agent, and the result of this node's own check. Empty for other
	// kinds.
	Agent string `json:"agent"`
	Check string `json:"check"`
	// Changes is the number of changes that the event summarizes if there were many; else 0.
	Changes int    `json:"changes"`
	Audit   uint64 `json:"audit"` // the entry of the audit log about the change; 0: none
}

// EventKind is the kind of an event.
type EventKind string

// EventSeverity is the severity of an event, in the terms of PagerDuty.
type EventSeverity string

// The severities in ascending order. An event that ends a state is info.
const (
	EventInfo     EventSeverity = "info"
	EventWarning  EventSeverity = "warning"
	EventError    EventSeverity = "error"
	EventCritical EventSeverity = "critical"
)

// EventSeverities lists the severities in ascending order.
func EventSeverities() []string {
	return []string{string(EventInfo), string(EventWarning), string(EventError), string(EventCritical)}
}

// Rank returns the index of a severity in EventSeverities, or -1 if it is unknown.
func (s EventSeverity) Rank() int { return slices.Index(EventSeverities(), string(s)) }

// Phase is the relation of an event to a state: it begins one, ends one, or neither.
type Phase string

// The phases.
const (
	PhaseBegins Phase = "begins"
	PhaseEnds   Phase = "ends"
	PhaseOnce   Phase = "once" // neither: it has no duration
)

// The kinds.
const (
	EventBackend      EventKind = "backend"
	EventName         EventKind = "name"
	EventAgent        EventKind = "agent"
	EventRefused      EventKind = "refused"
	EventNode         EventKind = "node"
	EventOverride     EventKind = "override"
	EventWeight       EventKind = "weight"
	EventDrain        EventKind = "drain"
	EventBrake        EventKind = "brake"
	EventSuspension   EventKind = "suspension"
	EventReload       EventKind = "reload"
	EventChange       EventKind = "change"
	EventKey          EventKind = "key"
	EventSigning      EventKind = "signing"
	EventReplication  EventKind = "replication"
	EventStore        EventKind = "store"
	EventCertificate  EventKind = "certificate"
	EventToken        EventKind = "token"
	EventRegion       EventKind = "region"
	EventShare        EventKind = "share"
	EventService      EventKind = "service"
	EventNotification EventKind = "notification"
	EventGeo          EventKind = "geo"
)

// EventKindNames lists the kinds.
func EventKindNames() []string {
	kinds := []EventKind{EventBackend, EventName, EventAgent, EventRefused, EventNode, EventOverride, EventWeight,
		EventDrain, EventBrake, EventSuspension, EventReload, EventChange, EventKey, EventSigning, EventReplication,
		EventStore, EventCertificate, EventToken, EventRegion, EventService, EventNotification, EventGeo,
		EventShare}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return names
}

// EventList is the answer of GET /api/v1/events as JSON.
type EventList struct {
	Events []Event `json:"events"` // the oldest first
	// Total is the number of events of the journal that the filters select. Events may have a part of them.
	Total       int       `json:"total"`
	Oldest      uint64    `json:"oldest"` // sequence of the oldest stored event; 0: none
	Newest      uint64    `json:"newest"`
	Missed      bool      `json:"missed"` // the journal no longer has some events after the requested sequence
	GeneratedAt time.Time `json:"generated_at"`
}

// EventsMissed is the data of the message "missed" in a stream of events.
type EventsMissed struct {
	After  uint64 `json:"after"`  // the last event that the reader has
	Oldest uint64 `json:"oldest"` // the stream continues here; the journal no longer has the events between
}

// Events lists the events that the query selects: the latest, or the events after the sequence "after".
func (c *Client) Events(ctx context.Context, query url.Values) (EventList, error) {
	return get[EventList](ctx, c, "/api/v1/events", query)
}
