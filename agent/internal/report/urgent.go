package report

import (
	"encoding"
	"time"

	"gslb.internal/shared/wire"
)

// repeatSoon is the delay of the heartbeat that repeats an urgent message. Heartbeats are acknowledged, so a lost
// urgent message causes at most this delay.
const repeatSoon = time.Second

// sendUrgent sends changes of backends, warnings and drains immediately. Before the first heartbeat it
func (l *link) sendUrgent(now time.Time) {
	if l.restate.Swap(false) {
		l.beat.at = now
	}
	if l.reprove.Swap(false) {
		s := l.session // a heartbeat follows its Ack
		s.enrolled, s.unheard, s.enrolAt, l.beat.at = false, 0, now, now.Add(repeatSoon)
	}
	if l.warned.Swap(false) && l.session.reporting {
		l.urgently(wire.TypeSignal, signalOf(l.options.State()), now)
	}
	if l.drained.Swap(false) && l.session.reporting {
		l.urgently(wire.TypeDrain, drainOf(l.options.State()), now)
	}
}

func (l *link) urgently(t wire.Type, m encoding.BinaryMarshaler, now time.Time) {
	if soon := now.Add(repeatSoon); soon.Before(l.beat.at) {
		l.beat.at = soon
	}
	message, _, err := l.seal(l.session.boot, t, m)
	if err != nil {
		l.trouble(err)
		return
	}
	// If all streams are in use, the next heartbeat, which was moved forward, contains the same state.
	l.startTask(func() error { return l.peer.stream(message) }, func(err error, _ time.Time) { l.streamed(err) })
}

// signalOf returns the message with the backends that have warnings.
func signalOf(backends []wire.Backend) *wire.Signal {
	m := &wire.Signal{}
	for i := range backends {
		if b := &backends[i]; b.Warnings != (wire.Warnings{}) {
			m.Backends = append(m.Backends, wire.Warned{Service: b.Service, Address: b.Address, Port: b.Port,
				Warnings: b.Warnings})
		}
	}
	return m
}

// drainOf returns the drain message for the backends, with their longest drain time.
func drainOf(backends []wire.Backend) *wire.Drain {
	m := &wire.Drain{}
	for i := range backends {
		m.OverMillis = max(m.OverMillis, backends[i].DrainMillis)
	}
	return m
}

// renewed returns b in its current form: its health at the time of the change, its current warnings and drain. there is
// false if the agent no longer has the backend.
func (l *link) renewed(b wire.Backend) (_ wire.Backend, there bool) {
	for _, now := range l.options.State() {
		if now.Service == b.Service && now.Address == b.Address && now.Port == b.Port {
			b.Warnings, b.Draining, b.DrainMillis = now.Warnings, now.Draining, now.DrainMillis
			return b, true
		}
	}
	return b, false
}
