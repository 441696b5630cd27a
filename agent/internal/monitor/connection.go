package monitor

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

const (
	// settleTime is the time from the end of a connection to the check. The system closes the connections of a killed
	// program before its listening socket: an immediate check would still connect.
	settleTime = 50 * time.Millisecond
	// reconnectPause is the time between the end of an idle connection and the next connection.
	reconnectPause = time.Second
	// minIdle is the shortest age at which the end of a connection can be an idle timeout of the server.
	minIdle = 2 * time.Second
	// maxShort is the number of consecutive connections that the server ends before minIdle, after which the watch rests
	// for restTime: the server closes idle connections.
	maxShort = 3
	restTime = 10 * time.Minute
	// maxUnasked bounds the octets that a server sends on an idle connection, such as a greeting.
	maxUnasked = 64 << 10
)

// dialer opens a connection to a backend.
type dialer func(ctx context.Context, to netip.AddrPort) (net.Conn, error)

// dialTCP is the dialer of the network. Keepalive probes of the system detect a failed peer.
func dialTCP(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", to.String())
}

// idleTimeout learns the idle timeout of a server from the ages of connections that the server ended.
type idleTimeout struct {
	last    time.Duration // age of the last connection that the server ended; 0: none
	learned time.Duration // 0: unknown
	short   int           // consecutive ends before minIdle
}

// renewal returns the age at which a connection must be replaced, before the server ends it; 0: never.
func (t *idleTimeout) renewal() time.Duration { return t.learned * 4 / 5 }

// noteEnd learns from the end of a connection by the server. It reports whether the end may be a failure of the
// backend: the age differs from a repeated idle timeout.
func (t *idleTimeout) noteEnd(age time.Duration) (mayBeFailure bool) {
	mayBeFailure = t.learned == 0 || age < t.renewal()
	if age < minIdle {
		t.short++
		return mayBeFailure
	}
	t.short = 0
	if isSimilar(age, t.last) {
		t.learned = min(age, t.last)
	}
	t.last = age
	return mayBeFailure
}

// isSimilar reports whether two ages can be the same idle timeout. Some servers close idle connections only at an
// interval, so that ages differ.
func isSimilar(a, b time.Duration) bool { return min(a, b)*10 >= max(a, b)*7 }

// ending is the reason why the watch of an idle connection ends.
type ending int

const (
	endedByServer ending = iota // close, reset, or no answer to keepalive probes
	endedByAge                  // the time of the renewal has come
	endedByData                 // the server sends more than maxUnasked
)

// watchConnection maintains an idle connection to the backend until ctx ends, and hurries the checks of w if the server
// ends it. The end of the connection does not change the health of the backend: only checks do.
func (w *watch) watchConnection(ctx context.Context) {
	var timeout idleTimeout
	for ctx.Err() == nil {
		conn, began := w.connect(ctx)
		if conn == nil {
			pause(ctx, max(reconnectPause, w.backend.Check.Interval))
			continue
		}
		how := await(ctx, conn, began, timeout.renewal())
		for how == endedByAge && ctx.Err() == nil {
			next, since := w.connect(ctx) // before the previous connection ends
			_ = conn.Close()              // nothing can be lost
			if conn, began = next, since; conn == nil {
				w.hurry()
				break
			}
			how = await(ctx, conn, began, timeout.renewal())
		}
		if conn == nil {
			continue
		}
		_ = conn.Close() // nothing can be lost
		switch {
		case ctx.Err() != nil:
		case how == endedByServer:
			w.endOfConnection(ctx, &timeout, time.Since(began))
		case how == endedByData:
			w.log.Warn().Msg("the backend sends data on an idle connection (health_check.watch: connection): only checks " +
				"detect a failure")
			pause(ctx, restTime)
		}
	}
}

// endOfConnection hurries the checks after a possible failure, and waits until the next connection.
func (w *watch) endOfConnection(ctx context.Context, timeout *idleTimeout, age time.Duration) {
	before := timeout.learned
	if timeout.noteEnd(age) {
		pause(ctx, settleTime)
		w.hurry()
	}
	if timeout.learned != before {
		w.log.Info().Stringer("timeout", timeout.learned.Round(time.Millisecond)).
			Msg("the backend ends idle connections after this time: the agent replaces its connection earlier")
	}
	if timeout.short < maxShort {
		pause(ctx, reconnectPause)
		return
	}
	timeout.short = 0
	w.log.Warn().Stringer("pause", restTime).Msg("the backend closes idle connections (health_check.watch: " +
		"connection): only checks detect a failure, until the next attempt after the pause")
	pause(ctx, restTime)
}

// connect opens an idle connection. The result is nil after a failure, which has no effect.
func (w *watch) connect(ctx context.Context) (net.Conn, time.Time) {
	ctx, cancel := context.WithTimeout(ctx, w.backend.Check.Timeout)
	defer cancel()
	conn, err := w.dial(ctx, w.backend.socket())
	if err != nil {
		return nil, time.Time{}
	}
	return conn, time.Now()
}

// await returns when an idle connection ends, when its age reaches renewal (0: never), when the server has sent
// maxUnasked octets, or when ctx ends. It discards the octets.
func await(ctx context.Context, conn net.Conn, began time.Time, renewal time.Duration) ending {
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	if renewal > 0 && conn.SetReadDeadline(began.Add(renewal)) != nil {
		return endedByServer
	}
	n, err := io.CopyN(io.Discard, conn, maxUnasked)
	switch {
	case n == maxUnasked:
		return endedByData
	case errors.Is(err, os.ErrDeadlineExceeded):
		return endedByAge
	}
	return endedByServer
}

// pause returns after a duration, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
