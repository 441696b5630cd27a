package operations

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

// Rolls changes the signing keys of zones on all nodes; keysync.Sync implements it. A method returns when DNS answers
// reflect the change. Previews have no side effects.
type Rolls interface {
	BeginRoll(ctx context.Context, apex string, o dnssec.RollOptions) (dnssec.RollState, error)
	PreviewRoll(ctx context.Context, apex string, o dnssec.RollOptions) (dnssec.RollState, error)
	CancelRoll(ctx context.Context, apex string) (dnssec.RollState, error)
	ConfirmDS(ctx context.Context, apex string) (dnssec.RollState, error)
	// ForceRoll continues a rollover without the nodes that it waits for and that do not respond, and returns them.
	ForceRoll(ctx context.Context, apex string, preview bool) (dnssec.RollState, []roll.Peer, error)
	BeginTransition(ctx context.Context, apex string, way roll.Goal) (dnssec.RollState, error)
	PreviewTransition(ctx context.Context, apex string, way roll.Goal) (dnssec.RollState, error)
}

// BeginRoll begins a key rollover. With dryRun it only returns the stages of the rollover.
func (op *Operations) BeginRoll(r *Request, req api.RollCreate, dryRun bool) (api.Roll, error) {
	o := dnssec.RollOptions{Emergency: req.Emergency, TakeOver: req.TakeOver,
		Algorithm: dnssec.ParseAlgorithm(req.Algorithm)}
	switch {
	case req.Zone == "":
		return api.Roll{}, fault.Invalidf("zone is missing: name a zone that this node signs")
	case req.Algorithm != "" && o.Algorithm == 0:
		return api.Roll{}, fault.Invalidf("algorithm is %.64q: it must be %s or %s", req.Algorithm,
			dnssec.ECDSAP256SHA256, dnssec.ED25519)
	case req.TakeOver && !req.Emergency:
		return api.Roll{}, fault.Invalidf("take_over is true: only an emergency change replaces a change that is under " +
			"way: set emergency to true")
	}
	begin := op.o.Rolls.BeginRoll
	if dryRun {
		begin = op.o.Rolls.PreviewRoll
	}
	return op.roll(r, api.AuditRoll, req.Zone, dryRun, func(ctx context.Context) (dnssec.RollState, error) {
		return begin(ctx, req.Zone, o)
	})
}

// CancelRoll reverts the key rollover or signing transition of a zone.
func (op *Operations) CancelRoll(r *Request, apex string) (api.Roll, error) {
	return op.roll(r, api.AuditCancel, apex, false, func(ctx context.Context) (dnssec.RollState, error) {
		return op.o.Rolls.CancelRoll(ctx, apex)
	})
}

// ConfirmDS records that the parent of a zone has the DS records that the rollover waits for.
func (op *Operations) ConfirmDS(r *Request, apex string) (api.Roll, error) {
	return op.roll(r, api.AuditConfirm, apex, false, func(ctx context.Context) (dnssec.RollState, error) {
		return op.o.Rolls.ConfirmDS(ctx, apex)
	})
}

// SignZone begins the transition of a zone to signed answers. With dryRun it only returns the transition.
func (op *Operations) SignZone(r *Request, apex string, dryRun bool) (api.Roll, error) {
	return op.beginTransition(r, api.AuditSign, apex, roll.ToSigned, dryRun)
}

// UnsignZone begins the transition of a zone to unsigned answers. With dryRun it only returns the transition.
func (op *Operations) UnsignZone(r *Request, apex string, dryRun bool) (api.Roll, error) {
	return op.beginTransition(r, api.AuditUnsign, apex, roll.ToUnsigned, dryRun)
}

func (op *Operations) beginTransition(r *Request, action, apex string, to roll.Goal, dryRun bool) (api.Roll, error) {
	begin := op.o.Rolls.BeginTransition
	if dryRun {
		begin = op.o.Rolls.PreviewTransition
	}
	return op.roll(r, action, apex, dryRun, func(ctx context.Context) (dnssec.RollState, error) {
		return begin(ctx, apex, to)
	})
}

// ForceRoll continues the rollover of a zone without the nodes that do not respond. With dryRun it only returns these
// nodes and the risk.
func (op *Operations) ForceRoll(r *Request, apex string, dryRun bool) (api.RollForce, error) {
	began := time.Now()
	state, without, err := op.o.Rolls.ForceRoll(r.Context, apex, dryRun)
	record := objects.ForcedRollRecord(state, without)
	return record, op.rollDone(r, api.AuditForce, apex, dryRun, began, record, err)
}

// roll changes or previews a rollover.
func (op *Operations) roll(r *Request, action, apex string, dryRun bool,
	do func(context.Context) (dnssec.RollState, error)) (api.Roll, error) {
	began := time.Now()
	state, err := do(r.Context)
	record := objects.RollRecord(state)
	return record, op.rollDone(r, action, apex, dryRun, began, record, err)
}

// rollDone writes the outcome of a change of a rollover to the audit log, and returns its error for operators.
func (op *Operations) rollDone(r *Request, action, apex string, dryRun bool, began time.Time, after any,
	err error) error {
	err = objects.RollFault(apex, err)
	if dryRun {
		return err
	}
	ch := &Change{Action: action, Resource: "dnssec", ID: apex}
	if err == nil {
		ch.After = after
	}
	op.Note(r, ch, began, err)
	return err
}
