package dnstap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

const (
	// flushInterval is the longest time for which a message waits in a buffer.
	flushInterval = 100 * time.Millisecond
	// connectTimeout is the maximum time of a connection attempt with its handshake. writeTimeout is the maximum time for
	// the consumer to accept the buffer of a worker. finishTimeout is the maximum time of the last exchange at a stop.
	connectTimeout = 5 * time.Second
	writeTimeout   = 5 * time.Second
	finishTimeout  = time.Second
	// minBackoff and maxBackoff bound the time between two connection attempts. It doubles after each failure.
	minBackoff = time.Second
	maxBackoff = time.Minute
	// steadyAfter is the duration of a connection after which the next failure is a new one.
	steadyAfter = 30 * time.Second
)

// unixPrefix is the prefix of an address that is the path of a unix socket.
const unixPrefix = "unix:"

// Options configures a Tap.
type Options struct {
	// Address of the consumer: "unix:" and a path, or an address and port for TCP.
	Address string
	// Identity and Version of this server in each message, at most MaxIdentity octets each.
	Identity, Version string
	Registerer        prometheus.Registerer
	Logger            zerolog.Logger
}

// Tap sends the messages of its workers to a consumer. A nil Tap has no workers.
type Tap struct {
	network, address string
	process          []byte // the encoded fields of the process
	log              zerolog.Logger
	connected        atomic.Bool
	wake             chan struct{}
	sent, lost       atomic.Uint64 // messages; lost: a connection ended before they were sent

	mu      sync.Mutex
	workers []*Worker
}

// New returns a Tap. Run connects it.
func New(o Options) (*Tap, error) {
	if max(len(o.Identity), len(o.Version)) > MaxIdentity {
		return nil, fmt.Errorf("dnstap: identity %.64q or version %.64q: longer than %d octets", o.Identity, o.Version,
			MaxIdentity)
	}
	t := &Tap{network: "tcp", address: o.Address, log: o.Logger, wake: make(chan struct{}, 1),
		process: appendProcess(nil, o.Identity, o.Version)}
	if path, isUnix := strings.CutPrefix(o.Address, unixPrefix); isUnix {
		t.network, t.address = "unix", path
	}
	if err := o.Registerer.Register(newCollector(t)); err != nil {
		return nil, fmt.Errorf("register the metrics of dnstap: %w", err)
	}
	return t, nil
}

// NewWorker returns a Worker for one goroutine. It returns nil if t is nil.
func (t *Tap) NewWorker() *Worker {
	if t == nil {
		return nil
	}
	w := &Worker{tap: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.workers = append(t.workers, w)
	return w
}

// list returns a copy of the list of workers.
func (t *Tap) list() []*Worker {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.workers)
}

// wakeUp makes Run send the buffers. It does not wait.
func (t *Tap) wakeUp() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run connects to the consumer and sends messages until ctx ends, and then sends the remaining messages. It reconnects
// after an error. It returns nil.
func (t *Tap) Run(ctx context.Context) error {
	backoff, failing := minBackoff, false
	for ctx.Err() == nil {
		conn, err := t.connect(ctx)
		if err == nil {
			if !failing {
				t.log.Info().Str("consumer", t.address).Msg("dnstap: connected")
			}
			connected := time.Now()
			t.connected.Store(true)
			err = t.send(ctx, conn)
			t.connected.Store(false)
			_ = conn.Close()
			t.discard()
			if time.Since(connected) > steadyAfter { // otherwise the consumer accepts connections and closes them
				backoff, failing = minBackoff, false
			}
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the connection ended because of ctx
		}
		if !failing {
			t.log.Warn().Err(err).Str("consumer", t.address).
				Msg("dnstap: no connection to the consumer: messages are dropped until it accepts one")
			failing = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff/2 + rand.N(backoff)):
		}
		backoff = min(2*backoff, maxBackoff)
	}
	return nil
}

// connect opens a connection and performs the handshake of Frame Streams.
func (t *Tap) connect(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: connectTimeout}
	conn, err := dialer.DialContext(ctx, t.network, t.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = handshake(conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// handshake announces the content type, awaits its acceptance and starts the stream.
func handshake(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(connectTimeout)); err != nil {
		return err
	}
	if _, err := conn.Write(appendControl(nil, controlReady, true)); err != nil {
		return err
	}
	types, err := expectControl(conn, controlAccept)
	if err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	if len(types) > 0 && !slices.Contains(types, contentType) {
		return fmt.Errorf("the consumer accepts %.200q, not %s: give the address of a dnstap consumer", types, contentType)
	}
	if _, err = conn.Write(appendControl(nil, controlStart, true)); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// errClosed is the error of a consumer that has ended the stream.
var errClosed = errors.New("the consumer closed the connection")

// send sends the buffers until ctx ends or the connection fails. After ctx it sends the rest and finishes the stream.
func (t *Tap) send(ctx context.Context, conn net.Conn) error {
	ended := make(chan error, 1)
	go func() { // a consumer sends nothing before FINISH
		_, err := expectControl(conn, controlFinish)
		ended <- err
	}()
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for {
		done := false
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		case <-t.wake:
		case err := <-ended:
			return cmp.Or(err, errClosed)
		}
		for _, w := range t.list() {
			if err := t.sendBuffer(conn, w); err != nil {
				return err
			}
		}
		if done {
			return finish(conn, ended)
		}
	}
}

// sendBuffer sends the frames in the buffer of a worker. After an error the frames are lost, because the consumer may
// have received a part of them.
func (t *Tap) sendBuffer(conn net.Conn, w *Worker) error {
	first, second := w.buffer.pending()
	octets := len(first) + len(second)
	if octets == 0 {
		return nil
	}
	frames := w.buffer.countFrames(octets)
	defer w.buffer.release(octets)
	err := conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	for _, part := range [][]byte{first, second} {
		if err == nil && len(part) > 0 {
			_, err = conn.Write(part)
		}
	}
	if err != nil {
		t.lost.Add(frames)
		return err
	}
	t.sent.Add(frames)
	return nil
}

// discard empties the buffers after the connection has ended: the messages are too old for the next connection.
func (t *Tap) discard() {
	for _, w := range t.list() {
		first, second := w.buffer.pending()
		octets := len(first) + len(second)
		t.lost.Add(w.buffer.countFrames(octets))
		w.buffer.release(octets)
	}
}

// finish ends the stream, and waits until the consumer has received all frames.
func finish(conn net.Conn, ended <-chan error) error {
	if err := conn.SetDeadline(time.Now().Add(finishTimeout)); err != nil {
		return err
	}
	if _, err := conn.Write(appendControl(nil, controlStop, false)); err != nil {
		return err
	}
	return <-ended
}
