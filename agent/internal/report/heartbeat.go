package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// ackTime is the longest wait for the Ack to a heartbeat. For a datagram it is at most half the
	// interval, so that the repetition comes before the next heartbeat.
	ackTime = time.Second
	// streamsFirst is the number of unacknowledged datagrams after which heartbeats go as streams.
	streamsFirst = 2
	// Every datagramAgain-th heartbeat is tried by datagram while streams come first.
	datagramAgain = 6
	// silentBeats is the number of waits for the Ack to a stream that ended without any Ack, after
	// which the agent enrols again: a node that answers pings but not heartbeats has lost the agent's
	// certificate.
	silentBeats = 2
	// maxSent is the number of heartbeats whose answers are still taken: those of more than a second
	// at the shortest interval.
	maxSent = 32

	pathUDP = "udp"
	pathTCP = "tcp"
)

// beat is the state of the heartbeats.
type beat struct {
	at       time.Time  // when the next one is due
	sent     []sentBeat // since the newest that was answered, at most maxSent
	repeat   time.Time  // when the newest, a datagram, is sent again as a stream; zero: it is not
	deadline time.Time  // when the first unanswered stream's Ack is due; zero: none is awaited
	written  time.Time  // when the newest stream that was written since then was made; zero: none was
	losses   int        // datagrams in a row that were not acknowledged
	streams  int        // heartbeats since streams come first
	silent   int        // deadlines in a row that passed without any Ack
}

// sentBeat is a heartbeat that may still be answered.
type sentBeat struct {
	seq    uint64
	made   time.Time
	stream bool
}

// answered returns the heartbeat that the node answered. It and those before it await no answer any more. ok is false
// if it awaited none.
func (b *beat) answered(seq uint64) (one sentBeat, ok bool) {
	i := slices.IndexFunc(b.sent, func(s sentBeat) bool { return s.seq == seq })
	if i < 0 {
		return sentBeat{}, false
	}
	one, b.sent = b.sent[i], b.sent[i+1:]
	b.deadline, b.silent = time.Time{}, 0
	if len(b.sent) == 0 {
		b.repeat = time.Time{}
	}
	return one, true
}

// sendBeat sends the whole state. mustStream is true for the repetition of a lost datagram. A
// stream sent because datagrams are unanswered is signed even with a session, because the node may
// have lost the session, and accepts the signature.
func (l *link) sendBeat(now time.Time, mustStream bool) {
	b := &l.beat
	interval := l.options.Interval
	if l.duplicate && !l.session.enrolled {
		interval /= 2 // to notice the end of the other process sooner
	}
	b.at = now.Add(interval - rand.N(interval/10+1))
	stream, seal := mustStream || l.pings.missed >= lostPings || l.preferStream(), l.options.Identity.Seal
	if s := l.session; s.keys != nil && s.enrolled && !stream {
		seal = s.keys.Seal
	}
	state := l.heartbeat(now)
	state.Rejected = l.strangers.list(l.address)
	state.Figures.RTTMicros = uint32(min(l.pings.rtt.Microseconds(), math.MaxUint32))
	message, seq, err := l.sealWith(seal, l.session.boot, wire.TypeHeartbeat, state)
	if err != nil {
		l.beatFailed(err)
		return
	}
	stream = stream || len(message) > wire.MaxDatagram
	b.sent = append(b.sent[max(len(b.sent)+1-maxSent, 0):], sentBeat{seq, now, stream})
	b.repeat = time.Time{}
	l.metrics.sent.WithLabelValues(l.address).Inc()
	l.status.edit(func(s *NodeState) { s.Path = map[bool]string{false: pathUDP, true: pathTCP}[stream] })
	if !stream {
		b.repeat = now.Add(min(ackTime, interval/2))
		if err := l.peer.datagram(message); err != nil {
			b.repeat = now // the stream at once
		}
		return
	}
	if b.deadline.IsZero() { // else it stays, or it would never come at an interval below ackTime
		b.deadline, b.written = now.Add(ackTime), time.Time{}
	}
	session := l.session
	l.task(func() error { return l.peer.stream(message) }, func(err error, _ time.Time) {
		l.streamed(err)
		if err == nil && l.session == session {
			l.beat.written = now
		}
	})
}

// preferStream reports whether the next heartbeat should go as a stream. Every datagramAgain-th one
// does not.
func (l *link) preferStream() bool {
	if l.beat.losses < streamsFirst {
		l.beat.streams = 0
		return false
	}
	l.beat.streams++
	return l.beat.streams%datagramAgain != 0
}

// repeatBeat handles a datagram without a timely Ack.
func (l *link) repeatBeat(now time.Time) {
	l.beat.repeat = time.Time{}
	l.beat.losses++
	if l.session.reporting {
		l.sendBeat(now, true)
	}
}

// unacknowledged handles a stream after which no Ack to any heartbeat came in time.
func (l *link) unacknowledged(now time.Time) {
	b := &l.beat
	b.deadline = time.Time{}
	if l.pings.missed >= lostPings {
		if !b.written.IsZero() { // nothing can come back; that it was written is all there is to know
			l.connected()
			l.pending.covered(b.written)
			return
		}
	} else if b.silent++; b.silent >= silentBeats {
		b.silent = 0
		l.disconnected()
		l.session.enrolled, l.session.unheard, l.session.enrolAt = false, 0, now
	}
	l.metrics.failed.WithLabelValues(l.address).Inc()
}

// beatTaken handles the Ack to a heartbeat.
func (l *link) beatTaken(ack *wire.Ack, now time.Time) {
	one, ok := l.beat.answered(ack.AckedSeq)
	if !ok {
		return
	}
	if !one.stream {
		l.beat.losses = 0
	}
	l.pending.covered(one.made)
	l.introducedBy(ack)
	l.refused.replace(l, scopeClaims, claimRejections(ack))
	l.proveAgain(ack, now)
	l.connected()
	l.acknowledgedAt(now)
}

func (l *link) beatFailed(err error) {
	l.metrics.failed.WithLabelValues(l.address).Inc()
	l.trouble(err)
}
