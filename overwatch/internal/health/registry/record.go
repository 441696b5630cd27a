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

// service is the writer's side of a slot.
type service struct {
	name string
	slot *slot
	// records are in the order that readers see them in.
	records []*record
	// dirty is set when the slot must be filled anew before the command ends, notify when Changed must be told then.
	dirty, notify bool
	timer         deadlineAt // for verdicts that only confirm, and for backends that leave
	evidence      status.Tally
	holds         *[status.ReportKinds]hold // nil while no agent ever spoke against a backend alone
	// round is the newest round of declarations from configuration; settling means that some declarations of an earlier
	// round stay for a while (see settle).
	round         uint64
	hasReplaced   bool
	hasAgentDrain bool // one of the published backends drains because its agent asks for it
}

// find returns where the record of id is or belongs.
func (s *service) find(id ID) (int, bool) {
	return slices.BinarySearchFunc(s.records, id, func(r *record, id ID) int { return r.id.compareEndpoint(id) })
}

// record is everything the writer knows about one backend. What readers see of it is pub.
type record struct {
	id      ID
	service *service
	// static and api are nil where that source does not declare the backend, claim where no agent claims it. A record
	// with none of the three is removed.
	static, api *declared
	report      *report
	// leftDrain is the drain of an agent that said goodbye, nil for none.
	leftDrain *agentDrain

	// unconfirmed holds the agent's accusations, nil for none. heldBefore tells that a brake held them before the restart.
	unconfirmed *[status.ReportKinds]status.UnconfirmedReport
	wasHeld     bool
	// region is the region in which r counts, and share what it counts for there.
	region       string
	contribution contribution
	// published is never nil. A change makes a new one; before the first command ends, while draft is set, nobody else has
	// it. What outlives changes (Validation, LastHealthyAt, the times) is kept nowhere else.
	published *Backend
	evidence  status.Evidence
	// timer is the deadline that is in the writer's queue for this record, savedAt when it was last saved: zero for none.
	timer, savedAt deadlineAt
	// lastKnown is the status that the last evidence gave. outdated tells that this was so long before the restart that
	// one failed check outweighs it.
	lastKnown      check.State
	isLastKnownOld bool
	isNew          bool
	// isStored tells that the store has a record of this backend, unsaved that it needs a new one.
	isStored, isUnsaved bool
	isRemoved           bool
	stops               status.Stops
}

// declared holds the settings that configuration or the API has for a backend.
type declared struct {
	weight int
	region string
	check  unique.Handle[check.Spec]
	agent  string // id of the agent whose own it is; "" for none
	host   unique.Handle[Host]
	// round tells a declaration of the newest SetStatic from one that is no longer made. That one ends by leavesBy, zero
	// before settle has seen it.
	round    uint64
	removeBy deadlineAt
}

// report is an agent's word about a backend.
type report struct {
	agent     *agent
	statement statement
	weight    int
	region    string
	// requestedCheck is the check that the agent wants, check the one that this node makes; omitted is the difference.
	requestedCheck, ownCheck unique.Handle[check.Spec]
	omitted                  reduce.Omitted
	drain                    *agentDrain
	warnings                 *status.Warnings // nil while no early warning has an effect
	// round tells a claim of the newest heartbeat from one that is no longer made.
	round uint64
}

// statement is the part of a wire.Backend that decisions depend on. It is comparable.
type statement struct {
	state    wire.Claim
	weight   uint16
	draining bool
	// drainMillis is the duration of the drain; zero for the service's own.
	drainMillis uint32
	warnings    wire.Warnings
	check       wire.Check
	region      string
}

// source returns the kind of declaration that counts: static for one of the configuration, api for one made by the API,
// else agent.
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

// effectiveSettings returns the declared fields of the source that counts.
func (r *record) effectiveSettings() (weight int, region string, spec unique.Handle[check.Spec]) {
	if d := r.effectiveDeclaration(); d != nil {
		return d.weight, d.region, d.check
	}
	return r.report.weight, r.report.region, r.report.ownCheck
}

// hasNoSource reports whether nothing declares or claims the backend any more.
func (r *record) hasNoSource() bool { return r.static == nil && r.api == nil && r.report == nil }
