package report

import (
	"cmp"
	"encoding"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// self is the common state of the agent for all links.
type self struct {
	options Options
	started time.Time
	tokens  atomic.Pointer[map[string]string] // tokens are Options.Tokens, or the tokens of the last RenewBackends.
	seq     *atomic.Uint64

	exchange *identity.Exchange

	strangers  strangers
	handedOver atomic.Bool // the next process reports the same backends: no leave message
}

func newSelf(o Options) *self {
	s := &self{options: o, started: time.Now(), seq: new(atomic.Uint64), exchange: identity.NewExchange()}
	s.tokens.Store(&o.Tokens)
	return s
}

// seal signs a message for a process of a node and returns it with its sequence number.
func (l *link) seal(boot identity.Nonce, t wire.Type, m encoding.BinaryMarshaler) (message []byte, seq uint64,
	err error) {
	return l.sealWith(l.options.Identity.Seal, boot, t, m)
}

// sealWith seals a message with the given function, such as a session's, instead of the
// certificate's key.
func (l *link) sealWith(seal func(identity.Direction, identity.Envelope) []byte, boot identity.Nonce, t wire.Type,
	m encoding.BinaryMarshaler) (message []byte, seq uint64, err error) {
	payload, err := m.MarshalBinary()
	if err != nil {
		return nil, 0, fmt.Errorf("encoding a %s: %w", t, err)
	}
	seq = l.seq.Add(1)
	return seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(t), BootNonce: boot,
		Epoch: l.epoch, Seq: seq, SentAtMillis: time.Now().UnixMilli(), Payload: payload,
	}), seq, nil
}

// enrol returns an Enrol message, which requests a session from a process of a node and proves the token of each
// service.
func (l *link) enrol(boot identity.Nonce) *wire.Enrol {
	o := l.options
	m := &wire.Enrol{AgentID: o.Identity.CommonName, Region: o.Region, Version: o.Version, Certificate: o.Identity.DER,
		Share: l.exchange.Share()}
	for service, token := range *l.tokens.Load() {
		service = wire.CanonicalService(service)
		m.Proofs = append(m.Proofs, wire.Proof{Service: service,
			MAC: identity.Proof(token, service, o.Identity.KeyID, boot, l.epoch)})
	}
	slices.SortFunc(m.Proofs, func(a, b wire.Proof) int { return cmp.Compare(a.Service, b.Service) })
	return m
}

// heartbeat returns the message with the agent's whole state.
func (s *self) heartbeat(now time.Time) *wire.Heartbeat {
	o := s.options
	return &wire.Heartbeat{
		Region: o.Region, Version: o.Version, UptimeSeconds: uint64(now.Sub(s.started) / time.Second),
		IntervalMillis: uint32(o.Interval / time.Millisecond), MissedThreshold: uint32(o.MissedThreshold),
		Backends: o.State(), Figures: o.Figures(),
	}
}
