package trust

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// notBeforeSlack is the maximum clock difference for the start of a certificate's validity. An agent may have created
// its certificate with a clock that was two days fast.
const notBeforeSlack = 48 * time.Hour

// Open authenticates a message. raw is a sealed message, which must not change while the result is in use. The order of
// the checks depends on their cost: size, version, boot nonce, revocation and validity, sequence, signature. Only a
// message with a valid signature advances the sequence. Open also pins the certificate of an Enrol: when it returns
// without a rejection, the pin is on disk.
//
// from is the source of the message, which may be forged. It limits the rate of new pins.
//
// Open may be called concurrently. Only an Enrol that changes a pin waits for the disk.
func (t *Trust) Open(raw []byte, from netip.Addr) (Message, *Refusal) {
	now, elapsed := t.clock.readTime()
	a := attempt{Trust: t, now: now, elapsed: elapsed, origin: HostOf(from)}
	if len(raw) > wire.MaxMessage {
		return Message{}, a.dropMessage(ReasonMalformed, "larger than the maximum message size")
	}
	sealed, err := identity.Parse(raw)
	if err != nil {
		return Message{}, a.dropMessage(ReasonMalformed, err.Error())
	}
	a.sealed = sealed
	a.pinned, a.departure = t.findByKey(sealed.KeyID)
	if a.sealed.Major != wire.Major {
		return Message{}, a.refuse(wire.CodeVersion, "",
			fmt.Sprintf("protocol version %d.%d, this node speaks %d.%d", sealed.Major, sealed.Minor, wire.Major, wire.Minor))
	}
	if sealed.BootNonce != t.boot {
		return Message{}, a.refuse(wire.CodeBootNonce, "", "addressed to an earlier process of this node, or to another node")
	}
	switch wire.Type(sealed.Type) {
	case wire.TypeEnrol:
		return a.openEnrol()
	case wire.TypeHeartbeat, wire.TypeTransition, wire.TypeDeregister, wire.TypeSignal, wire.TypeDrain:
		return a.openReport()
	}
	return Message{}, a.dropMessage(ReasonUnknownType, "")
}

// attempt is a message during verification.
type attempt struct {
	*Trust
	now       time.Time     // time of Trust.clock, for the validity of certificates
	elapsed   time.Duration // monotonic, for rates
	origin    netip.Prefix  // source of the message, which may be forged
	sealed    identity.Sealed
	pinned    *pinned    // the agent of the pinned certificate, or nil
	departure *departure // departure of an agent with a deleted pin, or nil

	// Contents of an Enrol. Its certificate may be unpinned.
	request     wire.Enrol
	certificate *identity.Certificate
	agreed      *identity.Session // nil if agent or node do not use sessions
}

// openReport opens a message of a pinned agent.
func (a *attempt) openReport() (Message, *Refusal) {
	if a.pinned == nil && a.departure != nil && a.superseded(a.departure.id, a.sealed.KeyID) {
		return Message{}, a.refuse(wire.CodeRevoked, "", supersededDetail)
	}
	if a.pinned == nil && a.departure != nil {
		return Message{}, a.refuse(wire.CodeNotEnrolled, "", pinDeleted)
	}
	if a.pinned == nil {
		return Message{}, a.dropMessage(ReasonUnknownKey, "")
	}
	if refusal := a.checkPin(); refusal != nil {
		return Message{}, refusal
	}
	session := a.pinned.session.Load()
	if !a.isSealedByAgent(session) {
		return Message{}, a.dropMessage(ReasonSignature, "")
	}
	if !a.pinned.acceptSequence(&a.sealed, a.elapsed) {
		return Message{}, a.dropMessage(ReasonReplay, "")
	}
	if len(a.pinned.rights.Load().grants) == 0 { // revoked or unpinned in the meantime, or all tokens changed
		return Message{}, a.refuse(wire.CodeNotEnrolled, "", tokensChanged)
	}
	message := a.message()
	if (message.Type == wire.TypeHeartbeat || message.Type == wire.TypeTransition) && a.pinned.isUnreported.Load() {
		a.pinned.isUnreported.Store(false)
	}
	if a.sealed.InSession() {
		message.Session = session
	}
	return message, nil
}

// isSealedByAgent reports whether the pinned agent sealed the message. It verifies the code of the session for a
// heartbeat in a session, otherwise the signature. Other messages are rare and always have a signature.
func (a *attempt) isSealedByAgent(session *identity.Session) bool {
	if a.sealed.InSession() {
		return wire.Type(a.sealed.Type) == wire.TypeHeartbeat && a.sealed.Authentic(identity.AgentToNode, session)
	}
	return a.sealed.Verify(identity.AgentToNode, a.pinned.certificate.PublicKey)
}

// Details of refusals.
const (
	pinDeleted    = "the pin of this certificate was deleted on this node: restart the agent to enrol it again"
	tokensChanged = "the tokens of its services changed: they must be proved again"
)

// checkPin applies the rules for a pinned certificate that need no signature.
func (a *attempt) checkPin() *Refusal {
	if a.pinned.rights.Load().revoked {
		return a.refuse(wire.CodeRevoked, "", a.pinned.storedPin().RevokedReason)
	}
	if refusal := a.checkValidity(a.pinned.certificate); refusal != nil {
		return refusal
	}
	if !a.pinned.isNewer(a.sealed.Epoch, a.sealed.Seq) {
		return a.refuseOld()
	}
	return nil
}

func (a *attempt) checkValidity(c *identity.Certificate) *Refusal {
	if a.now.After(c.NotAfter) {
		return a.refuse(wire.CodeExpired, "", "certificate expired at "+c.NotAfter.UTC().Format(
			time.RFC3339)+": delete the pin and run gslb-agent --reset-identity")
	}
	if a.now.Add(notBeforeSlack).Before(c.NotBefore) {
		return a.refuse(wire.CodeNotYetValid, "", "certificate is valid from "+c.NotBefore.UTC().Format(
			time.RFC3339)+": check the clocks")
	}
	return nil
}

func (a *attempt) message() Message {
	return Message{
		Agent: Agent{pinned: a.pinned}, Type: wire.Type(a.sealed.Type), Epoch: a.sealed.Epoch, Seq: a.sealed.Seq,
		SentAtMillis: a.sealed.SentAtMillis, Payload: a.sealed.Payload, Duplicate: a.pinned.isDuplicate(a.elapsed),
	}
}

// sender returns the agent id of the message, and the public key of its signature, or nil.
func (a *attempt) sender() (agentID string, pub ed25519.PublicKey) {
	switch {
	case a.pinned != nil:
		return a.pinned.id, a.pinned.certificate.PublicKey
	case a.departure != nil:
		return a.departure.id, a.departure.pub
	case a.certificate != nil:
		return a.certificate.CommonName, a.certificate.PublicKey
	}
	return a.request.AgentID, nil
}
