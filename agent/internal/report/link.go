package report

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	// maxTasks is the number of streams of one link that may be open at a time.
	maxTasks = 4
	// inboxSize is the number of answers that may wait.
	inboxSize = 64
	// lostPings is the number of unanswered pings in a row after which datagrams count as blocked.
	lostPings = 3
)

// link is the conversation with one overwatch node. Its fields belong to the goroutine of run, unless they say
// otherwise.
//
//	no session --Hello--> session --Enrol, Ack--> enrolled: heartbeats and transitions
//
//	Hello is due     at the start, after a failure (backoff), when a ping's answer or a Reject shows another
//	                 process of the node, and every interval while datagrams are blocked
//	Enrol is due     after a Hello that found another process, after each unanswered one (backoff), after a
//	                 Reject (backoff), after an Ack that refuses a service as not enrolled (backoff), when the
//	                 configuration was read again, and when heartbeats stay unacknowledged although pings are answered
//	heartbeat is due at once after the Enrol's Ack or after a cut has healed, then every interval; it goes by
//	                 datagram if it fits, and again as a stream if it is not acknowledged in time
//	lost             no Hello succeeds, and no ping is answered or the certificate is not the pinned one:
//	                 nothing is sent but Hello and pings
type link struct {
	*self
	address string
	epoch   uint64 // of this link's messages
	peer    peer
	dial    func(*link) (peer, error) // makes the peer of another link to the same node
	pins    *pins
	metrics *metrics
	logger  zerolog.Logger

	pending *pending    // any goroutine
	status  status      // any goroutine
	inbox   chan []byte // any goroutine: sealed answers
	wake    chan struct{}
	warned  atomic.Bool // any goroutine: warnings have changed
	drained atomic.Bool // any goroutine: a drain has begun
	restate atomic.Bool // any goroutine: there are other backends
	reprove atomic.Bool // any goroutine: the tokens are to be proved again
	// introduced is the node's new certificate, from another node; any goroutine
	introduced atomic.Pointer[introduction]
	pongs      chan pong
	done       chan func(now time.Time) // what to do after a finished task
	tasks      int                      // under way
	others     sync.WaitGroup           // goroutines beside that of run

	session *session // nil before the first Hello
	contact contact
	pings   pings
	beat    beat
	refused rejections
	// duplicate is true while the node reports another agent process with this agent's identity.
	duplicate bool
	renewAt   uint64 // the epoch that the node requires; 0: none
}

// session is one process of the node, as its Hello proved.
type session struct {
	node  *identity.Certificate
	hello wire.Hello
	boot  identity.Nonce
	// authenticate heartbeats and their Acks instead of signatures; nil: a later process has the session
	keys *identity.Session

	enrolled  bool
	reporting bool      // heartbeats and transitions may be sent
	enrolFrom uint64    // sequence number of the first Enrol
	enrolAt   time.Time // when to send the next; zero: not needed
	unheard   int       // Enrols since the last answer to one
	retry     backoff   // after rejections
}

func newLink(agent *self, address string, pins *pins, metrics *metrics) *link {
	l := &link{
		self: agent, address: address, epoch: agent.options.Epoch, pins: pins, metrics: metrics,
		logger:  agent.options.Logger.With().Str("node", address).Logger(),
		pending: newPending(), inbox: make(chan []byte, inboxSize), wake: make(chan struct{}, 1), pongs: make(chan pong),
		done:    make(chan func(time.Time), maxTasks), // never blocks: a task counts until its function is taken
		contact: contact{retry: backoff{first: helloSpread}},
	}
	l.status.state = NodeState{Address: address, Path: pathUDP, Since: time.Now()}
	metrics.appear(address)
	return l
}

// hear queues a sealed answer. It drops the answer if inboxSize answers wait.
func (l *link) hear(message []byte) {
	select {
	case l.inbox <- message:
	default:
	}
}

// changed queues a backend's change and wakes the link.
func (l *link) changed(b wire.Backend) {
	l.pending.put(b, time.Now())
	l.hurry()
}

// hurry wakes the link.
func (l *link) hurry() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run talks to the node until ctx ends, then sends the goodbye and returns nil. If the node requires a later epoch, run
// returns a link that has it, and the caller must run that link.
func (l *link) run(ctx context.Context) (next *link) {
	pinging, stop := context.WithCancel(ctx)
	defer stop()
	l.others.Go(func() { l.keepPinging(pinging) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			l.farewell()
			return nil
		case <-timer.C:
		case <-l.wake:
		case message := <-l.inbox:
			l.answer(message, time.Now())
		case p := <-l.pongs:
			l.pong(p, time.Now())
		case finish := <-l.done:
			finish(time.Now())
		}
		if next := l.successor(); next != nil {
			return next
		}
		l.act(ctx, time.Now())
		timer.Reset(l.wait(time.Now()))
	}
}

// act does everything that is due.
func (l *link) act(ctx context.Context, now time.Time) {
	if in := l.introduced.Swap(nil); in != nil && l.acceptIntroduction(in) {
		l.contact.retry.reset()
		l.contact.at = now
	}
	if due(l.contact.at, now) || l.session == nil && l.contact.at.IsZero() {
		l.sayHello(ctx, now)
	}
	s := l.session
	if s == nil || l.contact.lost {
		return
	}
	l.sendUrgent(now)
	if due(s.enrolAt, now) {
		l.enrolNow(now)
	}
	if due(l.beat.repeat, now) {
		l.repeatBeat(now)
	}
	if due(l.beat.deadline, now) {
		l.unacknowledged(now)
	}
	if s.reporting && due(l.beat.at, now) {
		l.sendBeat(now, false)
	}
	if s.reporting {
		l.pending.due(now, l.sendTransition)
	}
}

// due reports whether a time is set and has come.
func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// wait returns the time until something is due, at most a minute.
func (l *link) wait(now time.Time) time.Duration {
	next := now.Add(time.Minute)
	sooner := func(at time.Time) {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	if !l.contact.busy {
		sooner(l.contact.at)
	}
	if s := l.session; s != nil && !l.contact.lost {
		sooner(s.enrolAt)
		sooner(l.beat.repeat)
		sooner(l.beat.deadline)
		if s.reporting {
			sooner(l.beat.at)
			if at, ok := l.pending.earliest(); ok {
				sooner(at)
			}
		}
	}
	return max(next.Sub(now), time.Millisecond)
}

// task runs f in a goroutine, then finish, with f's error, in the link's goroutine. It returns
// false and does nothing if maxTasks tasks are running.
func (l *link) task(f func() error, finish func(err error, now time.Time)) bool {
	if l.tasks >= maxTasks {
		return false
	}
	l.tasks++
	l.others.Go(func() {
		err := f()
		l.done <- func(now time.Time) {
			l.tasks--
			finish(err, now)
		}
	})
	return true
}

// close ends all tasks.
func (l *link) close() {
	l.strangers.remove(l.address)
	l.peer.close()
	l.others.Wait()
}
