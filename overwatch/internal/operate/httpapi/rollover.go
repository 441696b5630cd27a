package httpapi

import (
	"context"
	"errors"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/shared/api"
)

func rolloverOperations() []Operation {
	ds := "example.com. IN DS 23456 13 2 0F1E2D3C"
	begun := api.Roll{Zone: "example.com.", Way: api.RollToKey, Stage: api.RollPublished, Since: at(), StartedAt: at(),
		StartedBy: "overwatch-1", KeyTag: 23456, OldKeys: []int{12345}, DSRecord: ds,
		WaitsFor:   new("DNSKEY records without the new key to leave caches"),
		WaitsUntil: new(at().Add(65 * time.Minute)),
		Schedule: []api.RollStep{{Stage: api.RollAlone, NotBefore: at().Add(time.Hour),
			WaitsFor: new("the parent to have the new DS record and no other")}},
		Advice: []api.RollAdvice{{Act: api.RollReplaceDS, Until: new(at().Add(65 * time.Minute)),
			Reason: new("resolvers that hold DNSKEY records without the new key find none that the new DS record is " +
				"of")}}}
	back := begun
	back.KeyTag, back.OldKeys, back.DSRecord = 12345, []int{23456}, "example.com. IN DS 12345 13 2 0F1E2D3C"
	offered := begun
	offered.Stage, offered.ConfirmedAt = api.RollOffered, new(at())
	unsign := api.Roll{Zone: "example.com.", Way: api.RollToUnsigned, Stage: api.RollOffered, Since: at(),
		StartedAt: at(),
		StartedBy: "overwatch-1", OldKeys: []int{},
		WaitsFor: new("the parent has the DS record of key 23456 still: take it out there"),
		Schedule: []api.RollStep{{Stage: api.RollUnsigned, NotBefore: at().Add(25 * time.Hour),
			WaitsFor: new("the parent to have no DS record")}},
		Advice: []api.RollAdvice{{Act: api.RollRemoveDS, Safe: true}}}
	sign := api.Roll{Zone: "example.com.", Way: api.RollToSigned, Stage: api.RollPublished, Since: at(),
		StartedAt: at(),
		StartedBy: "overwatch-1", OldKeys: []int{}, WaitsFor: new("unsigned answers to leave caches"),
		WaitsUntil: new(at().Add(65 * time.Minute)),
		Schedule:   []api.RollStep{{Stage: api.RollOffered, NotBefore: at().Add(65 * time.Minute)}},
		Advice: []api.RollAdvice{{Act: api.RollReplaceDS, Until: new(at().Add(65 * time.Minute)),
			Reason: new("resolvers that hold unsigned answers refuse them below a DS record")}}}
	dryRun := []Parameter{flag("dry_run", "only tell the stages to come")}
	return []Operation{
		{Method: get, Path: v1 + "/dnssec/rollover", handle: (*Server).listRolls,
			Summary: "Changes of keys, and zones that go unsigned or signed: what each waits for",
			Status:  200,
			Answer:  api.Rolls{Enabled: true, Rolls: []api.Roll{begun}}},
		{Method: post, Path: v1 + "/dnssec/rollover", Changes: KindNode,
			handle: signing((*Server).postRoll), Role: api.RoleOperate,
			Summary: "Begin to change the signing key of a zone", Status: 200, Errors: []int{absent, conflict},
			Query: []Parameter{flag("dry_run", "only tell the stages to come, without the new key")},
			Body:  api.RollCreate{Zone: "example.com", Algorithm: "ED25519"}, Answer: begun},
		{Method: del, Path: v1 + "/dnssec/rollover/{zone}", Changes: KindNode,
			handle: signing((*Server).deleteRoll), Role: api.RoleOperate,
			Summary: "Take a change of key, or a zone's way to be unsigned or signed, back",
			Description: "The old key takes the place of the new one by the same stages. A zone on its way to be " +
				"unsigned or " +
				"signed goes the other way, by the stages of that.", Status: 200, Errors: []int{conflict},
			Answer: back},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/confirm", Changes: KindNode,
			handle:  signing((*Server).confirmRoll),
			Role:    api.RoleOperate,
			Summary: "Say that the parent has what the stage asks for",
			Description: "That is the new DS record alone, or none where the zone goes unsigned. For a parent whose " +
				"servers " +
				"the node cannot ask. The record before is held to be in caches for 48 hours from then, if its TTL " +
				"was not seen.",
			Status: 200, Errors: []int{conflict}, Answer: offered},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/unsign", Changes: KindNode,
			handle:  signing(goWay(api.AuditUnsign, roll.ToUnsigned)),
			Role:    api.RoleOperate,
			Summary: "Begin to take a zone's signatures away",
			Description: "The zone asks its parent by CDS and CDNSKEY records to have no DS record (RFC 8078 " +
				"section 4), and " +
				"is signed until no cache has one. Keys are kept.",
			Status: 200, Errors: []int{conflict}, Query: dryRun, Answer: unsign},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/sign", Changes: KindNode,
			handle:  signing(goWay(api.AuditSign, roll.ToSigned)),
			Role:    api.RoleOperate,
			Summary: "Begin to sign a zone again that has gone without signatures",
			Description: "The zone is signed at once. It offers DS records to its parent when unsigned answers have " +
				"left all " +
				"caches.",
			Status: 200, Errors: []int{conflict}, Query: dryRun, Answer: sign},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/force", Changes: KindNode,
			handle: signing((*Server).forceRoll), Role: api.RoleAdmin,
			Summary: "Have a change not wait for nodes that are not heard of",
			Description: "It counts for the stage at which the change is, and for what this node waits for. risk " +
				"says what " +
				"breaks if such a node answers resolvers.",
			Status: 200, Errors: []int{conflict},
			Query: []Parameter{flag("dry_run", "only tell whom it would not wait for, and what may break")},
			Answer: api.RollForce{Zone: "example.com.", Way: api.RollToKey, Stage: api.RollPublished,
				Without: []api.RollSilent{{Peer: "http://overwatch-3.example.com:8080",
					Reason: "nothing listens there"}},
				Risk: (&roll.Roll{}).Risk()}},
	}
}

// listRolls answers GET /dnssec/rollover.
func (s *Server) listRolls(*call) (answer, error) {
	list := api.Rolls{Enabled: s.o.SigningKeys != nil, Rolls: []api.Roll{}}
	if s.o.KeySync != nil {
		for _, r := range s.o.KeySync.Rolls() {
			list.Rolls = append(list.Rolls, rollRecord(r))
		}
	}
	return ok(list), nil
}

// postRoll answers POST /dnssec/rollover.
func (s *Server) postRoll(c *call) (answer, error) {
	var body api.RollCreate
	if err := c.decode(&body); err != nil {
		return answer{}, err
	}
	if body.Zone == "" {
		return answer{}, badRequest("zone is missing: name a zone that this node signs")
	}
	o := dnssec.RollOptions{Emergency: body.Emergency, TakeOver: body.TakeOver, Algorithm: dnssec.Named(body.Algorithm)}
	if body.Algorithm != "" && o.Algorithm == 0 {
		return answer{}, badRequest("algorithm is %.64q: it must be %s or %s", body.Algorithm, dnssec.ECDSAP256SHA256,
			dnssec.ED25519)
	}
	if body.TakeOver && !body.Emergency {
		return answer{}, badRequest("take_over is true: only an emergency change replaces a change that is under " +
			"way: set " +
			"emergency to true")
	}
	begin := s.o.KeySync.BeginRoll
	if c.query.flag("dry_run") {
		begin = s.o.KeySync.PreviewRoll
	}
	return s.changeRoll(c, api.AuditRoll, body.Zone, func(ctx context.Context, apex string) (dnssec.RollState, error) {
		return begin(ctx, apex, o)
	})
}

// deleteRoll answers DELETE /dnssec/rollover/{zone}.
func (s *Server) deleteRoll(c *call) (answer, error) {
	return s.changeRoll(c, api.AuditCancel, c.Param("zone"), s.o.KeySync.CancelRoll)
}

// confirmRoll answers POST /dnssec/rollover/{zone}/confirm.
func (s *Server) confirmRoll(c *call) (answer, error) {
	return s.changeRoll(c, api.AuditConfirm, c.Param("zone"), s.o.KeySync.ConfirmDS)
}

// goWay returns the handler of POST /dnssec/rollover/{zone}/unsign and sign.
func goWay(action string, way roll.Way) handler {
	return func(s *Server, c *call) (answer, error) {
		begin := s.o.KeySync.BeginWay
		if c.query.flag("dry_run") {
			begin = s.o.KeySync.PreviewWay
		}
		return s.changeRoll(c, action, c.Param("zone"), func(ctx context.Context, apex string) (dnssec.RollState,
			error) {
			return begin(ctx, apex, way)
		})
	}
}

// forceRoll answers POST /dnssec/rollover/{zone}/force.
func (s *Server) forceRoll(c *call) (answer, error) {
	began, apex := time.Now(), c.Param("zone")
	state, without, err := s.o.KeySync.ForceRoll(c.Request.Context(), apex, c.query.flag("dry_run"))
	forced := api.RollForce{Zone: state.Zone, Way: rollWays[state.Way], Stage: api.RollStage(state.Name(state.Stage)),
		Without: []api.RollSilent{}, Risk: state.Risk()}
	for _, peer := range without {
		forced.Without = append(forced.Without, api.RollSilent{Peer: peer.Name, Reason: peer.Why})
	}
	return s.rollChanged(c, api.AuditForce, apex, began, forced, err)
}

// changeRoll makes one change of a roll, or with dry_run only looks at it.
func (s *Server) changeRoll(c *call, action, apex string,
	do func(ctx context.Context, apex string) (dnssec.RollState, error)) (answer, error) {
	began := time.Now()
	state, err := do(c.Request.Context(), apex)
	return s.rollChanged(c, action, apex, began, rollRecord(state), err)
}

// rollChanged notes a change of a roll in the audit log, unless it was a dry run, and answers with what came of it.
func (s *Server) rollChanged(c *call, action, apex string, began time.Time, after any, err error) (answer, error) {
	err = rollProblem(apex, err)
	if !c.query.flag("dry_run") {
		ch := &operations.Change{Action: action, Resource: "dnssec", ID: apex}
		if err == nil {
			ch.After = after
		}
		s.op.Note(c.request(), ch, began, err)
	}
	if err != nil {
		return answer{}, err
	}
	return ok(after), nil
}

// signing returns a handler that calls h on a node that signs.
func signing(h handler) handler {
	return func(s *Server, c *call) (answer, error) {
		if s.o.KeySync == nil {
			return answer{}, badRequest("this node does not sign (overwatch.dnssec.enabled is false), so it has no " +
				"keys")
		}
		return h(s, c)
	}
}

// rollProblem is the answer to a failure of a method that changes rolls.
func rollProblem(apex string, err error) error {
	switch {
	case errors.Is(err, dnssec.ErrNotSigned) || errors.Is(err, dnssec.ErrNoRoll):
		return notFound("%.260s: %v", apex, err)
	case err != nil:
		return fault.Conflictf("%.260s: %v", apex, err)
	}
	return nil
}

var rollWays = map[roll.Way]api.RollWay{roll.ToKey: api.RollToKey, roll.ToUnsigned: api.RollToUnsigned,
	roll.ToSigned: api.RollToSigned}

func wordsOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func rollRecord(r dnssec.RollState) api.Roll {
	stage := func(s roll.Stage) api.RollStage { return api.RollStage(r.Name(s)) }
	record := api.Roll{Zone: r.Zone, Way: rollWays[r.Way], Stage: stage(r.Stage), Since: stamp(r.Since),
		StartedAt: stamp(r.Started), StartedBy: r.By, Emergency: r.Emergency, OldKeys: []int{},
		WaitsFor: wordsOrNull(r.Wait.For), WaitsUntil: api.MomentOrNull(r.Wait.Until),
		ParentSince: api.MomentOrNull(r.ParentSince), ConfirmedAt: api.MomentOrNull(r.Confirmed),
		Schedule: []api.RollStep{},
		Advice:   []api.RollAdvice{}}
	if r.Target != nil {
		record.KeyTag, record.DSRecord = int(r.Target.Tag()), r.Target.DSLine()
	}
	for _, k := range r.Old {
		record.OldKeys = append(record.OldKeys, int(k.Tag()))
	}
	for _, c := range r.Schedule {
		record.Schedule = append(record.Schedule, api.RollStep{Stage: stage(c.Stage), NotBefore: stamp(c.NotBefore),
			WaitsFor: wordsOrNull(c.WaitsFor)})
	}
	for _, a := range r.Advice {
		record.Advice = append(record.Advice, api.RollAdvice{Act: api.RollAct(a.Act), Safe: a.Safe,
			Until: api.MomentOrNull(a.Until), Reason: wordsOrNull(a.Reason)})
	}
	return record
}
