package events

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// condition describes the event that a condition of package ready makes.
type condition struct {
	kind     api.EventKind
	severity api.EventSeverity
	begun    string // the state while it holds
	over     string // the state when it ends
	early    bool   // it is told from the start of the process on; others when agents and nodes had time to report
}

// orderBegun stands in the table for the state of an order, which has one of its own.
const orderBegun = "ordered"

// conditionTable returns the conditions that are events. Names and backends have other events.
func conditionTable() map[api.ConditionKind]condition {
	const info, warning, bad, critical = api.EventInfo, api.EventWarning, api.EventError, api.EventCritical
	return map[api.ConditionKind]condition{
		api.DNSSilent:         {api.EventService, critical, "dns_silent", "dns_answers", false},
		api.ChecksIncomplete:  {api.EventService, warning, "checks_incomplete", "checks_complete", false},
		api.SigningKeysLost:   {api.EventSigning, critical, "keys_lost", "keys_published", false},
		api.SigningKeysApart:  {api.EventSigning, bad, "keys_apart", "keys_joined", false},
		api.SigningFails:      {api.EventSigning, critical, "failing", "working", false},
		api.SignaturesEnd:     {api.EventSigning, critical, "signatures_end", "signatures_made", false},
		api.SigningMismatch:   {api.EventSigning, critical, "mismatch", "matching", false},
		api.StoreFails:        {api.EventStore, bad, "failing", "working", true},
		api.AgentsHeld:        {api.EventBrake, bad, "begun", "ended", true},
		api.VerdictsSetAside:  {api.EventSuspension, bad, "begun", "ended", true},
		api.OverrideInForce:   {api.EventOverride, info, orderBegun, "ended", true},
		api.WeightInForce:     {api.EventWeight, info, orderBegun, "ended", true},
		api.DrainInForce:      {api.EventDrain, info, orderBegun, "ended", true},
		api.RegionLost:        {api.EventRegion, bad, conditions.StateLost, "back", false},
		api.AgentLost:         {api.EventAgent, warning, conditions.StateSilent, "back", false},
		api.DegradedShare:     {api.EventShare, warning, "reduced", "full", false},
		api.RegionEmpty:       {api.EventRegion, warning, "empty", "filled", false},
		api.RegionUnknown:     {api.EventRegion, warning, "unknown", "known", false},
		api.AgentDuplicate:    {api.EventAgent, bad, "duplicate", "unique", false},
		api.AgentRefused:      {api.EventAgent, warning, "refused", "accepted", false},
		api.NodeRejected:      {api.EventNode, bad, "rejected", "accepted", false},
		api.BackendRefused:    {api.EventAgent, warning, "backend_refused", "backend_accepted", false},
		api.AgentSilent:       {api.EventAgent, warning, "silent", "back", false},
		api.NodeUnheard:       {api.EventNode, bad, "lost", "back", false},
		api.NodeIDShared:      {api.EventService, bad, "node_id_shared", "node_id_unique", false},
		api.KeysNotExchanged:  {api.EventKey, warning, "not_exchanged", "exchanged", false},
		api.KeyRollWaits:      {api.EventKey, warning, "roll_waits", "roll_goes_on", false},
		api.NotReplicated:     {api.EventReplication, warning, "lost", "back", false},
		api.NotificationsFail: {api.EventNotification, warning, "failing", "working", true},
		api.ConfigInvalid:     {api.EventReload, info, "invalid", "valid", true}, // its reload has failed as an error
		api.DatabaseUnusable:  {api.EventGeo, warning, "unusable", "used", true},
		api.TLSEnds:           {api.EventCertificate, warning, "ends_soon", "renewed", false},
		api.CertificateEnds:   {api.EventCertificate, warning, "ends_soon", "renewed", false},
		api.TokenLocked:       {api.EventToken, warning, "locked", "unlocked", false},
	}
}

// rowOf returns the row of a table of conditions that an event came from; known is false if it came from none, as those
// of backends and names, of which many may be held.
func rowOf(table map[api.ConditionKind]condition, e *api.Event) (found condition, known bool) {
	if e.Kind == api.EventBackend || e.Kind == api.EventName {
		return condition{}, false
	}
	state := e.State
	switch {
	case e.Kind == api.EventRegion && state == conditions.StatePartlyBack:
		state = conditions.StateLost
	case e.Kind == api.EventAgent && state == conditions.StateLost:
		state = conditions.StateSilent
	}
	for _, c := range table {
		if c.kind == e.Kind && (c.begun == state || c.begun == orderBegun) {
			return c, true
		}
	}
	return condition{}, false
}

// lookAtConditions makes events of conditions that hold now and did not, or the reverse. Conditions with the same kind
// and subject of their events, such as a lost and refused agent, have one event: that of the worst severity, or else of
// the first one.
func (w *watch) lookAtConditions() {
	table, orders, now := conditionTable(), w.orders(), map[string]bool{}
	worst, keys := map[string]api.Event{}, []string(nil)
	for _, c := range w.o.Standing() {
		if c.Folded { // in the loss of a region: an event that has begun does not end by that
			now[journal.Key(api.EventAgent, c.Subject)] = true
			continue
		}
		row, told := table[c.Kind]
		if !told || !w.settled && !row.early {
			continue
		}
		e := api.Event{Kind: row.kind, State: row.begun, Severity: row.severity, Subject: subject(row, c), Name: nameOf(c),
			Cause: string(c.Kind), Sentence: c.Sentence}
		w.place(&e, c)
		key := journal.Key(e.Kind, e.Subject)
		if o, ordered := orders[key]; ordered {
			e.State, e.Cause = o.state, o.cause
		} else if c.Kind == api.DrainInForce {
			e.State, e.Cause = "draining", "its agent asks for it"
		}
		other, known := worst[key]
		if !known {
			keys = append(keys, key)
		}
		if !known || e.Severity.Rank() > other.Severity.Rank() {
			worst[key] = e
		}
	}
	for _, key := range keys {
		now[key] = true
		w.set(worst[key], true)
	}
	for key, e := range w.held {
		if row, known := rowOf(table, &e); known && !now[key] && (w.settled || row.early) {
			w.end(e, row)
		}
	}
}

// place sets the state and the region of the event of a lost region or a silent agent.
func (w *watch) place(e *api.Event, c api.Condition) {
	e.State = cmp.Or(c.State, e.State)
	switch c.Kind {
	case api.RegionLost:
		e.Region = c.Subject
	case api.AgentLost, api.AgentSilent:
		if c.State == conditions.StateLost {
			e.Severity = api.EventError
		}
		a, _ := w.o.View.Agent(c.Subject)
		e.Region = a.Region
	}
}

// subject returns the subject of a condition's event. Conditions of the node itself that share a kind of event get
// different ones.
func subject(row condition, c api.Condition) string {
	if c.Subject != "" {
		return c.Subject
	}
	if row.kind == api.EventSigning || row.kind == api.EventService {
		return string(c.Kind)
	}
	return "this node"
}

// nameOf returns the domain that a condition concerns.
func nameOf(c api.Condition) (name string) {
	switch c.Kind {
	case api.TokenLocked:
		return c.Subject
	case api.AgentsHeld:
		if !strings.Contains(c.Subject, " ") { // else an agent or a region
			return c.Subject
		}
	case api.OverrideInForce, api.RegionEmpty:
		name, _, _ = strings.Cut(c.Subject, " ")
	case api.WeightInForce, api.DrainInForce, api.BackendRefused:
		name, _, _ = strings.Cut(c.Subject, ":")
	}
	return name
}

// end ends the event of a condition that holds no more. It keeps the event where the end cannot be known: after a
// restart this process has not heard the agents that were silent before.
func (w *watch) end(before api.Event, row condition) {
	e := api.Event{Kind: before.Kind, State: row.over, Subject: before.Subject, Name: before.Name, Region: before.Region,
		Cause: "it holds no more"}
	if row.begun == orderBegun {
		e.Cause = "it was cleared, or its time is over"
	}
	switch _, heard := w.agents[e.Subject]; {
	case e.Kind == api.EventAgent && !heard &&
		(before.State == conditions.StateSilent || before.State == conditions.StateLost):
		if _, pinned := w.o.Pinned(e.Subject); pinned {
			return
		}
		e.State = "forgotten"
	case e.Kind == api.EventNode && before.State == "lost" && !w.o.Heard(e.Subject):
		e.State = "forgotten"
	}
	e.Sentence = fmt.Sprintf("%s %s: %s, after %s since %s", e.Kind, e.Subject, e.State, before.State,
		before.Time.UTC().Format(time.RFC3339))
	w.set(e, false)
	switch before.State {
	case conditions.StateLost, conditions.StateSilent, conditions.StatePartlyBack:
		w.repeatBackends(e)
	}
}

// repeatBackends repeats the events of the backends of an ended loss that do not serve: notifications of the loss
// included them.
func (w *watch) repeatBackends(loss api.Event) {
	for _, e := range w.held {
		isIncluded := loss.Kind == api.EventRegion && e.Region == loss.Subject ||
			loss.Kind == api.EventAgent && e.AgentID == loss.Subject
		if e.Kind != api.EventBackend || e.Severity == api.EventInfo || !isIncluded {
			continue
		}
		if slices.ContainsFunc(w.o.View.Service(e.Name), func(b *registry.Backend) bool {
			return b.ID.String() == e.Subject && !b.MayServe
		}) {
			e.Time = w.now()
			w.tell(e)
		}
	}
}

// order is the event state of an operator's order in force, and its author.
type order struct{ state, cause string }

// orders returns the orders in force by journal.Key.
func (w *watch) orders() map[string]order {
	all := map[string]order{}
	for _, o := range w.o.View.AdminStates() {
		id := registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}
		by := order{cause: "ordered by " + cmp.Or(o.CreatedBy, "an operator")}
		if o.Reason != "" {
			by.cause += ": " + o.Reason
		}
		switch o.Kind {
		case api.OrderOverride:
			by.state = string(api.EffectiveUnhealthy)
			if o.Healthy {
				by.state = string(api.EffectiveHealthy)
			}
			all[journal.Key(api.EventOverride, conditions.Place(&o))] = by
		case api.OrderWeight:
			by.state = strconv.Itoa(o.Weight)
			all[journal.Key(api.EventWeight, id.String())] = by
		case api.OrderDrain:
			by.state = "draining"
			if b := w.o.View.Get(id); b != nil && b.IsDrained() {
				by.state = "drained"
			}
			all[journal.Key(api.EventDrain, id.String())] = by
		}
	}
	return all
}
