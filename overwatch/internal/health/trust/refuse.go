package trust

import (
	"github.com/rs/zerolog"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// dropMessage returns a rejection without an answer.
func (a *attempt) dropMessage(reason Reason, detail string) *Refusal {
	id, _ := a.sender()
	return &Refusal{
		Reason: reason, AgentID: id, KeyID: a.sealed.KeyID, Known: a.pinned != nil, Type: wire.Type(a.sealed.Type),
		Seq:    a.sealed.Seq,
		Detail: detail, Silent: true,
	}
}

// refuse returns a rejection with a code. The agent receives a Reject if it has sealed the message and the limit of
// answers permits it.
func (a *attempt) refuse(code wire.RejectCode, service, detail string) *Refusal {
	r := a.refusalOf(code, service, detail)
	if !r.Silent {
		a.recordTrouble(r)
	}
	if !r.Silent && a.answers.first(r.AgentID, code, a.pinned != nil, a.elapsed) {
		a.log.WithLevel(noticeLevel(code)).Str("agent_id", r.AgentID).Str("code", code.String()).Str("service", service).
			Str("fingerprint", r.KeyID.Fingerprint()).Stringer("type", r.Type).Str("detail", detail).
			Msg("message of an agent was rejected")
	}
	return r
}

// noticeLevel returns the log level of a rejection. After a restart of this node, each agent sends one message to the
// previous process. This rejection has a low level.
func noticeLevel(code wire.RejectCode) zerolog.Level {
	if code == wire.CodeBootNonce {
		return zerolog.DebugLevel
	}
	return zerolog.WarnLevel
}

// noAgent replaces the agent id in log lines about errors of this node, so that all agents share a line.
const noAgent = ""

// cannotStore returns the rejection of an Enrol after an error of the store.
func (a *attempt) cannotStore(err error) *Refusal {
	if a.answers.first(noAgent, wire.CodeUnavailable, true, a.elapsed) {
		a.log.Error().Err(err).Msg("storing a pin failed; new agents are rejected until it succeeds")
	}
	return a.refusalOf(wire.CodeUnavailable, "", "this node cannot store a pin at present")
}

func (a *attempt) refusalOf(code wire.RejectCode, service, detail string) *Refusal {
	r := a.dropMessage(Reason(code.String()), detail)
	r.Code, r.Service = code, service
	r.Silent = r.AgentID == "" || !a.mayAnswer(code)
	return r
}

// mayAnswer reports whether the sender receives a Reject, and counts it: the agent sealed the message, and the limits
// allow a Reject. Forged messages therefore use no Rejects of a pinned agent. Messages of another major version cannot
// be verified, so their Rejects have a separate limit. The agent ignores such a Reject by its sequence number.
func (a *attempt) mayAnswer(code wire.RejectCode) bool {
	p, checked := a.pinned, code != wire.CodeVersion
	if p == nil {
		return a.answers.mayAnswer(false, a.elapsed) && (!checked || a.isAuthentic())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := &p.answered
	if !checked {
		last = &p.versioned
	}
	if *last != 0 && a.elapsed-*last < answerEvery ||
		checked && !(a.answers.mayCheck(a.elapsed) && a.isAuthentic()) ||
		!a.answers.mayAnswer(checked, a.elapsed) {
		return false
	}
	*last = max(a.elapsed, 1)
	return true
}

// isAuthentic reports whether the holder of the key has sealed the message. Without this check, any sender could make a
// node send messages to an agent.
func (a *attempt) isAuthentic() bool {
	if a.request.AgentID != "" && a.checkCertificate() != nil {
		return false
	}
	if a.pinned != nil {
		return a.isSealedByAgent(a.pinned.session.Load())
	}
	_, pub := a.sender()
	return a.sealed.Verify(identity.AgentToNode, pub)
}
