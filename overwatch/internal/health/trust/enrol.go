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

// openEnrol opens a request to pin a certificate, or to add services to a pinned certificate.
func (a *attempt) openEnrol() (Message, *Refusal) {
	proved, refused, refusal := a.verifyEnrol()
	if refusal != nil {
		return Message{}, refusal
	}
	return a.storePin(proved, refused)
}

// verifyEnrol verifies an Enrol without a change of state. Trust.judging limits concurrent calls.
func (a *attempt) verifyEnrol() ([]store.PinnedService, []wire.RefusedClaim, *Refusal) {
	a.judging <- struct{}{}
	defer func() { <-a.judging }()
	if a.pinned != nil {
		if refusal := a.checkPin(); refusal != nil {
			return nil, nil, refusal
		}
	}
	if err := a.request.UnmarshalBinary(a.sealed.Payload); err != nil {
		return nil, nil, a.dropMessage(ReasonMalformed, err.Error())
	}
	if identity.KeyIDOf(a.request.Certificate) != a.sealed.KeyID {
		return nil, nil, a.dropMessage(ReasonMalformed, "the key id of the envelope does not match the certificate")
	}
	if refusal := a.checkPinnable(); refusal != nil {
		return nil, nil, refusal
	}
	proved, refused := a.checkProofs()
	if len(proved) == 0 && !a.hasRights() {
		return nil, nil, a.refuseUnproved(refused)
	}
	if err := a.checkCertificate(); err != nil {
		return nil, nil, a.dropMessage(ReasonMalformed, err.Error())
	}
	if refusal := a.checkValidity(a.certificate); refusal != nil {
		return nil, nil, refusal
	}
	if !a.sealed.Verify(identity.AgentToNode, a.certificate.PublicKey) {
		return nil, nil, a.dropMessage(ReasonSignature, "")
	}
	if err := a.agreeOnSession(); err != nil {
		return nil, nil, a.dropMessage(ReasonMalformed, err.Error())
	}
	return proved, refused, nil
}

// agreeOnSession creates the requested session. The caller must have verified the signature of the request.
func (a *attempt) agreeOnSession() (err error) {
	if a.exchange == nil || a.request.Share == (identity.Share{}) {
		return nil
	}
	a.agreed, err = a.exchange.Agree(identity.Pairing{
		Agent: a.sealed.KeyID, Node: a.node, Boot: a.boot, Epoch: a.sealed.Epoch,
		AgentShare: a.request.Share, NodeShare: a.exchange.Share(),
	})
	return err
}

// checkCertificate parses and validates the certificate of the request. Further calls return the first result.
func (a *attempt) checkCertificate() error {
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

// checkPinnable returns a rejection if the certificate cannot be pinned for the agent id. Reasons are: the key of a
// revoked agent, a certificate or process with a deleted pin, another pinned certificate (a pin is never replaced), and
// the maximum number of pins.
func (a *attempt) checkPinnable() *Refusal {
	if id := a.revokedHolder(); id != "" {
		return a.refuse(wire.CodeRevoked, "",
			"the revoked agent "+id+" has the same key; run gslb-agent --reset-identity")
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
		agents-- // the agent is already counted
	}
	a.mu.RUnlock()
	switch {
	case holder == nil && agents >= MaxAgents:
		return a.refuse(wire.CodeLimit, "", "this node has the maximum number of agents; delete unused pins")
	case holder == nil || holder.certificate.KeyID == a.sealed.KeyID:
		return nil
	case holder.rights.Load().revoked:
		return a.refuse(wire.CodeRevoked, "",
			"the agent id is revoked; delete its pin before another certificate enrols")
	}
	return a.refuse(wire.CodePinMismatch, "",
		"another certificate is pinned for this agent id: "+holder.certificate.KeyID.Fingerprint())
}

// checkProofs verifies the proofs of tokens. A wrong proof of a service that the agent may already report is ignored.
func (a *attempt) checkProofs() (proved []store.PinnedService, refused []wire.RefusedClaim) {
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
		case a.pinned == nil || a.pinned.rights.Load().grant(p.Service) == nil:
			refused = append(refused, wire.RefusedClaim{Service: p.Service, Code: wire.CodeWrongToken})
		}
	}
	return proved, refused
}

// hasRights reports whether the agent may already report a service.
func (a *attempt) hasRights() bool {
	return a.pinned != nil && len(a.pinned.rights.Load().grants) > 0
}

// refuseUnproved returns the rejection of an agent without a proved service. refused is empty if the tokens have
// changed since the verification.
func (a *attempt) refuseUnproved(refused []wire.RefusedClaim) *Refusal {
	if len(refused) == 0 {
		return a.refuse(wire.CodeNotEnrolled, "", tokensChanged)
	}
	return a.refuse(refused[0].Code, refused[0].Service, proofDetail(refused[0].Code))
}

func proofDetail(code wire.RejectCode) string {
	if code == wire.CodeUnknownService {
		return "this node has no token for the service; add it to overwatch.agent_tokens, or correct the service of the agent"
	}
	return "the service token differs from overwatch.agent_tokens of this node"
}

// storePin stores and activates the pin of an Enrol with a verified signature.
func (a *attempt) storePin(proved []store.PinnedService, refused []wire.RefusedClaim) (Message, *Refusal) {
	defer a.lockAgent(a.request.AgentID)()
	// The pin may have changed before the lock.
	a.pinned, a.departure = a.findByKey(a.sealed.KeyID)
	if refusal := a.checkPinnable(); refusal != nil {
		return Message{}, refusal
	}
	newly := a.pinned == nil
	if newly {
		a.pinned = &pinned{id: a.request.AgentID, certificate: a.certificate, since: a.elapsed, host: a.origin,
			pin: store.Pin{
				AgentID: a.request.AgentID, CertificateDER: a.certificate.DER, FirstSeen: api.Moment(a.now), Unreported: true,
			}}
		a.pinned.rights.Store(&rights{})
		a.pinned.isUnreported.Store(true)
		a.mu.RLock()
		a.pinned.window = a.windows[a.sealed.KeyID]
		a.mu.RUnlock()
	}
	if a.pinned.rights.Load().revoked {
		return Message{}, a.refuse(wire.CodeRevoked, "", a.pinned.storedPin().RevokedReason)
	}
	if !a.pinned.acceptSequence(&a.sealed, a.elapsed) {
		if newly {
			a.pinned = nil
		}
		return Message{}, a.dropMessage(ReasonReplay, "")
	}
	a.countAtOrigin(a.pinned)
	proved, added, full, why := a.admitServices(a.pinned.storedPin(), proved)
	if len(full) > 0 && len(proved) == 0 && !a.hasRights() {
		return Message{}, a.refuse(full[0].Code, full[0].Service, why)
	}
	pin, changed := a.mergePin(a.pinned.storedPin(), proved)
	if changed || newly {
		if err := a.pins.PutPin(pin); err != nil {
			a.releaseServices(added)
			return Message{}, a.cannotStore(err)
		}
		a.applyPin(a.pinned, pin)
		a.answers.deleteLogged(noAgent)
		a.logPinned(pin, newly, slices.Concat(refused, full))
	}
	a.answers.deleteLogged(a.pinned.id)
	if !a.pinned.isDuplicate(a.elapsed) { // otherwise an earlier process still sends messages
		a.troubles.remove(a.pinned.id, a.sealed.KeyID)
	}
	a.pinned.session.Store(a.agreed)
	message := a.message()
	message.NewlyPinned, message.Refused = newly, append(refused, full...)
	return message, nil
}

// applyPin activates a stored pin.
func (t *Trust) applyPin(p *pinned, pin store.Pin) {
	defer t.reportHolder(p.certificate.KeyID, pin)
	t.mu.Lock()
	defer t.mu.Unlock()
	p.mu.Lock()
	p.pin = pin
	p.mu.Unlock()
	p.rights.Store(t.rightsOf(p.certificate.KeyID, pin))
	t.addPin(p)
	t.left.removeDeparture(p.certificate.KeyID)
}

// mergePin returns the pin with the admitted services, and whether it differs from the stored pin.
func (a *attempt) mergePin(pin store.Pin, proved []store.PinnedService) (store.Pin, bool) {
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
