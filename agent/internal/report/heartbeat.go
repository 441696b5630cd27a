package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// ackTime is the maximum waiting time for the Ack to a heartbeat. For a datagram it is at most half the interval, so
	// that the repetition precedes the next heartbeat.
	ackTime = time.Second
	// lossesBeforeStreams is the number of consecutive unacknowledged datagrams after which heartbeats are sent as
	// streams.
	lossesBeforeStreams = 2
	// datagramEvery is the number of stream heartbeats before a datagram heartbeat.
	datagramEvery = 6
	// maxSilentHeartbeats is the number of consecutive streams without an Ack after which the agent enrols. A node that
	// answers pings and ignores heartbeats has lost the agent's certificate.
	maxSilentHeartbeats = 2
	// maxSent is the number of heartbeats for which an Ack is accepted: more than a second at the shortest interval.
	maxSent = 32

	pathUDP = "udp"
	pathTCP = "tcp"
)

// beat is the state of the heartbeats.
type beat struct {
	at       time.Time  // time of the next heartbeat
	sent     []sentBeat // heartbeats since the last acknowledged heartbeat, at most maxSent
	repeat   time.Time  // time at which the last datagram is repeated as a stream; zero: never
	deadline time.Time  // deadline of the Ack to the first unanswered stream; zero without a stream
	written  time.Time  // time of the last stream written since then; zero without a stream
	losses   int        // consecutive unacknowledged datagrams
	streams  int        // heartbeats since lossesBeforeStreams was reached
	silent   int        // consecutive deadlines without an Ack
}

// sentBeat is a heartbeat that awaits its Ack.
type sentBeat struct {
	seq    uint64
	made   time.Time
	stream bool
}

// answered returns the acknowledged heartbeat, and removes it and earlier heartbeats. ok is false for an unknown
// sequence number.
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

// sendHeartbeat sends the whole state. mustStream is true for the repetition of a lost datagram. A stream after lost
// datagrams has a signature, because the node may have lost the session.
func (l *link) sendHeartbeat(now time.Time, mustStream bool) {
	b := &l.beat
	interval := l.options.Interval
	if l.duplicate && !l.session.enrolled {
		interval /= 2 // detects the end of the other process earlier
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
		l.countFailedHeartbeat(err)
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
			b.repeat = now // use a stream immediately
		}
		return
	}
	if b.deadline.IsZero() { // an earlier deadline remains; otherwise an interval below ackTime would postpone it forever
		b.deadline, b.written = now.Add(ackTime), time.Time{}
	}
	session := l.session
	l.startTask(func() error { return l.peer.stream(message) }, func(err error, _ time.Time) {
		l.streamed(err)
		if err == nil && l.session == session {
			l.beat.written = now
		}
	})
}

// preferStream reports whether the next heartbeat is sent as a stream.
func (l *link) preferStream() bool {
	if l.beat.losses < lossesBeforeStreams {
		l.beat.streams = 0
		return false
	}
	l.beat.streams++
	return l.beat.streams%datagramEvery != 0
}

// repeatHeartbeat handles a datagram without an Ack in time.
func (l *link) repeatHeartbeat(now time.Time) {
	l.beat.repeat = time.Time{}
	l.beat.losses++
	if l.session.reporting {
		l.sendHeartbeat(now, true)
	}
}

// handleMissingAck handles a stream without an Ack to any heartbeat in time.
func (l *link) handleMissingAck(now time.Time) {
	b := &l.beat
	b.deadline = time.Time{}
	if l.pings.missed >= lostPings {
		if !b.written.IsZero() { // answers are blocked, so a written stream is treated as received
			l.connected()
			l.pending.removeOlder(b.written)
			return
		}
	} else if b.silent++; b.silent >= maxSilentHeartbeats {
		b.silent = 0
		l.disconnected()
		l.session.enrolled, l.session.unheard, l.session.enrolAt = false, 0, now
	}
	l.metrics.failed.WithLabelValues(l.address).Inc()
}

// handleHeartbeatAck handles the Ack to a heartbeat.
func (l *link) handleHeartbeatAck(ack *wire.Ack, now time.Time) {
	one, ok := l.beat.answered(ack.AckedSeq)
	if !ok {
		return
	}
	if !one.stream {
		l.beat.losses = 0
	}
	l.pending.removeOlder(one.made)
	l.introducedBy(ack)
	l.refused.replace(l, scopeClaims, claimRejections(ack))
	l.proveAgain(ack, now)
	l.connected()
	l.acknowledgedAt(now)
}

func (l *link) countFailedHeartbeat(err error) {
	l.metrics.failed.WithLabelValues(l.address).Inc()
	l.trouble(err)
}
