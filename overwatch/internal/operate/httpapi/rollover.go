package httpapi

import (
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

func rolloverOperations() []Operation {
	ds := "example.com. IN DS 23456 13 2 0F1E2D3C"
	begun := api.Roll{Zone: "example.com.", Way: api.RollToKey, Stage: api.RollPublished, Since: exampleTime(),
		StartedAt: exampleTime(),
		StartedBy: "overwatch-1", KeyTag: 23456, OldKeys: []int{12345}, DSRecord: ds,
		WaitsFor:   new("DNSKEY records without the new key to leave caches"),
		WaitsUntil: new(exampleTime().Add(65 * time.Minute)),
		Schedule: []api.RollStep{{Stage: api.RollAlone, NotBefore: exampleTime().Add(time.Hour),
			WaitsFor: new("the parent to have the new DS record and no other")}},
		Advice: []api.RollAdvice{{Act: api.RollReplaceDS, Until: new(exampleTime().Add(65 * time.Minute)),
			Reason: new("resolvers that hold DNSKEY records without the new key find none that the new DS record is " +
				"of")}}}
	back := begun
	back.KeyTag, back.OldKeys, back.DSRecord = 12345, []int{23456}, "example.com. IN DS 12345 13 2 0F1E2D3C"
	offered := begun
	offered.Stage, offered.ConfirmedAt = api.RollOffered, new(exampleTime())
	unsign := api.Roll{Zone: "example.com.", Way: api.RollToUnsigned, Stage: api.RollOffered, Since: exampleTime(),
		StartedAt: exampleTime(),
		StartedBy: "overwatch-1", OldKeys: []int{},
		WaitsFor: new("the parent still has the DS record of key 23456: remove it there"),
		Schedule: []api.RollStep{{Stage: api.RollUnsigned, NotBefore: exampleTime().Add(25 * time.Hour),
			WaitsFor: new("the parent to have no DS record")}},
		Advice: []api.RollAdvice{{Act: api.RollRemoveDS, Safe: true}}}
	sign := api.Roll{Zone: "example.com.", Way: api.RollToSigned, Stage: api.RollPublished, Since: exampleTime(),
		StartedAt: exampleTime(),
		StartedBy: "overwatch-1", OldKeys: []int{}, WaitsFor: new("unsigned answers to leave caches"),
		WaitsUntil: new(exampleTime().Add(65 * time.Minute)),
		Schedule:   []api.RollStep{{Stage: api.RollOffered, NotBefore: exampleTime().Add(65 * time.Minute)}},
		Advice: []api.RollAdvice{{Act: api.RollReplaceDS, Until: new(exampleTime().Add(65 * time.Minute)),
			Reason: new("resolvers that hold unsigned answers refuse them below a DS record")}}}
	dryRun := []Parameter{flag("dry_run", "return the planned stages and change nothing")}
	return []Operation{
		{Method: get, Path: v1 + "/dnssec/rollover", handle: (*Server).listRolls,
			Summary: "List key rollovers and signing transitions",
			Status:  200,
			Answer:  api.Rolls{Enabled: true, Rolls: []api.Roll{begun}}},
		{Method: post, Path: v1 + "/dnssec/rollover", Changes: KindNode,
			handle: signing((*Server).postRoll), Role: api.RoleOperate,
			Summary: "Begin a key rollover", Status: 200, Errors: []int{absent, conflict},
			Query: []Parameter{flag("dry_run", "return the planned stages, without the new key, and change nothing")},
			Body:  api.RollCreate{Zone: "example.com", Algorithm: "ED25519"}, Answer: begun},
		{Method: del, Path: v1 + "/dnssec/rollover/{zone}", Changes: KindNode,
			handle: signing((*Server).deleteRoll), Role: api.RoleOperate,
			Summary: "Revert a key rollover or signing transition",
			Description: "The old key replaces the new key by the same stages. A signing transition continues as the opposite " +
				"transition, with the stages of the latter.", Status: 200, Errors: []int{conflict},
			Answer: back},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/confirm", Changes: KindNode,
			handle:  signing((*Server).confirmRoll),
			Role:    api.RoleOperate,
			Summary: "Confirm the DS records of the parent",
			Description: "Confirms that the parent has only the new DS record, or no DS record in a transition to unsigned. " +
				"Use " +
				"it if the node cannot query the servers of the parent. Without a known TTL, the node assumes that " +
				"caches have the previous record for 48 hours.",
			Status: 200, Errors: []int{conflict}, Answer: offered},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/unsign", Changes: KindNode,
			handle:  signing((*Server).unsignZone),
			Role:    api.RoleOperate,
			Summary: "Begin the transition to an unsigned zone",
			Description: "CDS and CDNSKEY records request the parent to delete its DS records (RFC 8078 section 4). The " +
				"zone is " +
				"signed until caches have no DS record. The keys are not deleted.",
			Status: 200, Errors: []int{conflict}, Query: dryRun, Answer: unsign},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/sign", Changes: KindNode,
			handle:  signing((*Server).signZone),
			Role:    api.RoleOperate,
			Summary: "Begin the transition to a signed zone",
			Description: "The zone is signed immediately. It publishes CDS records when unsigned answers have expired in all " +
				"caches.",
			Status: 200, Errors: []int{conflict}, Query: dryRun, Answer: sign},
		{Method: post, Path: v1 + "/dnssec/rollover/{zone}/force", Changes: KindNode,
			handle: signing((*Server).forceRoll), Role: api.RoleAdmin,
			Summary: "Continue a rollover without unreachable nodes",
			Description: "Applies to the present stage and to this node. risk describes the effect if such a node answers " +
				"resolvers.",
			Status: 200, Errors: []int{conflict},
			Query: []Parameter{flag("dry_run", "return the unreachable nodes and the risk, and change nothing")},
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
			list.Rolls = append(list.Rolls, objects.RollRecord(r))
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
	return okOr(s.op.BeginRoll(c.request(), body, isDryRun(c)))
}

// deleteRoll answers DELETE /dnssec/rollover/{zone}.
func (s *Server) deleteRoll(c *call) (answer, error) {
	return okOr(s.op.CancelRoll(c.request(), c.Param("zone")))
}

// confirmRoll answers POST /dnssec/rollover/{zone}/confirm.
func (s *Server) confirmRoll(c *call) (answer, error) {
	return okOr(s.op.ConfirmDS(c.request(), c.Param("zone")))
}

// signZone answers POST /dnssec/rollover/{zone}/sign.
func (s *Server) signZone(c *call) (answer, error) {
	return okOr(s.op.SignZone(c.request(), c.Param("zone"), isDryRun(c)))
}

// unsignZone answers POST /dnssec/rollover/{zone}/unsign.
func (s *Server) unsignZone(c *call) (answer, error) {
	return okOr(s.op.UnsignZone(c.request(), c.Param("zone"), isDryRun(c)))
}

// forceRoll answers POST /dnssec/rollover/{zone}/force.
func (s *Server) forceRoll(c *call) (answer, error) {
	return okOr(s.op.ForceRoll(c.request(), c.Param("zone"), isDryRun(c)))
}

func isDryRun(c *call) bool { return c.query.flag("dry_run") }

// okOr returns an answer with a body, or an error.
func okOr[T any](body T, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return ok(body), nil
}

// signing returns a handler that calls h if the node signs answers.
func signing(h handler) handler {
	return func(s *Server, c *call) (answer, error) {
		if s.o.KeySync == nil {
			return answer{}, badRequest("this node does not sign (overwatch.dnssec.enabled is false), so it has no " +
				"keys")
		}
		return h(s, c)
	}
}
