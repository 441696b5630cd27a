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

// row describes the event of a kind of condition.
type row struct {
	kind     api.EventKind
	severity api.EventSeverity
	begin    string // the state of an active condition
	end      string // the state when it ends
	isEarly  bool   // events start with the process; other conditions wait until agents and nodes had time to report
}

// byAdminState in the table means that the state depends on the admin state.
const byAdminState = "ordered"

// conditionTable maps conditions to their events. Domains and backends have other events.
func conditionTable() map[api.ConditionKind]row {
	const info, warning, bad, critical = api.EventInfo, api.EventWarning, api.EventError, api.EventCritical
	return map[api.ConditionKind]row{
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
		api.OverrideInForce:   {api.EventOverride, info, byAdminState, "ended", true},
		api.WeightInForce:     {api.EventWeight, info, byAdminState, "ended", true},
		api.DrainInForce:      {api.EventDrain, info, byAdminState, "ended", true},
		api.RegionLost:        {api.EventRegion, bad, conditions.StateLost, "back", false},
		api.AgentLost:         {api.EventAgent, warning, conditions.StateSilent, "back", false},
		api.DegradedShare:     {api.EventShare, warning, "reduced", "full", false},
		api.FailbackPending:   {api.EventRegion, warning, "failback_pending", "failback_done", false},
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
		api.NoAgreement:       {api.EventReplication, warning, "agreement_lost", "agreement_back", false},
		api.NotReplicated:     {api.EventReplication, warning, "lost", "back", false},
		api.NotificationsFail: {api.EventNotification, warning, "failing", "working", true},
		api.ConfigInvalid:     {api.EventReload, info, "invalid", "valid", true}, // a failed reload is an error
		api.DatabaseUnusable:  {api.EventGeo, warning, "unusable", "used", true},
		api.QueryLogFails:     {api.EventStore, warning, "query_log_failing", "query_log_working", true},
		api.TLSEnds:           {api.EventCertificate, warning, "ends_soon", "renewed", false},
		api.CertificateEnds:   {api.EventCertificate, warning, "ends_soon", "renewed", false},
		api.TokenLocked:       {api.EventToken, warning, "locked", "unlocked", false},
	}
}

// rowOf returns the row of the condition of an event. known is false for events of backends and domains.
func rowOf(table map[api.ConditionKind]row, e *api.Event) (found row, known bool) {
	if e.Kind == api.EventBackend || e.Kind == api.EventName {
		return row{}, false
	}
	state := e.State
	switch {
	case e.Kind == api.EventRegion && state == conditions.StatePartlyBack:
		state = conditions.StateLost
	case e.Kind == api.EventAgent && state == conditions.StateLost:
		state = conditions.StateSilent
	}
	for _, c := range table {
		if c.kind == e.Kind && (c.begin == state || c.begin == byAdminState) {
			return c, true
		}
	}
	return row{}, false
}

// updateConditions adds events for conditions that began or ended. Conditions with the same event kind and subject,
// such as a lost and a rejected agent, have one event: the event with the worst severity, or else the first.
func (w *watch) updateConditions() {
	table, orders, now := conditionTable(), w.adminStates(), map[string]bool{}
	worst, keys := map[string]api.Event{}, []string(nil)
	for _, c := range w.o.Conditions() {
		if c.Folded { // part of the loss of a region: its active event continues
			now[journal.Key(api.EventAgent, c.Subject)] = true
			continue
		}
		row, hasEvent := table[c.Kind]
		if !hasEvent || !w.isSettled && !row.isEarly {
			continue
		}
		e := api.Event{Kind: row.kind, State: row.begin, Severity: row.severity, Subject: subject(row, c), Name: nameOf(c),
			Cause: string(c.Kind), Sentence: c.Sentence}
		w.setRegion(&e, c)
		key := journal.Key(e.Kind, e.Subject)
		if o, ordered := orders[key]; ordered {
			e.State, e.Cause = o.state, o.cause
		} else if c.Kind == api.DrainInForce {
			e.State, e.Cause = "draining", "the agent requested it"
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
		w.setState(worst[key], true)
	}
	for key, e := range w.active {
		if row, known := rowOf(table, &e); known && !now[key] && (w.isSettled || row.isEarly) {
			w.endCondition(e, row)
		}
	}
}

// setRegion sets the state and the region of the event of a lost region or a silent agent.
func (w *watch) setRegion(e *api.Event, c api.Condition) {
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

// subject returns the subject of a condition's event. Conditions of the node that share a kind of event have different
// subjects.
func subject(row row, c api.Condition) string {
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
		if !strings.Contains(c.Subject, " ") { // otherwise an agent or a region
			return c.Subject
		}
	case api.OverrideInForce, api.RegionEmpty:
		name, _, _ = strings.Cut(c.Subject, " ")
	case api.FailbackPending:
		if name, _, _ = strings.Cut(c.Subject, " "); name == "region" { // a region of many domains
			return ""
		}
	case api.WeightInForce, api.DrainInForce, api.BackendRefused:
		name, _, _ = strings.Cut(c.Subject, ":")
	}
	return name
}

// endCondition ends the event of a condition that has ended. After a restart, events of agents that this process has
// not seen continue.
func (w *watch) endCondition(before api.Event, row row) {
	e := api.Event{Kind: before.Kind, State: row.end, Subject: before.Subject, Name: before.Name, Region: before.Region,
		Cause: "the condition ended"}
	if row.begin == byAdminState {
		e.Cause = "it was cleared or has expired"
	}
	switch _, isSeen := w.agents[e.Subject]; {
	case e.Kind == api.EventAgent && !isSeen &&
		(before.State == conditions.StateSilent || before.State == conditions.StateLost):
		if _, pinned := w.o.IsPinned(e.Subject); pinned {
			return
		}
		e.State = "forgotten"
	case e.Kind == api.EventNode && before.State == "lost" && !w.o.IsNodeAlive(e.Subject):
		e.State = "forgotten"
	}
	e.Sentence = endSentence(&e, before.State, w.now().Sub(before.Time))
	w.setState(e, false)
	switch before.State {
	case conditions.StateLost, conditions.StateSilent, conditions.StatePartlyBack:
		w.repeatBackends(e)
	}
}

// endSentence returns the sentence for the end of a condition. active is the duration of the condition.
func endSentence(e *api.Event, before string, active time.Duration) string {
	active = active.Round(time.Second)
	switch {
	case e.Kind == api.EventAgent && e.State == "back":
		return fmt.Sprintf("agent %s reconnected after %s", e.Subject, active)
	case e.Kind == api.EventRegion && e.State == "back":
		return fmt.Sprintf("region %s has serving backends after %s", e.Subject, active)
	case e.State == "failback_done":
		return fmt.Sprintf("the failback of %s ended after %s", e.Subject, active)
	case e.State == "ended":
		return fmt.Sprintf("%s of %s ended after %s: %s", e.Kind, e.Subject, active, e.Cause)
	}
	return fmt.Sprintf("%s %s is %s after %s (before: %s)", e.Kind, e.Subject, e.State, active, before)
}

// repeatBackends repeats the events of the backends of an ended loss that do not serve, because the notifications of
// the loss included these backends.
func (w *watch) repeatBackends(loss api.Event) {
	for _, e := range w.active {
		isIncluded := loss.Kind == api.EventRegion && e.Region == loss.Subject ||
			loss.Kind == api.EventAgent && e.AgentID == loss.Subject
		if e.Kind != api.EventBackend || e.Severity == api.EventInfo || !isIncluded {
			continue
		}
		if slices.ContainsFunc(w.o.View.Service(e.Name), func(b *registry.Backend) bool {
			return b.ID.String() == e.Subject && !b.MayServe
		}) {
			e.Time = w.now()
			w.addEvent(e)
		}
	}
}

// adminState is the event state and the author of an active admin state.
type adminState struct{ state, cause string }

// adminStates returns the active admin states by journal.Key.
func (w *watch) adminStates() map[string]adminState {
	all := map[string]adminState{}
	for _, o := range w.o.View.AdminStates() {
		id := registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}
		by := adminState{cause: "set by " + cmp.Or(o.CreatedBy, "an operator")}
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
