package replication

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// probeEvery is the interval of probes of a peer, and the timeout of a probe.
	probeEvery = 1200 * time.Millisecond
	// lostMisses and lostAfter define a lost peer: lostMisses probes have failed, and the last contact was more than
	// lostAfter ago. The loss of a peer is detected within 5 s.
	lostMisses = 2
	lostAfter  = 3 * time.Second
	// sharedFor is the time for which this node remembers a request of another node with the same id. The other node polls
	// about every holdTime.
	sharedFor = 3 * holdTime
)

// errLost ends the exchange with a peer that does not answer probes.
var errLost = errors.New("it does not answer")

// presence is the reachability of a peer according to probes and exchanges. Replication.mu guards it.
type presence struct {
	since  time.Time // time of the first probe
	seen   time.Time // last contact; zero: never
	back   time.Time // last time at which a lost peer answered again; zero: never
	misses int       // number of failed probes since the last contact
	err    error     // error of the last probe
	abort  context.CancelCauseFunc
}

// lost reports whether the peer is lost. A peer without any contact has more time, because it may still be starting.
func (p *presence) lost(now time.Time) bool {
	if p.seen.IsZero() {
		return p.misses >= lostMisses && now.Sub(p.since) >= patience
	}
	return p.misses >= lostMisses && now.Sub(p.seen) >= lostAfter
}

// watch probes a peer until ctx ends. A probe is a request without authentication, which needs no encryption.
func (r *Replication) watch(ctx context.Context, p *peer, client *http.Client) {
	r.mu.Lock()
	p.presence.since = time.Now()
	r.mu.Unlock()
	for ctx.Err() == nil {
		began := time.Now()
		if !r.isSelf(p) {
			r.noteProbe(p, probe(ctx, client, p.url))
		}
		r.sleep(ctx, probeEvery-time.Since(began))
	}
}

func (r *Replication) isSelf(p *peer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.self
}

// probe requests a challenge from a peer. Any answer shows that the peer is running.
func probe(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, probeEvery)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+Path, nil)
	if err != nil {
		return fmt.Errorf("its address: %w", err)
	}
	req.Header.Set("User-Agent", "gslb-overwatch/replication")
	resp, err := client.Do(req)
	if err != nil {
		client.CloseIdleConnections()
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10)) // allows reuse of the connection
	return nil
}

// noteProbe records the result of a probe. When a peer becomes lost, or answers after it was lost, noteProbe cancels
// the exchange with the peer, and the next exchange starts from scratch.
func (r *Replication) noteProbe(p *peer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	before := p.presence.lost(now)
	if p.presence.err = err; err != nil {
		p.presence.misses++
	} else {
		p.presence.misses, p.presence.seen = 0, now
	}
	after := p.presence.lost(now)
	switch {
	case after && !before:
		r.o.Logger.Warn().Str("peer", cmp.Or(p.node, p.url)).Time("last_seen", p.presence.seen).
			Msg("the peer is lost: it does not answer")
	case before && !after:
		p.presence.back = now
		r.o.Logger.Info().Str("peer", cmp.Or(p.node, p.url)).Msg("the peer is back")
		select {
		case p.retry <- struct{}{}:
		default:
		}
	default:
		return
	}
	if p.presence.abort != nil {
		p.presence.abort(errLost)
	}
	r.signalNews()
}

// exchanging returns a context for one exchange with a peer. The context ends if the peer becomes lost.
func (r *Replication) exchanging(ctx context.Context, p *peer) (context.Context, func()) {
	ctx, abort := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	p.presence.abort = abort
	return ctx, func() {
		abort(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		p.presence.abort = nil
	}
}

// LostPeer is a peer that does not answer.
type LostPeer struct {
	Node, URL string // Node is empty if the peer has never authenticated
	Since     time.Time
	Lacks     int  // number of this node's objects that the peer lacks
	Joining   bool // this node waits for the peer
}

// Lost lists the peers that do not answer.
func (r *Replication) Lost() (list []LostPeer) {
	joining := r.o.Store.Replicas().Joining
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p.self || !p.presence.lost(time.Now()) {
			continue
		}
		one := LostPeer{Node: p.node, URL: p.url, Since: p.presence.seen, Lacks: r.behind(p), Joining: joining}
		if one.Since.IsZero() {
			one.Since = p.presence.since
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b LostPeer) int { return cmp.Compare(a.URL, b.URL) })
	return list
}

// Answers reports whether the node with an id is a peer that answers.
func (r *Replication) Answers(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p.node == node && !p.presence.lost(time.Now()) {
			return true
		}
	}
	return false
}

// SharedID is a node id that two running nodes use.
type SharedID struct {
	Node string
	Own  bool     // it is the id of this node
	URLs []string // known URLs of the other nodes
}

// SharedIDs lists the node ids that two running nodes use: this node and a peer, or two peers. Each result contains the
// known URLs of these peers.
func (r *Replication) SharedIDs() (list []SharedID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := map[string]*peer{}
	shared := map[string][]string{}
	for _, p := range r.peers {
		switch other := first[p.node]; {
		case p.self || !p.connected || p.node == "":
		case p.node == r.o.NodeID:
			shared[p.node] = append(shared[p.node], p.url)
		case other == nil:
			first[p.node] = p
		case other.instance != p.instance && other.instance != "" && p.instance != "":
			shared[p.node] = append(shared[p.node], other.url, p.url)
		}
	}
	if _, known := shared[r.o.NodeID]; !known && time.Since(r.impersonated) < sharedFor {
		shared[r.o.NodeID] = nil
	}
	for node, urls := range shared {
		slices.Sort(urls)
		list = append(list, SharedID{Node: node, Own: node == r.o.NodeID, URLs: slices.Compact(urls)})
	}
	slices.SortFunc(list, func(a, b SharedID) int { return cmp.Compare(a.Node, b.Node) })
	return list
}
