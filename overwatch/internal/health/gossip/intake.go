package gossip

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	// maxShards is the maximum number of workers for heartbeats and transitions: with more workers, the registry is the
	// bottleneck. At most half of the cores, rounded up, have workers, because DNS needs the other cores during a flood.
	maxShards = 4
	// enrolWorkers is the maximum number of concurrent Enrols, which wait for shared writes to the disk. Package trust
	// limits their CPU usage.
	enrolWorkers = 512
)

// intake distributes messages of agents to workers. All messages of an agent have the same worker, so the registry
// receives them in order. Enrols have separate workers, since they wait for the disk; an agent sends no other message
// before the answer.
type intake struct {
	drops  *drops
	shards []*queue
	enrol  *queue
}

func newIntake(drops *drops) *intake {
	in := &intake{drops: drops, enrol: newQueue(), shards: make([]*queue, min(maxShards, (runtime.GOMAXPROCS(0)+1)/2))}
	for i := range in.shards {
		in.shards[i] = newQueue()
	}
	return in
}

// deliver adds a message to the queue that the unverified type and key id of its header select. It does not block, and
// retains the message.
func (in *intake) deliver(message []byte, from origin) {
	sealed, err := identity.Parse(message)
	if err != nil || len(message) > wire.MaxMessage {
		in.drops.count(dropEnvelope, from.addr)
		return
	}
	a := arrival{message: message, head: sealed.Envelope, from: from, at: time.Now()}
	a.head.Payload = nil
	q, urgent := in.shards[int(a.head.KeyID[0])%len(in.shards)], true
	switch wire.Type(a.head.Type) {
	case wire.TypeTransition, wire.TypeDeregister, wire.TypeSignal, wire.TypeDrain:
	case wire.TypeEnrol:
		q = in.enrol
	default:
		urgent = false
	}
	if fault := q.add(a, urgent); fault != frame.None {
		in.drops.count(fault, from.addr)
	}
}

// run handles queued messages until ctx ends.
func (in *intake) run(ctx context.Context, g *errgroup.Group, handle func(context.Context, arrival)) {
	worker := func(q *queue) func() error {
		return func() error {
			for {
				a, ok := q.waitForMessage(ctx)
				if !ok {
					return nil
				}
				handle(ctx, a)
			}
		}
	}
	for _, q := range in.shards {
		g.Go(worker(q))
	}
	for range enrolWorkers {
		g.Go(worker(in.enrol))
	}
}

// depths returns the numbers of queued messages by class.
func (in *intake) depths() (enrol, urgent, plain int) {
	enrol, _ = in.enrol.depths()
	for _, q := range in.shards {
		u, p := q.depths()
		urgent, plain = urgent+u, plain+p
	}
	return enrol, urgent, plain
}
