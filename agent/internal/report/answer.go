package report

import (
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// answer handles a sealed answer of the node. It drops an answer that is not from the pinned certificate or not for
// this process of the agent. It also drops a Reject about another certificate, which anyone with the gossip key could
// cause.
func (l *link) answer(message []byte, now time.Time) {
	if l.session == nil {
		return
	}
	sealed, ok := l.open(message)
	if !ok {
		return
	}
	current := sealed.BootNonce == l.session.boot
	switch wire.Type(sealed.Type) {
	case wire.TypeAck:
		var ack wire.Ack
		if ack.UnmarshalBinary(sealed.Payload) == nil && current {
			l.acknowledged(&ack, now)
		}
	case wire.TypeReject:
		var reject wire.Reject
		if reject.UnmarshalBinary(sealed.Payload) == nil && reject.AckedKey == l.options.Identity.KeyID &&
			(current || reject.Code == wire.CodeBootNonce) {
			l.rejected(&reject, now)
		}
	}
}

// open opens a message from the session's node to this process. ok is false for other messages.
func (l *link) open(message []byte) (sealed identity.Sealed, ok bool) {
	s := l.session
	sealed, err := identity.Parse(message)
	return sealed, err == nil && sealed.Major == wire.Major && sealed.KeyID == s.node.KeyID &&
		sealed.Epoch == l.epoch && s.genuine(&sealed)
}

// genuine reports whether the node sealed an answer, by its signature or, for an Ack, by the
// session's code.
func (s *session) genuine(sealed *identity.Sealed) bool {
	if sealed.InSession() {
		return wire.Type(sealed.Type) == wire.TypeAck && sealed.Authentic(identity.NodeToAgent, s.keys)
	}
	return sealed.Verify(identity.NodeToAgent, s.node.PublicKey)
}

// acknowledged handles an Ack of the session's process.
func (l *link) acknowledged(ack *wire.Ack, now time.Time) {
	l.noteDuplicate(ack.Duplicate)
	switch ack.AckedType {
	case wire.TypeEnrol:
		if ack.AckedSeq >= l.session.enrolFrom {
			l.enrolledBy(ack, now)
		}
	case wire.TypeHeartbeat:
		l.handleHeartbeatAck(ack, now)
	case wire.TypeTransition:
		l.transitionTaken(ack, now)
	case wire.TypeSignal, wire.TypeDrain:
		l.acknowledgedAt(now)
	}
}

// rejected handles a Reject: it logs the Reject once and changes the state of the conversation.
func (l *link) rejected(reject *wire.Reject, now time.Time) {
	s := l.session
	switch reject.Code {
	case wire.CodeBootNonce:
		l.wantHello(now)
		return
	case wire.CodeDuplicate, wire.CodeNewEpoch:
		l.overtaken(reject, now)
		return
	}
	why, about := []Rejection{{Code: reject.Code, Service: reject.Service, Detail: reject.Detail}}, scopeClaims
	if aboutCertificate(reject.Code) {
		about = scopeEnrol // the same scope, regardless of the message that failed first
	}
	switch reject.AckedType {
	case wire.TypeEnrol:
		if reject.AckedSeq < s.enrolFrom {
			return
		}
		l.refused.replace(l, scopeEnrol, why)
		s.unheard = 0
		s.enrolAt = now.Add(s.retry.next())
	case wire.TypeHeartbeat:
		if _, ok := l.beat.answered(reject.AckedSeq); !ok {
			return
		}
		l.refused.replace(l, about, why)
		l.metrics.failed.WithLabelValues(l.address).Inc()
	default:
		l.refused.add(l, about, why)
	}
	if aboutCertificate(reject.Code) {
		l.expelled(now)
	}
}

// aboutCertificate reports whether a code means that the node rejects all messages with this agent's certificate.
func aboutCertificate(code wire.RejectCode) bool {
	switch code {
	case wire.CodeNotEnrolled, wire.CodeRevoked, wire.CodeExpired, wire.CodeNotYetValid, wire.CodePinMismatch,
		wire.CodeVersion:
		return true
	}
	return false
}

// expelled stops the reports and schedules an Enrol. The Ack to the Enrol resumes the reports.
func (l *link) expelled(now time.Time) {
	s := l.session
	s.enrolled, s.reporting = false, false
	l.beat.sent, l.beat.repeat, l.beat.deadline = nil, time.Time{}, time.Time{}
	l.disconnected()
	if s.enrolAt.IsZero() {
		s.enrolAt = now.Add(s.retry.next()) // the node may only have lost the pin
	}
}
