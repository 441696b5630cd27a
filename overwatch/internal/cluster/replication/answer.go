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
	// Path is the API's path for peers, below a node's base URL.
	Path = "/api/v1/replication/objects"
	// holdTime bounds the time for which a request is held open while there is nothing new.
	holdTime = 20 * time.Second
	// spacing is the least time between two answers to a peer, so that a burst of changes goes in few of them.
	spacing = 50 * time.Millisecond
	// displacedRest is the pause before a displaced request is answered, so that two nodes with one id do not ask without
	// end.
	displacedRest = time.Second
	// pageSize bounds the objects of one answer, and maxBody an answer's body, in octets. One object may take more than
	// a page.
	pageSize = 4 << 20
	maxBody  = 64 << 20
)

// Question is one request of a peer.
type Question struct {
	Target   string // path with query, as it was asked
	Since    uint64 // number of the last change that the asker was told of by Instance
	Has      uint64 // number of the last change up to which it has stored all; above Since: that is Since
	Instance string // process of this node that the asker spoke to before, and the asker's clock; see instanceOf
	Hold     bool   // wait while there is nothing new
	// Apart takes the asker's connection out of the API's count until done is called; nil: it counts.
	Apart func() (done func())
}

// message is the plain text of an answer.
type message struct {
	Instance string        `json:"instance"`
	Time     time.Time     `json:"time"` // by the clock of the answerer
	Digest   string        `json:"digest"`
	Has      bool          `json:"has"` // the answerer takes Question.Has
	Offer    replica.Offer `json:"offer"`
	Facts    facts         `json:"facts,omitzero"`
	size     int           // octets of the plain text
}

// visitor is a node that asks this one.
type visitor struct {
	has      uint64 // number of the last change up to which it has stored all
	answered time.Time
	leave    context.CancelFunc // ends the request that is held for it; nil: none
	active   int                // requests that are being answered
}

// Challenge returns the value of WWW-Authenticate for a peer.
func (r *Replication) Challenge() string { return r.server.Challenge() }

// Answer answers a peer by its value of Authorization. Its error may be shown to the asker.
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
		r.knock() // it has just started, or this node has
	}
	if client.Node() == r.o.NodeID && instance == r.instance { // this process never follows itself
		r.noteImpersonated()
	}
	held, state, done := r.receive(ctx, client.Node(), min(q.Has, q.Since))
	defer done()
	if q.Hold {
		if q.Apart != nil {
			defer q.Apart()()
		}
		r.hold(held, state, q.Since)
		if held.Err() != nil {
			r.rest(ctx, displacedRest)
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
		r.o.Logger.Error().Err(err).Str("peer", client.Node()).Msg("a peer cannot be given what operators decided here")
		return "", err
	}
	return sealed, nil
}

// noteImpersonated notes that another node asks with the id of this node.
func (r *Replication) noteImpersonated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.impersonated = time.Now()
}

func (r *Replication) digest() string {
	digest := r.o.Store.Replicas().Digest
	return hex.EncodeToString(digest[:])
}

// receive notes the changes that a node has. An earlier request of that node is held no longer.
func (r *Replication) receive(ctx context.Context, node string, has uint64) (context.Context, *visitor, func()) {
	ctx, leave := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.visitors[node]
	if v == nil {
		v = &visitor{}
		if r.dropVisitor(); len(r.visitors) < maxVisitors {
			r.visitors[node] = v
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

// dropVisitor makes room for another visitor: if there are maxVisitors, it forgets the one that was answered first and
// asks nothing now. The caller holds mu.
func (r *Replication) dropVisitor() {
	if len(r.visitors) < maxVisitors {
		return
	}
	oldest := ""
	for node, v := range r.visitors {
		if v.active == 0 && (oldest == "" || v.answered.Before(r.visitors[oldest].answered)) {
			oldest = node
		}
	}
	delete(r.visitors, oldest)
}

// hold returns when there is something newer than a change, or after holdTime.
func (r *Replication) hold(ctx context.Context, v *visitor, since uint64) {
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
	r.rest(ctx, early)
}

// rest returns after a while, or earlier if ctx or Run ends.
func (r *Replication) rest(ctx context.Context, while time.Duration) {
	if while <= 0 {
		return
	}
	select {
	case <-time.After(while):
	case <-ctx.Done():
	case <-r.ended:
	}
}
