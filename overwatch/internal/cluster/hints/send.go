package hints

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
)

// Bounds of a request: the number of backends, and the octets of their ids with the separators.
const (
	maxBackends = 64
	maxText     = 4 << 10
	separator   = ","
)

// sender sends the hints to a peer, one request at a time. Hints that arrive during a request are sent together.
type sender struct {
	e      *Exchange
	node   string
	client *peerauth.Client

	mu        sync.Mutex
	queue     map[registry.ID]struct{}
	isProbing bool // a request is due even without hints
	isRunning bool
}

// Run sends hints until ctx ends. It returns nil. It must be called once.
func (e *Exchange) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		e.runSettings(ctx)
	}
	return nil
}

// runSettings sends hints until the settings change.
func (e *Exchange) runSettings(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var sending sync.WaitGroup
	defer sending.Wait()
	defer cancel()
	settings := e.settings.Get()
	client, err := e.newHTTPClient(settings.TLS)
	if err != nil {
		e.o.Logger.Error().Err(err).Msg("no hints about failures are sent to other nodes")
	} else {
		defer client.CloseIdleConnections()
	}
	senders := make(map[string]*sender)
	ask := time.NewTimer(0)
	defer ask.Stop()
	var probed time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.settings.Changed():
			return
		case <-e.wake:
		case <-ask.C:
		}
		now := time.Now()
		queue := e.takeQueue()
		if e.addOpen(queue, settings.Agreement, now) {
			ask.Reset(askEvery)
		} else if settings.Agreement.IsOn() {
			ask.Reset(probeEvery)
		}
		if client == nil || len(settings.Secret) == 0 {
			continue
		}
		mustProbe := settings.Agreement.IsOn() && now.Sub(probed) >= probeEvery
		if mustProbe {
			probed = now
		}
		for _, p := range e.o.Peers() {
			s := senders[p.URL]
			if s == nil || s.node != p.Node {
				s = e.newSender(p, settings, client)
				senders[p.URL] = s
			}
			if s.add(queue, mustProbe) {
				sending.Go(func() { s.run(ctx) })
			}
		}
	}
}

func (e *Exchange) newHTTPClient(files peerauth.TLSFiles) (*http.Client, error) {
	if e.o.Transport != nil {
		return peerauth.NewHTTPClient(e.o.Transport), nil
	}
	transport, err := peerauth.NewTransport(files)
	if err != nil {
		return nil, err
	}
	return peerauth.NewHTTPClient(transport), nil
}

func (e *Exchange) newSender(p replication.Reachable, settings Settings, client *http.Client) *sender {
	return &sender{e: e, node: p.Node, queue: make(map[registry.ID]struct{}), client: &peerauth.Client{
		Node: e.o.NodeID, Peer: p.URL, Secret: settings.Secret, HTTP: client, UserAgent: "gslb-overwatch/hints",
		MaxBody: maxAnswer}}
}

// add queues hints, at most hintBurst. With mustProbe, a request follows even without hints. It reports whether the
// caller must start run.
func (s *sender) add(ids map[registry.ID]struct{}, mustProbe bool) (mustRun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range ids {
		if len(s.queue) >= hintBurst {
			s.e.metrics.dropped.Inc()
			continue
		}
		s.queue[id] = struct{}{}
	}
	s.isProbing = s.isProbing || mustProbe
	mustRun = !s.isRunning && (len(s.queue) > 0 || s.isProbing)
	s.isRunning = s.isRunning || mustRun
	return mustRun
}

// run sends the queue. After a failure it drops the rest of the queue, since the peer is down or too slow.
func (s *sender) run(ctx context.Context) {
	for {
		batch, isDue := s.next()
		if !isDue {
			return
		}
		err := s.send(ctx, batch)
		if err == nil {
			s.e.metrics.sent.Add(float64(len(batch)))
			continue
		}
		s.e.noteVoter(s.node, false)
		s.e.metrics.failed.Add(float64(len(batch) + s.clear()))
		s.e.o.Logger.Debug().Str("peer", s.client.Peer).Str("reason", err.Error()).Int("backends", len(batch)).
			Msg("a hint about failures did not reach a peer")
	}
}

// next removes the backends of the next request from the queue. If no request is due, it ends run.
func (s *sender) next() (batch []registry.ID, isDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for id := range s.queue {
		if size += len(id.String()) + len(separator); len(batch) == maxBackends || size > maxText {
			break
		}
		batch = append(batch, id)
		delete(s.queue, id)
	}
	s.isRunning, s.isProbing = len(batch) > 0 || s.isProbing, false
	return batch, s.isRunning
}

// clear empties the queue and returns the number of its backends.
func (s *sender) clear() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := len(s.queue)
	clear(s.queue)
	return count
}

// send sends a hint, and passes the votes of the peer to the registry.
func (s *sender) send(ctx context.Context, batch []registry.ID) error {
	asking, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	plain, err := s.client.Get(asking, Path+"?"+url.Values{"backends": {formatBackends(batch)}}.Encode())
	if err != nil {
		return err
	}
	answer, err := parseAnswer(plain, len(batch))
	if err != nil {
		return err
	}
	s.e.noteVoter(s.node, answer.Checks)
	if votes := s.e.votesOf(s.node, batch, answer, time.Now()); len(votes) > 0 {
		return s.e.o.Votes(ctx, votes)
	}
	return nil
}

// formatBackends returns the text of backends in a request.
func formatBackends(ids []registry.ID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return strings.Join(texts, separator)
}
