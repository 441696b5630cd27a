package report

import (
	"context"
	"time"
)

// pong is the outcome of one ping.
type pong struct {
	rtt time.Duration
	err error
}

// pings summarises the outcomes of pings.
type pings struct {
	missed int           // in a row
	last   time.Time     // the newest answer
	cut    bool          // true from the loss of pings until a heartbeat is planned for their return
	rtt    time.Duration // of the newest answer
}

// keepPinging pings the node in any state of the conversation. An answer ends any backoff.
func (l *link) keepPinging(ctx context.Context) {
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
			pause = pingAgain
		}
		next.Reset(max(pause-time.Since(begun), 0))
		select {
		case l.pongs <- pong{rtt, err}:
		case <-ctx.Done():
			return
		}
	}
}

// pong handles the outcome of a ping.
func (l *link) pong(p pong, now time.Time) {
	if p.err != nil {
		l.pings.missed++
		if l.pings.missed == lostPings {
			l.pings.cut = true
			l.status.edit(func(s *NodeState) { s.Path = pathTCP })
			l.wantHello(now) // tells a node that is gone from datagrams that are blocked
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
		l.contact.at = time.Time{} // whatever the backoff says: the node is there
		l.wantHello(now)
	case !same:
		l.wantHello(now)
	}
}
