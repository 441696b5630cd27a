package trust

import (
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/wire"
)

// SetLimits replaces the limits, in the form of Options. Existing pins stay.
func (t *Trust) SetLimits(limits map[string]Limits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.census.limits = canonical(limits)
}

// countPin adds by, which is 1 or -1, to the counts of the services of an agent that is not revoked. The caller holds
// mu, or is New.
func (t *Trust) countPin(p *pinned, by int) {
	pin := p.storedPin()
	if pin.Revoked {
		return
	}
	for _, s := range pin.Services {
		t.census.count(s.Name, p.host, by)
	}
}

// uncountPin subtracts an agent from the counts before its revocation.
func (t *Trust) uncountPin(p *pinned) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countPin(p, -1)
}

// countAtOrigin counts a pinned agent at the source of its last Enrol. After a restart, the source is unknown until the
// agent enrolls.
func (a *attempt) countAtOrigin(p *pinned) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.host == a.origin {
		return
	}
	a.countPin(p, -1)
	p.host = a.origin
	a.countPin(p, +1)
}

// admitServices counts the agent once for each proved service that the pin lacks. in lists the services that the pin
// may contain, added the newly counted services, and refused the rejected services. why is the reason of the first
// rejection.
func (a *attempt) admitServices(pin store.Pin, proved []store.PinnedService) (in []store.PinnedService, added []string,
	refused []wire.RefusedClaim, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range proved {
		if slices.Contains(added, p.Name) ||
			slices.ContainsFunc(pin.Services, func(s store.PinnedService) bool { return s.Name == p.Name }) {
			in = append(in, p)
			continue
		}
		code, detail := wire.CodeLimit, ""
		switch {
		case len(pin.Services)+len(added) >= wire.MaxServices:
			detail = fmt.Sprintf("an agent speaks for %d services at most", wire.MaxServices)
		case a.isLockedMark(p, a.sealed.KeyID):
			code, detail = wire.CodeLocked, lockedDetail(p.Name)
		default:
			detail = a.census.admit(p.Name, a.origin, a.elapsed)
		}
		if detail == "" {
			in, added = append(in, p), append(added, p.Name)
			continue
		}
		if why == "" {
			why = detail
		}
		refused = append(refused, wire.RefusedClaim{Service: p.Name, Code: code})
	}
	return in, added, refused, why
}

// releaseServices reverts the counts of admitServices for a pin that could not be stored.
func (a *attempt) releaseServices(added []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, service := range added {
		a.census.count(service, a.origin, -1)
	}
}

// revokedHolder returns the id of a revoked agent with the public key of the certificate, or "". The node rejects a new
// certificate with the key of a revoked agent.
func (a *attempt) revokedHolder() string {
	if a.certificate == nil || a.pinned != nil {
		return ""
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if ids := a.revoked[string(a.certificate.PublicKey)]; len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// logPinned logs a new or changed pin.
func (a *attempt) logPinned(pin store.Pin, newly bool, without []wire.RefusedClaim) {
	if left, ok := a.lines.allowLine("pinned", a.elapsed); ok {
		a.log.Info().Str("agent_id", pin.AgentID).Str("fingerprint", a.sealed.KeyID.Fingerprint()).Str("region", pin.Region).
			Strs("services", Agent{pinned: a.pinned}.Services()).Bool("new", newly).Int("left_out", left).Msg("agent pinned")
	}
	for _, r := range without {
		if left, ok := a.lines.allowLine(r.Code.String(), a.elapsed); ok {
			a.log.Warn().Str("agent_id", pin.AgentID).Str("code", r.Code.String()).Str("service", r.Service).Int("left_out",
				left).
				Msg("agent pinned without this service")
		}
	}
}

// Usage returns the use of the limits of each service with a token, ordered by service.
func (t *Trust) Usage() []Use {
	t.mu.RLock()
	defer t.mu.RUnlock()
	silent := make(map[string]int)
	for _, p := range t.byID {
		if p.isUnreported.Load() {
			for _, s := range p.storedPin().Services {
				silent[s.Name]++
			}
		}
	}
	uses := make([]Use, 0, len(t.tokens))
	for service := range t.tokens {
		uses = append(uses, Use{
			Service: service, Pins: t.census.pins[service], Limit: t.census.limitsOf(service).MaxAgents,
			Unreported: silent[service],
			Locked:     t.isClosed(service),
		})
	}
	slices.SortFunc(uses, func(a, b Use) int { return strings.Compare(a.Service, b.Service) })
	return uses
}
