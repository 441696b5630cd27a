package report

import (
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/shared/wire"
)

// scope is the kind of message that a rejection is about.
type scope int

// The scopes.
const (
	scopeEnrol  scope = iota // the certificate and its services
	scopeClaims              // heartbeats and transitions
	scopes
)

// rejections are the current and the logged rejections of a node. The link's goroutine owns them.
type rejections struct {
	current [scopes][]Rejection
	told    [scopes][]string
}

// replace sets the rejections of a scope. An empty list means that the node accepts all messages of the scope.
func (r *rejections) replace(l *link, s scope, now []Rejection) {
	r.current[s] = nil
	if len(now) == 0 {
		r.told[s] = nil
	}
	r.add(l, s, now)
}

// add adds rejections and logs those that were not logged since the last complete acceptance.
func (r *rejections) add(l *link, s scope, more []Rejection) {
	for _, one := range more {
		l.metrics.rejected.WithLabelValues(l.address, one.Code.String()).Inc()
		r.current[s] = slices.DeleteFunc(r.current[s], func(old Rejection) bool {
			return old.Code == one.Code && old.Service == one.Service && old.Backend == one.Backend
		})
		r.current[s] = append(r.current[s], one)
		key := strings.Join([]string{one.Code.String(), one.Service, one.Backend}, " ")
		if !slices.Contains(r.told[s], key) {
			r.told[s] = append(r.told[s], key)
			one.log(l)
		}
	}
	shown := slices.Concat(r.current[:]...)
	l.status.edit(func(state *NodeState) { state.Rejects = shown })
}

// log writes a log line about a rejection and its remedy.
func (r Rejection) log(l *link) {
	event := l.logger.Error().Stringer("code", r.Code)
	for _, part := range []struct{ key, value string }{{"service", r.Service}, {"backend", r.Backend},
		{"detail", r.Detail}} {
		if part.value != "" {
			event.Str(part.key, part.value)
		}
	}
	if rule := r.rule(); rule != "" {
		event.Msg("the overwatch node refuses this backend: " + rule)
		return
	}
	event.Msg(inWords(r.Code))
}

// claimRejections returns the parts of a message that the node rejected.
func claimRejections(ack *wire.Ack) []Rejection {
	out := make([]Rejection, 0, len(ack.Refused))
	for _, claim := range ack.Refused {
		r := Rejection{Code: claim.Code, Service: claim.Service, Rule: claim.Rule}
		if claim.Port != 0 {
			r.Backend = netip.AddrPortFrom(claim.Address, claim.Port).String()
		}
		out = append(out, r)
	}
	return out
}
