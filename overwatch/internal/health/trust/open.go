package trust

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// notBeforeSlack bounds the time by which the beginning of a certificate's validity may lie in the future: an agent
// whose clock was up to two days ahead when it made its certificate is accepted. Clocks need not agree better for
// anything else.
const notBeforeSlack = 48 * time.Hour

// Open decides whether a message is believed. raw is one sealed message as it came; it must not change while the result
// is in use. Open refuses from cheap to dear: size, version, boot nonce, revocation and validity, sequence, then the
// signature; a sequence number is used up only by a message whose signature held. An Enrol is dealt with inside: when
// Open returns without a refusal, the pin is durable.
//
// from is the message's source, proved or not; new pins are paced by it.
//
// Open may be called by many goroutines. It waits for the disk only for an Enrol that changes a pin.
func (t *Trust) Open(raw []byte, from netip.Addr) (Message, *Refusal) {
	now, elapsed := t.clock.now()
	a := attempt{Trust: t, now: now, elapsed: elapsed, origin: HostOf(from)}
	if len(raw) > wire.MaxMessage {
		return Message{}, a.drop(ReasonMalformed, "larger than a message may be")
	}
	sealed, err := identity.Parse(raw)
	if err != nil {
		return Message{}, a.drop(ReasonMalformed, err.Error())
	}
	a.sealed = sealed
	a.pinned, a.departure = t.find(sealed.KeyID)
	if a.sealed.Major != wire.Major {
		return Message{}, a.refuse(wire.CodeVersion, "",
			fmt.Sprintf("protocol version %d.%d, this node speaks %d.%d", sealed.Major, sealed.Minor, wire.Major, wire.Minor))
	}
	if sealed.BootNonce != t.boot {
		return Message{}, a.refuse(wire.CodeBootNonce, "", "meant for an earlier process of this node, or for another node")
	}
	switch wire.Type(sealed.Type) {
	case wire.TypeEnrol:
		return a.enrol()
	case wire.TypeHeartbeat, wire.TypeTransition, wire.TypeDeregister, wire.TypeSignal, wire.TypeDrain:
		return a.report()
	}
	return Message{}, a.drop(ReasonUnknownType, "")
}

// attempt is one message on its way through the rules.
type attempt struct {
	*Trust
	now       time.Time     // believed, for the validity of certificates
	elapsed   time.Duration // monotonic, for rates
	origin    netip.Prefix  // where it came from, which the sender of a datagram can make up
	sealed    identity.Sealed
	pinned    *pinned    // the agent that the certificate is pinned for, or nil
	departure *departure // if its pin was deleted

	// Of an Enrol, whose certificate may not be pinned yet.
	request     wire.Enrol
	certificate *identity.Certificate
	agreed      *identity.Session // nil: the agent wants none, or there are none
}

// report opens a message of a pinned agent.
func (a *attempt) report() (Message, *Refusal) {
	if a.pinned == nil && a.departure != nil && a.superseded(a.departure.id, a.sealed.KeyID) {
		return Message{}, a.refuse(wire.CodeRevoked, "", supersededDetail)
	}
	if a.pinned == nil && a.departure != nil {
		return Message{}, a.refuse(wire.CodeNotEnrolled, "", pinDeleted)
	}
	if a.pinned == nil {
		return Message{}, a.drop(ReasonUnknownKey, "")
	}
	if refusal := a.admissible(); refusal != nil {
		return Message{}, refusal
	}
	session := a.pinned.session.Load()
	if !a.genuine(session) {
		return Message{}, a.drop(ReasonSignature, "")
	}
	if !a.pinned.accept(&a.sealed, a.elapsed) {
		return Message{}, a.drop(ReasonReplay, "")
	}
	if len(a.pinned.standing.Load().grants) == 0 { // revoked or unpinned this very moment, or all its tokens changed
		return Message{}, a.refuse(wire.CodeNotEnrolled, "", tokensChanged)
	}
	message := a.believed()
	if (message.Type == wire.TypeHeartbeat || message.Type == wire.TypeTransition) && a.pinned.silent.Load() {
		a.pinned.silent.Store(false)
	}
	if a.sealed.InSession() {
		message.Session = session
	}
	return message, nil
}

// genuine reports whether the pinned agent sealed the message: by its signature, or a heartbeat by the code of its
// session, which is all that a session is for. Everything else is too rare for its signature to matter.
func (a *attempt) genuine(session *identity.Session) bool {
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

// admissible applies the rules for a pinned certificate that come before the signature.
func (a *attempt) admissible() *Refusal {
	if a.pinned.standing.Load().revoked {
		return a.refuse(wire.CodeRevoked, "", a.pinned.stored().RevokedReason)
	}
	if refusal := a.valid(a.pinned.certificate); refusal != nil {
		return refusal
	}
	if !a.pinned.newer(a.sealed.Epoch, a.sealed.Seq) {
		return a.overtaken()
	}
	return nil
}

func (a *attempt) valid(c *identity.Certificate) *Refusal {
	if a.now.After(c.NotAfter) {
		return a.refuse(wire.CodeExpired, "", "certificate expired at "+c.NotAfter.UTC().Format(
			time.RFC3339)+": a new one must be made and the pin of this one deleted")
	}
	if a.now.Add(notBeforeSlack).Before(c.NotBefore) {
		return a.refuse(wire.CodeNotYetValid, "", "certificate is valid from "+c.NotBefore.UTC().Format(
			time.RFC3339)+": check the clocks")
	}
	return nil
}

func (a *attempt) believed() Message {
	return Message{
		Agent: Agent{pinned: a.pinned}, Type: wire.Type(a.sealed.Type), Epoch: a.sealed.Epoch, Seq: a.sealed.Seq,
		SentAtMillis: a.sealed.SentAtMillis, Payload: a.sealed.Payload, Duplicate: a.pinned.isDuplicate(a.elapsed),
	}
}

// sender returns the agent id that the message names, and the public key that can check it; nil if there is none.
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
