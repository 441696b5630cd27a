package report

import (
	"errors"
	"slices"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// enrolWait is the waiting time for the answer to an Enrol. It doubles after each unanswered Enrol.
	enrolWait = 500 * time.Millisecond
	// unheardEnrols is the number of unanswered Enrols after which the agent continues without an answer if datagrams are
	// blocked, because no answer can arrive.
	unheardEnrols = 3
	// retryEnrolAfter is the time after which the agent enrolls for rejected services.
	retryEnrolAfter = maxPause
)

// enrolNow sends an Enrol, which requests that the node pins this agent's certificate for its services. It alternates
// between datagrams and streams.
func (l *link) enrolNow(now time.Time) {
	s := l.session
	message, _, err := l.seal(s.boot, wire.TypeEnrol, l.enrol(s.boot))
	if err != nil {
		s.enrolAt = time.Time{} // a retry would fail in the same way
		l.logger.Error().Err(err).Msg("cannot enrol")
		return
	}
	wait := backoff{first: enrolWait, tries: s.unheard}
	s.enrolAt = now.Add(wait.next())
	s.unheard++
	if s.unheard > unheardEnrols {
		l.enrolUnheard(now)
	}
	if len(message) <= wire.MaxDatagram && s.unheard%2 == 1 {
		_ = l.peer.datagram(message) // if it is lost, the stream follows
		return
	}
	l.startTask(func() error { return l.peer.stream(message) }, func(err error, now time.Time) { l.streamed(err) })
}

// enrolUnheard continues without an answer if none can arrive.
func (l *link) enrolUnheard(now time.Time) {
	if l.pings.missed < lostPings {
		l.trouble(errors.New("it does not answer the enrolment, although it answers pings"))
		return
	}
	if s := l.session; !s.reporting {
		s.reporting, l.beat.at = true, now
		l.logger.Warn().Msg(
			"datagrams to or from the overwatch node are blocked: reporting by TCP, without acknowledgements; open UDP on " +
				"the gossip port")
	}
}

// enrolledBy handles the node's Ack to an Enrol.
func (l *link) enrolledBy(ack *wire.Ack, now time.Time) {
	s := l.session
	first := !s.enrolled
	s.enrolled, s.reporting, s.unheard, s.enrolAt = true, true, 0, time.Time{}
	s.retry.reset()
	l.refused.replace(l, scopeEnrol, claimRejections(ack))
	if len(ack.Refused) > 0 {
		s.enrolAt = now.Add(retryEnrolAfter)
	}
	l.connected()
	l.acknowledgedAt(now)
	if first {
		l.beat.at = now
		l.logger.Info().Str("node_id", s.hello.NodeID).Str("version", s.hello.Version).Strs("services", ack.Services).
			Msg("enrolled at the overwatch node")
	}
}

// proveAgain schedules an Enrol after an Ack that rejects a service as not enrolled: the node has withdrawn the
// service, for example after a change of its token. A heartbeat follows the Ack to the Enrol.
func (l *link) proveAgain(ack *wire.Ack, now time.Time) {
	s := l.session
	if s.enrolAt.IsZero() && slices.ContainsFunc(ack.Refused, func(c wire.RefusedClaim) bool {
		return c.Code == wire.CodeNotEnrolled
	}) {
		s.enrolled, s.enrolAt = false, now.Add(s.retry.next())
	}
}

// streamed handles the result of a message sent as a stream.
func (l *link) streamed(err error) {
	if err != nil {
		l.trouble(err)
	}
}

// trouble publishes an error of the conversation after the Hello.
func (l *link) trouble(err error) {
	l.status.edit(func(s *NodeState) { s.LastError = err.Error() })
}

// acknowledgedAt records the time of the node's last Ack.
func (l *link) acknowledgedAt(now time.Time) {
	l.status.edit(func(s *NodeState) { s.LastAck, s.LastError = now, "" })
}
