package events // inside: it uses maxFlapEvents, maxFloodEvents and tracker

// These tests are inside the package: they call the tracker as Run does, without data sources.

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// clocked is a tracker with a test clock.
type clocked struct {
	*tracker
	at time.Time
}

func newClocked(t *testing.T) *clocked {
	c := &clocked{at: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return c.at }
	c.tracker = newTracker(journal.Open(journal.Options{Path: filepath.Join(t.TempDir(), "e"), Logger: zerolog.Nop(),
		Now: now}), now)
	return c
}

func (c *clocked) said() (list []string) {
	events, _ := c.journal.After(0)
	for _, e := range events {
		list = append(list, fmt.Sprintf("%s %s %s %s %d", e.Kind, e.Subject, e.State, e.Phase, e.Changes))
	}
	return list
}

func backend(i int, state string) api.Event {
	return api.Event{Kind: api.EventBackend, Subject: fmt.Sprintf("b%d", i), State: state, Severity: api.EventWarning}
}

func TestTracker_TellsEachChangeOnce(t *testing.T) {
	c := newClocked(t)
	for _, state := range []string{"healthy", "unhealthy", "unhealthy", "stale", "healthy", "healthy"} {
		c.setState(backend(1, state), state != "healthy")
	}
	want := "[backend b1 unhealthy begins 0 backend b1 stale begins 0 backend b1 healthy ends 0]"
	if got := fmt.Sprint(c.said()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if events, _ := c.journal.After(0); events[2].Severity != api.EventInfo {
		t.Errorf("the end is %s", events[2].Severity)
	}
}

// A flapping backend has four events and a final event with the number of folded events and the state.
func TestTracker_FoldsWhatFlaps(t *testing.T) {
	c := newClocked(t)
	for i := range 15 {
		c.setState(backend(1, []string{"unhealthy", "healthy"}[i%2]), i%2 == 0)
		c.at = c.at.Add(3 * time.Second)
	}
	if got := c.said(); len(got) != maxFlapEvents || c.folded != 11 {
		t.Errorf("%d folded, %v", c.folded, got)
	}
	c.at = c.at.Add(flapWindow)
	c.addFolded()
	c.addFolded()
	got := c.said()
	if len(got) != maxFlapEvents+1 || got[maxFlapEvents] != "backend b1 unhealthy begins 11" {
		t.Errorf("%v", got)
	}
	if !c.journal.IsActive(api.EventBackend, "b1") {
		t.Error("it is unhealthy, and the journal does not say so")
	}
}

// The death of a site has a bounded number of events, and the end of each reported event is also reported. An event
// without an end, such as a flap, does not replace the folded start of a state.
func TestTracker_KeepsTheBeginOfAFoldedState(t *testing.T) {
	c := newClocked(t)
	for _, state := range []string{"unhealthy", "healthy", "unhealthy", "healthy", "unhealthy"} {
		c.setState(backend(1, state), state != "healthy")
	}
	c.addEvent(backend(1, "started"))
	c.addEvent(backend(1, "stopped"))
	c.at = c.at.Add(flapWindow)
	c.addFolded()
	if got := c.said(); got[len(got)-1] != "backend b1 unhealthy begins 3" {
		t.Errorf("%q", got)
	}
}

// The first start of a state, and its end, have events even if the subject exceeds its number of events. Each event
// includes the previous folded events.
func TestTracker_FoldsNoFirstBeginOfAState(t *testing.T) {
	c := newClocked(t)
	for _, state := range []string{"unhealthy", "healthy", "unhealthy", "healthy", "unhealthy", "flapping"} {
		c.setState(backend(1, state), state != "healthy")
	}
	c.addEvent(backend(1, "stopped"))
	for _, state := range []string{"healthy", "unhealthy", "flapping"} {
		c.setState(backend(1, state), state != "healthy")
	}
	want := []string{"backend b1 unhealthy begins 0", "backend b1 healthy ends 0", "backend b1 unhealthy begins 0",
		"backend b1 healthy ends 0", "backend b1 flapping begins 1", "backend b1 healthy ends 1"}
	if got := c.said(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	c.at = c.at.Add(flapWindow)
	c.addFolded()
	if got := c.said(); len(got) != 7 || got[6] != "backend b1 flapping begins 2" {
		t.Errorf("%q", got)
	}
}

func TestTracker_BoundsAFlood(t *testing.T) {
	c := newClocked(t)
	const many = 3 * maxFloodEvents
	for i := range many {
		c.setState(backend(i, "unhealthy"), true)
	}
	c.at = c.at.Add(floodWindow)
	c.addFolded()
	got := c.said()
	if len(got) != maxFloodEvents+1 || got[maxFloodEvents] != fmt.Sprintf("backend  more once %d", many-maxFloodEvents) {
		t.Errorf("%d events, the last is %s", len(got), got[len(got)-1])
	}
	for i := range many {
		c.setState(backend(many-1-i, "healthy"), false)
	}
	if standing := c.journal.ActiveStates(); len(standing) != 0 {
		t.Errorf("%d stand though all is well", len(standing))
	}
}

func TestOfEntry_TellsOnceWhatTheStateDoesNotSay(t *testing.T) {
	for _, tc := range []struct {
		entry api.AuditEntry
		want  string
	}{
		{api.AuditEntry{Action: api.AuditReload, Status: api.AuditSuccess}, "reload done info"},
		{api.AuditEntry{Action: api.AuditReload, Status: api.AuditFailure,
			Details: map[string]string{"error": errors.ErrUnsupported.Error()}}, "reload failed error"},
		{api.AuditEntry{Action: api.AuditCreate, Resource: "domain", Status: api.AuditSuccess}, "change create info"},
		{api.AuditEntry{Action: api.AuditCreate, Resource: "domain", Status: api.AuditFailure}, ""},
		{api.AuditEntry{Action: api.AuditApply, Resource: "document", Status: api.AuditSuccess}, "change apply info"},
		{api.AuditEntry{Action: api.AuditRefused, Resource: "agent", Status: api.AuditFailure}, "refused refused warning"},
		{api.AuditEntry{Action: api.AuditOverride, Status: api.AuditSuccess}, ""},
		{api.AuditEntry{Action: api.AuditDrain, Status: api.AuditSuccess}, ""},
		{api.AuditEntry{Action: api.AuditHold, Status: api.AuditSuccess}, ""},
		{api.AuditEntry{Action: api.AuditSync, Resource: "dnssec", Status: api.AuditSuccess}, ""},
	} {
		got := ""
		if e, told := eventOf(&tc.entry); told {
			got = fmt.Sprintf("%s %s %s", e.Kind, e.State, e.Severity)
		}
		if got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.entry.Action, tc.entry.Status, got, tc.want)
		}
	}
}

// Every condition has a separate event or an event of a name or backend, with a distinct sentence for its end.
func TestConditions_AreAllTold(t *testing.T) {
	own := map[api.ConditionKind]bool{api.NoNameAnswered: true, api.NameUnanswered: true, api.NameOnLastResort: true,
		api.BackendUnwell: true, api.Flapping: true}
	for _, c := range api.ConditionTypes() {
		if row, told := conditionTable()[c.Kind]; told == own[c.Kind] || told && (row.begin == "" || row.end == "") {
			t.Errorf("%s: told %v, %+v", c.Kind, told, row)
		}
	}
}
