package report

import (
	"time"

	"gslb.internal/shared/wire"
)

const (
	// farewellTime is the maximum time for deregistering from a node.
	farewellTime = 2 * time.Second
	// farewellAgain is the time after which the Deregister message is repeated as a datagram.
	farewellAgain = 500 * time.Millisecond
)

// farewell removes the agent's backends from the node's answers and waits for the Ack, at most farewellTime. After a
// handover it does nothing.
func (l *link) farewell() {
	defer l.disconnected()
	if l.handedOver.Load() || l.session == nil || !l.session.reporting || l.contact.lost {
		return
	}
	end := time.NewTimer(farewellTime)
	defer end.Stop()
	again := time.NewTimer(farewellAgain)
	defer again.Stop()
	message := l.goodbye()
	written := false
	l.startTask(func() error { return l.peer.stream(message) }, func(err error, _ time.Time) { written = err == nil })
	for {
		select {
		case answer := <-l.inbox:
			if l.goodbyeTaken(answer) {
				return
			}
		case <-again.C:
			_ = l.peer.datagram(l.goodbye())
		case finish := <-l.done:
			finish(time.Now())
			if written && l.pings.missed >= lostPings {
				return // the node cannot answer
			}
		case <-end.C:
			l.logger.Warn().Msg("the overwatch node did not confirm the goodbye: it will notice by the missing heartbeats")
			return
		}
	}
}

func (l *link) goodbye() []byte {
	// A Deregister is far below every limit, so seal does not fail.
	message, _, _ := l.seal(l.session.boot, wire.TypeDeregister, &wire.Deregister{Reason: "agent stopped"})
	return message
}

// goodbyeTaken reports whether an answer is the node's Ack to a Deregister message of this link.
func (l *link) goodbyeTaken(message []byte) bool {
	sealed, ok := l.open(message)
	var ack wire.Ack
	return ok && wire.Type(sealed.Type) == wire.TypeAck && ack.UnmarshalBinary(sealed.Payload) == nil &&
		ack.AckedType == wire.TypeDeregister
}
