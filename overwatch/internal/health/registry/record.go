package registry

import (
	"slices"
	"unique"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// service is the writer's state of a service.
type service struct {
	name string
	slot *slot
	// records are ordered by address and port.
	records []*record
	// dirty is true if the backends must be published before the command ends. notify is true if Options.Changed must then
	// be called.
	dirty, notify bool
	timer         deadlineAt // for delayed publication of own checks, and for replaced servers
	evidence      status.Tally
	holds         *[status.ReportKinds]hold // nil before the first unconfirmed report
	// declarationRound is the number of the last SetStaticDeclarations call that the registry has completed for the
	// service. hasReplaced is true if servers of an earlier call still serve (see removeReplaced).
	declarationRound uint64
	hasReplaced      bool
	hasAgentDrain    bool // a published backend is drained by its agent
}

// find returns the index of the record of id, or the index at which it must be inserted.
func (s *service) find(id ID) (int, bool) {
	return slices.BinarySearchFunc(s.records, id, func(r *record, id ID) int { return r.id.compareEndpoint(id) })
}

// record is the writer's state of a backend. Readers see published.
type record struct {
	id      ID
	service *service
	// static and api are the declarations by configuration and the API, report is the agent report; each can be nil. A
	// record with three nil values is removed.
	static, api *declared
	report      *report
	// leftDrain is the drain of an agent that has left, or nil.
	leftDrain *agentDrain

	// unconfirmed has the unconfirmed reports, nil if there are none. wasHeld is true if a hold covered them before the
	// restart.
	unconfirmed *[status.ReportKinds]status.UnconfirmedReport
	wasHeld     bool
	// region is the region to which contribution is added.
	region       string
	contribution contribution
	// published is never nil. A change replaces it; while isNew is set, it is not published and may be changed. OwnCheck,
	// LastHealthyAt and the times have no other copy.
	published *Backend
	evidence  status.Evidence
	// timer is the deadline of the record in the queue, and savedAt the time of the last save. Zero means unset.
	timer, savedAt deadlineAt
	// lastKnown is the state according to the last evidence. isLastKnownOld is true for old evidence, which a single
	// failed check replaces.
	lastKnown      check.State
	isLastKnownOld bool
	isNew          bool
	// isStored is true if the store has a record of the backend, isUnsaved if the record is outdated.
	isStored, isUnsaved bool
	isRemoved           bool
	stops               status.Stops
	damped              status.Damped
	recovery            status.Ramp     // rises after the backend was down
	dispute             *status.Dispute // nil if no own check fails, and while agreement is off
}

// declared has the settings of a backend by configuration or the API.
type declared struct {
	weight int
	region string
	check  unique.Handle[check.Spec]
	agent  string // id of the authorized agent; "" without an agent
	host   unique.Handle[Host]
	// round is the round of SetStaticDeclarations that declared the backend. A declaration of an earlier round ends at
	// removeBy, zero before removeReplaced has set it.
	round    uint64
	removeBy deadlineAt
}

// report is an agent's report of a backend.
type report struct {
	agent     *agent
	statement statement
	weight    int
	region    string
	// requestedCheck is the check that the agent requests, ownCheck the check that this node makes, and omitted the
	// difference.
	requestedCheck, ownCheck unique.Handle[check.Spec]
	omitted                  reduce.Omitted
	drain                    *agentDrain
	warnings                 *status.Warnings // nil if no early warning lowers the share
	// round is the number of the agent's last message with this report. The registry withdraws reports with an older
	// number.
	round uint64
}

// statement is the part of a wire.Backend that decisions use. It is comparable.
type statement struct {
	state    wire.Claim
	weight   uint16
	draining bool
	// drainMillis is the duration of the drain, zero for the default of the service.
	drainMillis uint32
	warnings    wire.Warnings
	check       wire.Check
	region      string
}

// source returns the source with precedence: static for the configuration, api for the API, otherwise agent.
func (r *record) source() api.Source {
	switch {
	case r.static != nil && !hostOf(r.static.host).FromAPI:
		return api.SourceStatic
	case r.static != nil || r.api != nil:
		return api.SourceAPI
	default:
		return api.SourceAgent
	}
}

// effectiveSettings returns the settings of the source with precedence.
func (r *record) effectiveSettings() (weight int, region string, spec unique.Handle[check.Spec]) {
	if d := r.effectiveDeclaration(); d != nil {
		return d.weight, d.region, d.check
	}
	return r.report.weight, r.report.region, r.report.ownCheck
}

// hasNoSource reports whether the backend is neither declared nor reported.
func (r *record) hasNoSource() bool { return r.static == nil && r.api == nil && r.report == nil }
