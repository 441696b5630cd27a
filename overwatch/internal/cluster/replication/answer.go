package replication

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

const (
	// Path is the path of replication in the API, relative to a node's base URL.
	Path = "/api/v1/replication/objects"
	// holdTime is the maximum time that a request waits for a change.
	holdTime = 20 * time.Second
	// spacing is the minimum time between two answers to a peer. A burst of changes therefore needs few answers.
	spacing = 50 * time.Millisecond
	// displacedRest is the delay of the answer to a displaced request. It limits the request rate of two nodes with the
	// same id.
	displacedRest = time.Second
	// pageSize is the maximum size of the objects in an answer, and maxBody the maximum size of the body, in octets. A
	// page may contain a single larger object.
	pageSize = 4 << 20
	maxBody  = 64 << 20
)

// Question is a request of a peer.
type Question struct {
	Target   string // path with query, as received
	Since    uint64 // number of the last change that the peer has received from Instance
	Has      uint64 // number of the last change up to which the peer has stored all changes; above Since: equal to Since
	Instance string // process of this node that answered the previous request, and the clock of the peer; see instanceOf
	Hold     bool   // wait for a change
	// Apart excludes the connection of the peer from the connection limit of the API until done is called. nil: the
	// connection is included.
	Apart func() (done func())
}

// message is the plain text of an answer.
type message struct {
	Instance string        `json:"instance"`
	Time     time.Time     `json:"time"` // according to the answering node
	Digest   string        `json:"digest"`
	Has      bool          `json:"has"` // the answering node supports Question.Has
	Offer    replica.Offer `json:"offer"`
	Facts    facts         `json:"facts,omitzero"`
	size     int           // size of the plain text in octets
}

// poller is a node that polls this node.
type poller struct {
	has      uint64 // number of the last change up to which the node has stored all changes
	answered time.Time
	leave    context.CancelFunc // ends the waiting request of the node; nil: none
	active   int                // number of requests in progress
}

// Challenge returns the value of WWW-Authenticate for a peer.
func (r *Replication) Challenge() string { return r.server.Challenge() }

// Answer answers a peer, given its value of Authorization. Clients may receive the error.
func (r *Replication) Answer(ctx context.Context, q Question, authorization string) (sealed string, err error) {
	settings := r.settings.Get()
	if off := settings.Off(); off != nil {
		return "", fmt.Errorf("this node replicates nothing: %w", off)
	}
	client, err := r.server.Authenticate([][]byte{settings.Secret}, q.Target, authorization)
	if err != nil {
		return "", err
	}
	instance, clock := instanceOf(q.Instance)
	limit := r.compareClock(client.Node(), clock)
	if instance != r.instance {
		q.Since, q.Hold = 0, false
		r.retryFailedPeers() // the peer or this node has just started
	}
	if client.Node() == r.o.NodeID && instance == r.instance { // this process does not poll its own node
		r.noteImpersonated()
	}
	held, state, done := r.registerPoll(ctx, client.Node(), min(q.Has, q.Since))
	defer done()
	if q.Hold {
		if q.Apart != nil {
			defer q.Apart()()
		}
		r.waitForChange(held, state, q.Since)
		if held.Err() != nil {
			r.sleep(ctx, displacedRest)
		}
	}
	offer, err := r.o.Store.Page(q.Since, r.o.PageSize, limit)
	if err == nil {
		m := message{Instance: r.instance, Digest: r.digest(), Has: true, Offer: offer, Time: r.o.Store.Now(),
			Facts: r.facts(instance != r.instance)}
		var plain []byte
		if plain, err = json.Marshal(&m); err == nil {
			sealed, err = client.Seal(plain)
		}
	}
	if err != nil {
		r.o.Logger.Error().Err(err).Str("peer", client.Node()).Msg("sending changes to a peer failed")
		return "", err
	}
	return sealed, nil
}

// noteImpersonated records a request of another node that uses the id of this node.
func (r *Replication) noteImpersonated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.impersonated = time.Now()
}

func (r *Replication) digest() string {
	digest := r.o.Store.Replicas().Digest
	return hex.EncodeToString(digest[:])
}

// registerPoll records the last change that a node has stored, and ends the waiting request of the node.
func (r *Replication) registerPoll(ctx context.Context, node string, has uint64) (context.Context, *poller, func()) {
	ctx, leave := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.pollers[node]
	if v == nil {
		v = &poller{}
		if r.dropPoller(); len(r.pollers) < maxPollers {
			r.pollers[node] = v
		}
	}
	if v.leave != nil {
		v.leave()
	}
	v.has, v.leave = has, leave
	v.active++
	r.signalNews()
	return ctx, v, func() {
		leave()
		r.mu.Lock()
		defer r.mu.Unlock()
		v.answered = time.Now()
		v.active--
	}
}

// dropPoller makes room for another poller. If there are maxPollers, it deletes the poller with the oldest answer among
// the pollers without a request in progress. The caller holds mu.
func (r *Replication) dropPoller() {
	if len(r.pollers) < maxPollers {
		return
	}
	oldest := ""
	for node, v := range r.pollers {
		if v.active == 0 && (oldest == "" || v.answered.Before(r.pollers[oldest].answered)) {
			oldest = node
		}
	}
	delete(r.pollers, oldest)
}

// waitForChange returns when there is a later change than since, or after holdTime.
func (r *Replication) waitForChange(ctx context.Context, v *poller, since uint64) {
	ctx, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	figures := r.o.Store.Replicas()
	if figures.Changes == since {
		select {
		case <-figures.Next:
		case <-ctx.Done():
			return
		case <-r.ended:
			return
		}
	}
	r.mu.Lock()
	early := spacing - time.Since(v.answered)
	r.mu.Unlock()
	r.sleep(ctx, early)
}

// sleep returns after a duration, or earlier if ctx or Run ends.
func (r *Replication) sleep(ctx context.Context, while time.Duration) {
	if while <= 0 {
		return
	}
	select {
	case <-time.After(while):
	case <-ctx.Done():
	case <-r.ended:
	}
}
