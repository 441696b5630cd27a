package report

import (
	"context"
	"time"
)

// pong is the result of a ping.
type pong struct {
	rtt time.Duration
	err error
}

// pings summarizes the results of pings.
type pings struct {
	missed int           // consecutive unanswered pings
	last   time.Time     // time of the last answer
	cut    bool          // pings are lost, and no heartbeat is scheduled for their return
	rtt    time.Duration // of the last answer
}

// pingRegularly pings the node in every state of the conversation. An answer ends a backoff.
func (l *link) pingRegularly(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
		begun := time.Now()
		rtt, err := l.peer.ping()
		pause := pingInterval
		if err != nil {
			pause = retryPingAfter
		}
		next.Reset(max(pause-time.Since(begun), 0))
		select {
		case l.pongs <- pong{rtt, err}:
		case <-ctx.Done():
			return
		}
	}
}

// handlePong handles the result of a ping.
func (l *link) handlePong(p pong, now time.Time) {
	if p.err != nil {
		l.pings.missed++
		if l.pings.missed == lostPings {
			l.pings.cut = true
			l.status.edit(func(s *NodeState) { s.Path = pathTCP })
			l.wantHello(now) // distinguishes a stopped node from blocked datagrams
		}
		return
	}
	back := l.pings.missed > 0 || l.pings.last.IsZero()
	l.pings.missed, l.pings.last, l.pings.rtt = 0, now, p.rtt
	l.metrics.rtt.WithLabelValues(l.address).Set(p.rtt.Seconds())
	l.status.edit(func(s *NodeState) { s.RTT = p.rtt })
	boot, ok := l.peer.boot()
	same := ok && l.session != nil && boot == l.session.boot
	switch {
	case same && back:
		l.resume(now)
	case !same && back && !l.contact.at.IsZero():
		l.contact.retry.reset()
		l.contact.at = time.Time{} // ignore the backoff, because the node is running
		l.wantHello(now)
	case !same:
		l.wantHello(now)
	}
}
