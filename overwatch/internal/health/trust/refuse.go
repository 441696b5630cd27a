package trust

import (
	"github.com/rs/zerolog"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// drop returns a refusal that is not answered.
func (a *attempt) drop(reason Reason, detail string) *Refusal {
	id, _ := a.sender()
	return &Refusal{
		Reason: reason, AgentID: id, KeyID: a.sealed.KeyID, Known: a.pinned != nil, Type: wire.Type(a.sealed.Type),
		Seq:    a.sealed.Seq,
		Detail: detail, Silent: true,
	}
}

// refuse returns a refusal with a code. The agent gets a Reject if the message is really its own and there are not too
// many answers.
func (a *attempt) refuse(code wire.RejectCode, service, detail string) *Refusal {
	r := a.answer(code, service, detail)
	if !r.Silent {
		a.noteTrouble(r)
	}
	if !r.Silent && a.answers.first(r.AgentID, code, a.pinned != nil, a.elapsed) {
		a.log.WithLevel(noticeLevel(code)).Str("agent_id", r.AgentID).Str("code", code.String()).Str("service", service).
			Str("fingerprint", r.KeyID.Fingerprint()).Stringer("type", r.Type).Str("detail", detail).
			Msg("agent refused")
	}
	return r
}

// noticeLevel returns the log level of a refusal. Every agent sends a message meant for another process of this node
// once after a restart, before it says Hello again, so that needs no attention.
func noticeLevel(code wire.RejectCode) zerolog.Level {
	if code == wire.CodeBootNonce {
		return zerolog.DebugLevel
	}
	return zerolog.WarnLevel
}

// noAgent stands for the agent id in notices of refusals that are this node's own fault, so that there is one line for
// all agents.
const noAgent = ""

// cannotStore returns the refusal of an enrolment whose pin could not be stored.
func (a *attempt) cannotStore(err error) *Refusal {
	if a.answers.first(noAgent, wire.CodeUnavailable, true, a.elapsed) {
		a.log.Error().Err(err).Msg("pins cannot be stored: no agent can enrol until they can")
	}
	return a.answer(wire.CodeUnavailable, "", "this node cannot store a pin at present")
}

func (a *attempt) answer(code wire.RejectCode, service, detail string) *Refusal {
	r := a.drop(Reason(code.String()), detail)
	r.Code, r.Service = code, service
	r.Silent = r.AgentID == "" || !a.mayAnswer(code)
	return r
}

// mayAnswer reports whether the sender gets a Reject, and counts it if so: the message is really its own, and the
// bounds allow one more. Whoever forges messages of a pinned agent takes no Reject from it. That the agent sealed a
// message of another major version cannot be checked here, so Rejects of these have a bound apart from its others; the
// agent tells by the sequence number that such a Reject is not for it.
func (a *attempt) mayAnswer(code wire.RejectCode) bool {
	p, checked := a.pinned, code != wire.CodeVersion
	if p == nil {
		return a.answers.mayAnswer(false, a.elapsed) && (!checked || a.authentic())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := &p.answered
	if !checked {
		last = &p.versioned
	}
	if *last != 0 && a.elapsed-*last < answerEvery ||
		checked && !(a.answers.mayCheck(a.elapsed) && a.authentic()) ||
		!a.answers.mayAnswer(checked, a.elapsed) {
		return false
	}
	*last = max(a.elapsed, 1)
	return true
}

// authentic reports whether the holder of the key sealed the message, so that nobody else can make a node write to an
// agent.
func (a *attempt) authentic() bool {
	if a.request.AgentID != "" && a.identify() != nil {
		return false
	}
	if a.pinned != nil {
		return a.genuine(a.pinned.session.Load())
	}
	_, pub := a.sender()
	return a.sealed.Verify(identity.AgentToNode, pub)
}
