package objects

import (
	"errors"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/shared/api"
)

// RollFault returns the error for operators of a failed change or request of the keys of a zone; nil for nil.
func RollFault(apex string, err error) error {
	switch {
	case errors.Is(err, dnssec.ErrNotSigned) || errors.Is(err, dnssec.ErrNoRoll):
		return fault.NotFoundf("%.260s: %v", apex, err)
	case err != nil:
		return fault.Conflictf("%.260s: %v", apex, err)
	}
	return nil
}

var rollWays = map[roll.Goal]api.RollWay{roll.ToKey: api.RollToKey, roll.ToUnsigned: api.RollToUnsigned,
	roll.ToSigned: api.RollToSigned}

// RollRecord returns a key rollover or signing transition as the API shows it.
func RollRecord(r dnssec.RollState) api.Roll {
	stage := func(s roll.Stage) api.RollStage { return api.RollStage(r.Name(s)) }
	record := api.Roll{Zone: r.Zone, Way: rollWays[r.Goal], Stage: stage(r.Stage), Since: api.Stamp(r.Since),
		StartedAt: api.Stamp(r.Started), StartedBy: r.By, Emergency: r.Emergency, OldKeys: []int{},
		WaitsFor: NonDefault(r.Wait.For, ""), WaitsUntil: api.MomentOrNull(r.Wait.Until),
		ParentSince: api.MomentOrNull(r.ParentSince), ConfirmedAt: api.MomentOrNull(r.Confirmed),
		Schedule: []api.RollStep{}, Advice: []api.RollAdvice{}}
	if r.Target != nil {
		record.KeyTag, record.DSRecord = int(r.Target.Tag()), r.Target.DSLine()
	}
	for _, k := range r.Old {
		record.OldKeys = append(record.OldKeys, int(k.Tag()))
	}
	for _, c := range r.Schedule {
		record.Schedule = append(record.Schedule, api.RollStep{Stage: stage(c.Stage), NotBefore: api.Stamp(c.NotBefore),
			WaitsFor: NonDefault(c.WaitsFor, "")})
	}
	for _, a := range r.Advice {
		record.Advice = append(record.Advice, api.RollAdvice{Act: api.RollAct(a.Act), Safe: a.Safe,
			Until: api.MomentOrNull(a.Until), Reason: NonDefault(a.Reason, "")})
	}
	return record
}

// ForcedRollRecord returns a rollover that continues without nodes, as the API shows it.
func ForcedRollRecord(r dnssec.RollState, without []roll.Peer) api.RollForce {
	record := api.RollForce{Zone: r.Zone, Way: rollWays[r.Goal], Stage: api.RollStage(r.Name(r.Stage)),
		Without: []api.RollSilent{}, Risk: r.Risk()}
	for _, peer := range without {
		record.Without = append(record.Without, api.RollSilent{Peer: peer.Name, Reason: peer.Why})
	}
	return record
}
