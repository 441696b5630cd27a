package trust

import (
	"crypto/hmac"
	"fmt"
	"slices"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// enrol opens a request to pin a certificate, or to add services to a pinned one.
func (a *attempt) enrol() (Message, *Refusal) {
	proved, refused, refusal := a.judge()
	if refusal != nil {
		return Message{}, refusal
	}
	return a.pin(proved, refused)
}

// judge decides whether an Enrol is believed, without changing anything. However many there are, only a few are judged
// at a time.
func (a *attempt) judge() ([]store.PinnedService, []wire.RefusedClaim, *Refusal) {
	a.judging <- struct{}{}
	defer func() { <-a.judging }()
	if a.pinned != nil {
		if refusal := a.admissible(); refusal != nil {
			return nil, nil, refusal
		}
	}
	if err := a.request.UnmarshalBinary(a.sealed.Payload); err != nil {
		return nil, nil, a.drop(ReasonMalformed, err.Error())
	}
	if identity.KeyIDOf(a.request.Certificate) != a.sealed.KeyID {
		return nil, nil, a.drop(ReasonMalformed, "certificate is not the one whose key id the envelope has")
	}
	if refusal := a.pinnable(); refusal != nil {
		return nil, nil, refusal
	}
	proved, refused := a.prove()
	if len(proved) == 0 && !a.speaks() {
		return nil, nil, a.unproved(refused)
	}
	if err := a.identify(); err != nil {
		return nil, nil, a.drop(ReasonMalformed, err.Error())
	}
	if refusal := a.valid(a.certificate); refusal != nil {
		return nil, nil, refusal
	}
	if !a.sealed.Verify(identity.AgentToNode, a.certificate.PublicKey) {
		return nil, nil, a.drop(ReasonSignature, "")
	}
	if err := a.agree(); err != nil {
		return nil, nil, a.drop(ReasonMalformed, err.Error())
	}
	return proved, refused, nil
}

// agree makes the session that the request asks for. The request's signature must have held.
func (a *attempt) agree() (err error) {
	if a.exchange == nil || a.request.Share == (identity.Share{}) {
		return nil
	}
	a.agreed, err = a.exchange.Agree(identity.Pairing{
		Agent: a.sealed.KeyID, Node: a.node, Boot: a.boot, Epoch: a.sealed.Epoch,
		AgentShare: a.request.Share, NodeShare: a.exchange.Share(),
	})
	return err
}

// identify checks the certificate in the request, once.
func (a *attempt) identify() error {
	if a.certificate != nil {
		return nil
	}
	var certificate *identity.Certificate
	var err error
	if a.pinned != nil {
		certificate = a.pinned.certificate
	} else if certificate, err = identity.ParseCertificate(a.request.Certificate); err != nil {
		return err
	}
	if certificate.CommonName != a.request.AgentID {
		return fmt.Errorf("agent id %q is not the certificate's common name %q", a.request.AgentID, certificate.CommonName)
	}
	a.certificate = certificate
	return nil
}

// pinnable returns a refusal if the certificate cannot be pinned for the agent id, nil if it can. Reasons are a key of
// a revoked agent, a certificate or process whose pin an operator has deleted, another certificate that is pinned,
// since a pin is never replaced silently, and too many pins.
func (a *attempt) pinnable() *Refusal {
	if id := a.revokedHolder(); id != "" {
		return a.refuse(wire.CodeRevoked, "",
			"its key is that of the revoked agent "+id+": make a new one (--reset-identity)")
	}
	if a.superseded(a.request.AgentID, a.sealed.KeyID) {
		return a.refuse(wire.CodeRevoked, "", supersededDetail)
	}
	if a.departure != nil && a.sealed.Epoch <= a.departure.epoch {
		return a.refuse(wire.CodeNotEnrolled, "", pinDeleted)
	}
	a.mu.RLock()
	holder, agents := a.byID[a.request.AgentID], len(a.byID)+len(a.replaced)
	if _, replaced := a.replaced[a.request.AgentID]; replaced {
		agents-- // its place is its own
	}
	a.mu.RUnlock()
	switch {
	case holder == nil && agents >= MaxAgents:
		return a.refuse(wire.CodeLimit, "", "this node has as many agents as it takes: delete pins that are not needed")
	case holder == nil || holder.certificate.KeyID == a.sealed.KeyID:
		return nil
	case holder.standing.Load().revoked:
		return a.refuse(wire.CodeRevoked, "",
			"the agent id is revoked: an operator must delete the entry before another certificate can enrol")
	}
	return a.refuse(wire.CodePinMismatch, "",
		"another certificate is pinned for this agent id: "+holder.certificate.KeyID.Fingerprint())
}

// prove checks the proofs. Of services that the agent speaks for already, a wrong proof is not held against it: it is
// known by its certificate.
func (a *attempt) prove() (proved []store.PinnedService, refused []wire.RefusedClaim) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for i := range a.request.Proofs {
		p := &a.request.Proofs[i]
		tokens, known := a.tokens[p.Service]
		if !known {
			refused = append(refused, wire.RefusedClaim{Service: p.Service, Code: wire.CodeUnknownService})
			continue
		}
		at := slices.IndexFunc(tokens, func(token string) bool {
			want := identity.Proof(token, p.Service, a.sealed.KeyID, a.boot, a.sealed.Epoch)
			return hmac.Equal(want[:], p.MAC[:])
		})
		switch {
		case at >= 0:
			proved = append(proved, store.PinnedService{
				Name: p.Service, TokenMark: identity.TokenMark(tokens[at], p.Service, a.sealed.KeyID), ProvedAt: api.Moment(a.now),
			})
		case a.pinned == nil || a.pinned.standing.Load().grant(p.Service) == nil:
			refused = append(refused, wire.RefusedClaim{Service: p.Service, Code: wire.CodeWrongToken})
		}
	}
	return proved, refused
}

// speaks reports whether the agent speaks for a service already.
func (a *attempt) speaks() bool {
	return a.pinned != nil && len(a.pinned.standing.Load().grants) > 0
}

// unproved returns the refusal for an agent that proves nothing and speaks for nothing. refused is empty if its tokens
// changed in between.
func (a *attempt) unproved(refused []wire.RefusedClaim) *Refusal {
	if len(refused) == 0 {
		return a.refuse(wire.CodeNotEnrolled, "", tokensChanged)
	}
	return a.refuse(refused[0].Code, refused[0].Service, proofDetail(refused[0].Code))
}

func proofDetail(code wire.RejectCode) string {
	if code == wire.CodeUnknownService {
		return "this node has no token for the service: add it to overwatch.agent_tokens, or correct the agent's service"
	}
	return "the service token is not the one that this node has in overwatch.agent_tokens"
}

// pin makes the outcome of an enrolment durable and then effective. The signature held.
func (a *attempt) pin(proved []store.PinnedService, refused []wire.RefusedClaim) (Message, *Refusal) {
	defer a.lock(a.request.AgentID)()
	// The pin may have changed since it was looked up; from here it cannot.
	a.pinned, a.departure = a.find(a.sealed.KeyID)
	if refusal := a.pinnable(); refusal != nil {
		return Message{}, refusal
	}
	newly := a.pinned == nil
	if newly {
		a.pinned = &pinned{id: a.request.AgentID, certificate: a.certificate, since: a.elapsed, host: a.origin,
			pin: store.Pin{
				AgentID: a.request.AgentID, CertificateDER: a.certificate.DER, FirstSeen: api.Moment(a.now), Unreported: true,
			}}
		a.pinned.standing.Store(&standing{})
		a.pinned.silent.Store(true)
		a.mu.RLock()
		a.pinned.window = a.windows[a.sealed.KeyID]
		a.mu.RUnlock()
	}
	if a.pinned.standing.Load().revoked {
		return Message{}, a.refuse(wire.CodeRevoked, "", a.pinned.stored().RevokedReason)
	}
	if !a.pinned.accept(&a.sealed, a.elapsed) {
		if newly {
			a.pinned = nil // it is not pinned by this
		}
		return Message{}, a.drop(ReasonReplay, "")
	}
	a.countAtOrigin(a.pinned)
	proved, added, full, why := a.admit(a.pinned.stored(), proved)
	if len(full) > 0 && len(proved) == 0 && !a.speaks() {
		return Message{}, a.refuse(full[0].Code, full[0].Service, why)
	}
	pin, changed := a.merge(a.pinned.stored(), proved)
	if changed || newly {
		if err := a.pins.PutPin(pin); err != nil {
			a.release(added)
			return Message{}, a.cannotStore(err)
		}
		a.settle(a.pinned, pin)
		a.answers.forget(noAgent)
		a.tellPinned(pin, newly, slices.Concat(refused, full))
	}
	a.answers.forget(a.pinned.id)
	if !a.pinned.isDuplicate(a.elapsed) { // else an earlier process still reports
		a.troubles.end(a.pinned.id, a.sealed.KeyID)
	}
	a.pinned.session.Store(a.agreed)
	message := a.believed()
	message.NewlyPinned, message.Refused = newly, append(refused, full...)
	return message, nil
}

// settle makes a pin, which is durable by now, effective.
func (t *Trust) settle(p *pinned, pin store.Pin) {
	defer t.tellHolder(p.certificate.KeyID, pin)
	t.mu.Lock()
	defer t.mu.Unlock()
	p.mu.Lock()
	p.pin = pin
	p.mu.Unlock()
	p.standing.Store(t.stand(p.certificate.KeyID, pin))
	t.add(p)
	t.left.forget(p.certificate.KeyID)
}

// merge returns the pin with the proved services that were admitted, and whether it differs from the stored pin.
func (a *attempt) merge(pin store.Pin, proved []store.PinnedService) (store.Pin, bool) {
	changed := pin.Region != a.request.Region || pin.Version != a.request.Version
	pin.Region, pin.Version = a.request.Region, a.request.Version
	pin.Services = slices.Clone(pin.Services)
	for _, p := range proved {
		at := slices.IndexFunc(pin.Services, func(s store.PinnedService) bool { return s.Name == p.Name })
		switch {
		case at >= 0 && pin.Services[at].TokenMark == p.TokenMark:
			continue
		case at >= 0:
			pin.Services[at] = p
		default:
			pin.Services = append(pin.Services, p)
		}
		changed = true
	}
	return pin, changed
}
