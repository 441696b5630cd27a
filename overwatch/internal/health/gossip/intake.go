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
	// maxShards bounds the workers for heartbeats and transitions: with more, the registry's one writer is the limit. They
	// are never more than half of the cores, rounded up, since DNS needs the others during a flood.
	maxShards = 4
	// enrolWorkers bounds the agents that are pinned at a time. They wait for the disk, where all that wait share a write;
	// trust bounds how many use the processor.
	enrolWorkers = 512
)

// intake sorts agents' messages to workers. An agent's messages always go to the same worker, so a later one never
// overtakes an earlier one on the way into the registry. Enrolments have workers of their own, because they wait for
// the disk; an agent says nothing else before it has the answer.
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

// deliver queues a message by the type and key id in its header, which are not believed yet. It never blocks, and keeps
// the message.
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
	if fault := q.put(a, urgent); fault != frame.None {
		in.drops.count(fault, from.addr)
	}
}

// run handles what is queued until ctx ends.
func (in *intake) run(ctx context.Context, g *errgroup.Group, handle func(context.Context, arrival)) {
	worker := func(q *queue) func() error {
		return func() error {
			for {
				a, ok := q.take(ctx)
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

// waiting returns how many messages wait, by lane.
func (in *intake) waiting() (enrol, urgent, plain int) {
	enrol, _ = in.enrol.depths()
	for _, q := range in.shards {
		u, p := q.depths()
		urgent, plain = urgent+u, plain+p
	}
	return enrol, urgent, plain
}
