package report

import (
	"time"

	"gslb.internal/shared/wire"
)

// sendTransition sends one changed backend and returns its sequence number, or 0 if it could not be
// sent. Even tries, counted from 0, go as a stream, odd ones by datagram, in case streams are
// blocked.
func (l *link) sendTransition(b wire.Backend, try int) uint64 {
	message, seq, err := l.seal(l.session.boot, wire.TypeTransition, &wire.Transition{Backend: l.renewed(b)})
	if err != nil {
		l.trouble(err)
		return 0
	}
	if try%2 == 1 && len(message) <= wire.MaxDatagram {
		err = l.peer.datagram(message)
	} else if !l.task(func() error { return l.peer.stream(message) }, func(err error, _ time.Time) { l.streamed(err) }) {
		return 0
	}
	l.streamed(err)
	return seq
}

// transitionTaken handles the Ack to a transition.
func (l *link) transitionTaken(ack *wire.Ack, now time.Time) {
	l.pending.acknowledged(ack.AckedSeq)
	l.refused.add(l, scopeClaims, claimRejections(ack))
	l.acknowledgedAt(now)
}
