package api

import (
	"context"
	"net/url"
	"slices"
	"time"
)

// Event is something that happened on a node or that it saw.
type Event struct {
	// Sequence grows from event to event. Each start of the node begins at the next million, so that the number of an
	// event that a full disk has lost never stands for another.
	Sequence uint64        `json:"sequence"`
	Time     time.Time     `json:"time"`
	Kind     EventKind     `json:"kind"`
	State    string        `json:"state"` // what became of Subject, such as unhealthy: see docs/events.md
	Severity EventSeverity `json:"severity"`
	// Phase reports whether something begins that holds until another event of the same Kind and Subject ends it.
	Phase    Phase  `json:"phase"`
	Subject  string `json:"subject"`            // the backend, name, agent, node or file
	Name     string `json:"name"`               // the domain that it concerns; empty: all, or none
	Region   string `json:"region,omitempty"`   // of a backend, an agent or a region
	AgentID  string `json:"agent_id,omitempty"` // the agent that reports the backend; empty for other kinds
	Cause    string `json:"cause"`
	Sentence string `json:"sentence"`
	// Agent and Check are the two witnesses of a backend: what its agent says, and what this node's own checks found.
	// Empty for other kinds.
	Agent string `json:"agent"`
	Check string `json:"check"`
	// Changes is above 0 in an event that stands for so many changes, since there were too many to tell one by one.
	Changes int    `json:"changes"`
	Audit   uint64 `json:"audit"` // the entry of the audit log that it comes from; 0: none
}

// EventKind is the kind of an event.
type EventKind string

// EventSeverity is the severity of an event, in the terms of PagerDuty.
type EventSeverity string

// The severities, the least first. What ends something is info.
const (
	EventInfo     EventSeverity = "info"
	EventWarning  EventSeverity = "warning"
	EventError    EventSeverity = "error"
	EventCritical EventSeverity = "critical"
)

// EventSeverities lists the severities, the least first.
func EventSeverities() []string {
	return []string{string(EventInfo), string(EventWarning), string(EventError), string(EventCritical)}
}

// Rank returns the place of a severity among EventSeverities; -1 for a word that is none of them.
func (s EventSeverity) Rank() int { return slices.Index(EventSeverities(), string(s)) }

// Phase is the relation of an event to a state: it begins one, ends one, or neither.
type Phase string

// The phases.
const (
	PhaseBegins Phase = "begins"
	PhaseEnds   Phase = "ends"
	PhaseOnce   Phase = "once" // neither: it does not last
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
	// Total is the number of events of the journal that the filters select, of which Events may be a part.
	Total       int       `json:"total"`
	Oldest      uint64    `json:"oldest"` // sequence of the oldest event that is kept; 0: none is
	Newest      uint64    `json:"newest"`
	Missed      bool      `json:"missed"` // events after the one that was asked for are no longer kept
	GeneratedAt time.Time `json:"generated_at"`
}

// EventsMissed is the data of the message "missed" in a stream of events.
type EventsMissed struct {
	After  uint64 `json:"after"`  // the last event that the reader has
	Oldest uint64 `json:"oldest"` // what follows begins here; what lies between is no longer kept
}

// Events lists the events that the query selects: the latest, or those that follow its after.
func (c *Client) Events(ctx context.Context, query url.Values) (EventList, error) {
	return get[EventList](ctx, c, "/api/v1/events", query)
}
