package report

import (
	"math"
	"math/rand/v2"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// ackTime is the longest wait for the Ack to a heartbeat. For a datagram it is at most half the
	// interval, so that the repetition comes before the next heartbeat.
	ackTime = time.Second
	// streamsFirst is the number of unacknowledged datagrams after which heartbeats go as streams.
	streamsFirst = 2
	// datagramAgain is the number of stream heartbeats after which one is tried by datagram again.
	datagramAgain = 6
	// silentBeats is the number of heartbeats without any Ack after which the agent enrols again: a
	// node that answers pings but not heartbeats has lost the agent's certificate.
	silentBeats = 2

	pathUDP = "udp"
	pathTCP = "tcp"
)

// beat is the state of the heartbeats.
type beat struct {
	at       time.Time // when the next one is due
	made     time.Time // of the newest one
	seq      uint64
	deadline time.Time // when the Ack was due; zero: it came, or nothing was sent
	stream   bool      // it went as a stream
	written  bool      // the stream was written
	losses   int       // datagrams in a row that were not acknowledged
	streams  int       // heartbeats since streams come first
	silent   int       // heartbeats in a row that were not acknowledged on any path
}

// sendBeat sends the whole state. mustStream is true for the repetition of a lost datagram. A
// stream sent because datagrams are unanswered is signed even with a session, because the node may
// have lost the session, and accepts the signature.
func (l *link) sendBeat(now time.Time, mustStream bool) {
	b := &l.beat
	interval := l.options.Interval
	b.at = now.Add(interval - rand.N(interval/10+1))
	stream, seal := mustStream || l.pings.missed >= lostPings || l.preferStream(), l.options.Identity.Seal
	if s := l.session; s.keys != nil && s.enrolled && !stream {
		seal = s.keys.Seal
	}
	state := l.heartbeat(now)
	state.Figures.RTTMicros = uint32(min(l.pings.rtt.Microseconds(), math.MaxUint32))
	message, seq, err := l.sealWith(seal, l.session.boot, wire.TypeHeartbeat, state)
	if err != nil {
		l.beatFailed(err)
		return
	}
	b.made, b.seq, b.deadline = now, seq, now.Add(ackTime)
	b.stream = stream || len(message) > wire.MaxDatagram
	l.metrics.sent.WithLabelValues(l.address).Inc()
	l.status.edit(func(s *NodeState) { s.Path = map[bool]string{false: pathUDP, true: pathTCP}[b.stream] })
	if !b.stream {
		b.deadline = now.Add(min(ackTime, interval/2))
		if err := l.peer.datagram(message); err != nil {
			b.deadline = now // the stream at once
		}
		return
	}
	b.written = false
	started := l.task(func() error { return l.peer.stream(message) }, func(err error, now time.Time) {
		if err != nil {
			l.streamed(err)
		} else if l.beat.seq == seq {
			l.beat.written = true
		}
	})
	if !started {
		b.deadline = now.Add(ackTime) // earlier streams are stuck; their deadline is near
	}
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

// unacknowledged handles a heartbeat without a timely Ack.
func (l *link) unacknowledged(now time.Time) {
	b := &l.beat
	b.deadline = time.Time{}
	if !b.stream {
		b.losses++
		if l.session.reporting {
			l.sendBeat(now, true)
		}
		return
	}
	if l.pings.missed >= lostPings {
		if b.written { // nothing can come back; that it was written is all there is to know
			l.connected()
			l.pending.covered(b.made)
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
	b := &l.beat
	if ack.AckedSeq != b.seq {
		return
	}
	b.deadline, b.silent = time.Time{}, 0
	if !b.stream {
		b.losses = 0
	}
	l.pending.covered(b.made)
	l.refused.replace(l, scopeClaims, claimRejections(ack))
	l.connected()
	l.acknowledgedAt(now)
}

func (l *link) beatFailed(err error) {
	l.metrics.failed.WithLabelValues(l.address).Inc()
	l.trouble(err)
}
