package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/shared/identity"
)

const (
	// firstRetry is the pause after a peer has failed. It doubles with each failure up to lastRetry.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
	// askTimeout bounds one request.
	askTimeout = holdTime + 15*time.Second
	// wholeEvery is the minimum time between two requests for all objects of a peer with different objects.
	wholeEvery = time.Minute
)

// peer is a node from which this node requests changes. Replication.mu guards its fields.
type peer struct {
	url      string
	node     string // authenticated id of the peer; empty: never authenticated
	self     bool   // the peer is this process
	joining  bool
	clocked  bool   // requests to the peer contain the clock of this node
	instance string // process that answered last; empty: the next request is for all objects
	since    uint64 // number of the last change in its answers
	has      uint64 // number of the last change without an earlier rejected change

	certificate identity.KeyID // authenticated key id of its agent-facing certificate; zero: unknown
	serving     []string       // names that it served at its first answer
	whole       time.Time
	retry       chan struct{} // contains a token if the next request must not wait
	refused     bool          // the peer has objects with versions too far ahead of this node's clock
	rejected    int           // number of objects without effect on this node, since the start

	presence   presence
	trail      trail
	connected  bool
	changed    time.Time     // time of the last change of connected
	difference time.Duration // the peer's clock minus this node's clock
	err        error

	unlike    time.Time // time of the first idle exchange with a different digest; zero if the digests are equal
	differing int       // number of different objects in the last exchange of all objects
	first     replica.Key
}

// newHTTPClient returns the HTTP client for requests to peers. transport is nil except in tests.
func newHTTPClient(transport http.RoundTripper, files peerauth.TLSFiles) (*http.Client, error) {
	if transport != nil {
		return peerauth.NewHTTPClient(transport), nil
	}
	t, err := peerauth.NewTransport(files)
	if err != nil {
		return nil, err
	}
	t.MaxIdleConnsPerHost, t.IdleConnTimeout = 2, time.Minute
	return peerauth.NewHTTPClient(t), nil
}

// newClient returns the client for the requests to a peer.
func (r *Replication) newClient(peer string, secret []byte, client *http.Client) *peerauth.Client {
	return &peerauth.Client{Node: r.o.NodeID, Peer: peer, Secret: secret, HTTP: client,
		UserAgent: "gslb-overwatch/replication", MaxBody: maxBody}
}

// pollPeer exchanges changes with a peer until ctx ends, with a pause after each failure.
func (r *Replication) pollPeer(ctx context.Context, p *peer, client *peerauth.Client) {
	limit := newExchangeLimit()
	for failures := 0; ctx.Err() == nil; {
		octets, err := r.exchangeChanges(ctx, p, client)
		if ctx.Err() != nil {
			return
		}
		r.recordOutcome(p, err)
		r.sleep(ctx, limit.countExchange(time.Now(), octets))
		if err == nil && !p.self {
			r.endJoining(ctx, p)
			failures = 0
			continue
		}
		pause := min(lastRetry, firstRetry<<min(failures, 10))
		if failures++; p.self {
			pause = wholeEvery
		}
		select {
		case <-ctx.Done():
		case <-p.retry:
			failures = 0
		case <-time.After(time.Duration(float64(pause) * (0.9 + 0.2*rand.Float64()))):
		}
	}
}

// exchangeChanges requests changes from a peer and merges them. It waits until the peer has a change. It returns the
// number of octets from the peer.
func (r *Replication) exchangeChanges(ctx context.Context, p *peer, client *peerauth.Client) (octets int, err error) {
	r.mu.Lock()
	since, has, instance, clocked := p.since, p.has, p.instance, p.clocked
	wait := p.connected // otherwise the first answer shows that the peer answers
	if p.refused && time.Since(p.whole) >= wholeEvery {
		since, has, instance = 0, 0, ""
	}
	r.mu.Unlock()
	asking, done := r.exchanging(ctx, p)
	defer done()
	m, got, err := r.requestOffer(asking, client, since, has, instance, clocked, wait)
	if err != nil {
		if errors.Is(context.Cause(asking), errLost) {
			err = errLost
		}
		return got.octets, err
	}
	if m.Instance == r.instance {
		r.mu.Lock()
		p.self, p.node = true, m.Offer.Node
		r.mu.Unlock()
		return got.octets, nil
	}
	return got.octets, r.mergeOffer(ctx, p, m)
}

// requestOffer requests all pages of an offer. With an instance and wait, it waits for changes. All requests contain
// the same has (see Question), because the node stores no page until it has received all of them. clocked reports that
// the process with the id instance accepts the clock of this node. The Limit of the offer is the earliest Limit of the
// answers.
func (r *Replication) requestOffer(ctx context.Context, client *peerauth.Client, since, has uint64, instance string,
	clocked, wait bool) (first *message, got gathered, err error) {
	if first, err = r.requestPage(ctx, client, since, has, instance, clocked, wait && instance != ""); err != nil {
		return nil, got, err
	}
	if first.Instance != instance {
		since, has = 0, 0
	}
	if err := got.add(first, since); err != nil {
		return nil, got, err
	}
	for first.Offer.More && first.Instance != r.instance {
		if since = first.Offer.Changes; !first.Has {
			has = since
		}
		next, err := r.requestPage(ctx, client, since, has, first.Instance, first.Offer.Final != nil, false)
		if err != nil {
			return nil, got, err
		}
		if next.Instance != first.Instance {
			return nil, got, errors.New("it restarted while it answered")
		}
		if err := got.add(next, since); err != nil {
			return nil, got, err
		}
		next.Offer.Objects = append(first.Offer.Objects, next.Offer.Objects...)
		next.Offer.Whole, next.Facts = first.Offer.Whole, first.Facts
		if first.Offer.Limit.Before(next.Offer.Limit) {
			next.Offer.Limit = first.Offer.Limit
		}
		first = next
	}
	return first, got, nil
}

// requestPage sends a request. A node of an earlier version (message.Has is false) rejects a request with has and
// since.
func (r *Replication) requestPage(ctx context.Context, client *peerauth.Client, since, has uint64, instance string,
	clocked, hold bool) (*message, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	told := askerClock{r.o.Store.Now(), r.o.Store.Limit()}
	if clocked || instance == "" {
		instance = clockedInstance(instance, told)
	}
	query := url.Values{"since": {strconv.FormatUint(since, 10)}, "instance": {instance},
		"hold": {strconv.FormatBool(hold)}}
	if has != since {
		query.Set("has", strconv.FormatUint(has, 10))
	}
	plain, err := client.Get(ctx, Path+"?"+query.Encode())
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("no complete answer within %s", askTimeout)
		}
		return nil, err
	}
	m, err := parseMessage(plain)
	if err == nil {
		m.Offer.Limit = told.limit
	}
	return m, err
}

// parseMessage reads the plain text of an answer.
func parseMessage(plain []byte) (*message, error) {
	m := message{size: len(plain)}
	var body struct {
		*message
		Offer struct {
			*replica.Offer
			Objects objects `json:"objects"`
		} `json:"offer"`
	}
	body.message, body.Offer.Offer = &m, &m.Offer
	switch err := json.Unmarshal(plain, &body); {
	case errors.Is(err, errPageObjects):
		return nil, err
	case err != nil || len(m.Instance) > maxInstance:
		return nil, errors.New("its answer cannot be read: run the same major version on all nodes")
	}
	if m.Offer.Objects = body.Offer.Objects; m.Offer.Final != nil {
		if node := m.Offer.Final.Node; node != "" && !replica.IsNode(node) {
			return nil, fmt.Errorf("the latest version that it knows has the node id %.64q: it must be 1 to %d octets that can "+
				"be printed", node, replica.MaxNode)
		}
	}
	if !replica.IsNode(m.Offer.Node) {
		return nil, fmt.Errorf("its node id is %.64q: it must be 1 to %d octets that can be printed", m.Offer.Node,
			replica.MaxNode)
	}
	return &m, nil
}

// mergeOffer merges the offer of a peer into the store and applies it.
func (r *Replication) mergeOffer(ctx context.Context, p *peer, m *message) error {
	difference := m.Time.Sub(r.o.Store.Now())
	r.settleClock(m.Time)
	r.merging.Lock()
	defer r.merging.Unlock()
	merged, err := r.mergeInParts(p, m.Offer)
	r.noteRejected(p, m.Offer.Node, m.Offer.Whole, &merged)
	r.applyMerged(ctx, m.Offer.Node, merged)
	if err != nil {
		return err
	}
	if !m.Offer.Joining && m.Digest == r.digest() && time.Since(r.met) >= replica.MeetEvery {
		if err := r.o.Store.MetReplicas(); err != nil {
			return err
		}
		r.met = time.Now()
	}
	joining := r.o.Store.Replicas().Joining
	differing, firstDiffering := 0, replica.Key{}
	if m.Offer.Whole && m.Digest != r.digest() {
		differing, firstDiffering = r.o.Store.Differences(m.Offer.Objects)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.self, p.node, p.difference, p.clocked = false, m.Offer.Node, difference, m.Offer.Final != nil
	p.joining = m.Offer.Joining && !m.Offer.Unsettled
	m.Facts.recordIn(p)
	restarted := p.instance != m.Instance
	p.instance, p.since = m.Instance, m.Offer.Changes
	if m.Offer.Whole {
		p.whole, p.refused = time.Now(), false
	}
	p.refused = p.refused || len(merged.Refused)+len(merged.Postponed) > 0
	switch {
	case !p.refused || !m.Has:
		p.has = p.since
	case restarted:
		p.has = 0
	}
	unlike := m.Digest != r.digest()
	switch {
	case !unlike:
		p.unlike, p.differing = time.Time{}, 0
	case m.Offer.Whole:
		p.differing, p.first = differing, firstDiffering
	case len(m.Offer.Objects) == 0 && p.unlike.IsZero():
		p.unlike = time.Now()
	}
	idle := len(m.Offer.Objects) == 0 && unlike && time.Since(p.whole) >= wholeEvery
	if !m.Offer.Whole && (idle || restarted || joining && !m.Offer.Joining) {
		p.instance, p.since, p.has = "", 0, 0 // a message was lost: request all objects
	}
	return nil
}

// applyMerged applies merged objects and logs them. The caller holds merging.
func (r *Replication) applyMerged(ctx context.Context, from string, m replica.Merged) {
	held := make(map[replica.Key]replica.Version)
	for i := range m.Rejected {
		held[m.Rejected[i].Object.Key] = m.Rejected[i].Object.Version
	}
	keys := make([]replica.Key, 0, len(m.Taken)+len(m.Dropped))
	for _, list := range [][]replica.Object{m.Taken, m.Dropped} {
		for i := range list {
			if held[list[i].Key] != list[i].Version {
				keys = append(keys, list[i].Key)
			}
		}
	}
	if len(keys) > 0 {
		r.enforceMerged(ctx, keys)
		r.o.Logger.Debug().Str("peer", from).Int("objects", len(keys)).Msg("objects of another node were stored")
	}
	if len(m.Postponed) > 0 {
		r.o.Logger.Warn().Str("peer", from).Int("objects", len(m.Postponed)).Msg("old objects are not stored before the " +
			"clocks of this node and a peer agree: they may have been deleted here; set the clocks")
	}
	if len(m.Dropped) > 0 {
		r.o.Logger.Warn().Str("peer", from).Int("objects", len(m.Dropped)).Msg("this node was away for longer than " +
			"deletions are stored: objects that the other nodes no longer have were deleted")
	}
	for i := range m.Refused[:min(len(m.Refused), maxRejections)] {
		o := &m.Refused[i]
		r.o.Logger.Warn().Str("peer", from).Str("kind", o.Kind).Str("name", o.Name).Stringer("version", o.Version).
			Msg("an object was refused: its version is more than five minutes ahead of this node's clock; set the clocks")
	}
}

// endJoining ends the joining state of this node if all of its peers are joining. It then requests all objects of all
// peers.
func (r *Replication) endJoining(ctx context.Context, p *peer) {
	if figures := r.o.Store.Replicas(); !figures.Joining || !figures.Settled || !r.allJoining() {
		return
	}
	settings := r.settings.Get()
	client, err := newHTTPClient(r.o.Transport, settings.TLS)
	if err != nil {
		return
	}
	defer client.CloseIdleConnections()
	var offers []replica.Offer
	for _, url := range settings.Peers {
		client := r.newClient(url, settings.Secret, client)
		m, _, err := r.requestOffer(ctx, client, 0, 0, "", true, false)
		switch {
		case err != nil || m.Instance != r.instance && (!m.Offer.Joining || m.Offer.Unsettled):
			return // another round will determine it
		case m.Instance != r.instance:
			offers = append(offers, m.Offer)
		}
	}
	r.merging.Lock()
	defer r.merging.Unlock()
	if len(offers) == 0 || !r.o.Store.Replicas().Joining {
		return
	}
	merged, err := r.o.Store.BeginReplicas(offers, r.entriesOf(p, p.node))
	if err != nil {
		r.recordOutcome(p, err)
		return
	}
	r.noteRejected(p, p.node, true, &merged)
	r.applyMerged(ctx, p.node, merged)
	r.o.Logger.Info().Int("peers", len(offers)).Msg("all nodes have met for the first time, or after a long time")
}

// allJoining reports whether all peers have answered and are joining.
func (r *Replication) allJoining() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if !p.self && (!p.connected || !p.joining) {
			return false
		}
	}
	return len(r.peers) > 0
}
