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
	// maxTasks is the maximum number of open streams of a link.
	maxTasks = 4
	// inboxSize is the maximum number of queued answers.
	inboxSize = 64
	// lostPings is the number of consecutive unanswered pings after which datagrams are treated as blocked.
	lostPings = 3
)

// link is the conversation with an overwatch node. The goroutine of run owns its fields, except for fields with another
// comment.
//
//	no session --Hello--> session --Enrol, Ack--> enrolled: heartbeats and transitions
//
//	Hello      at the start; after a failure, with backoff; when a Reject or the answer to a ping shows another
//	           process of the node; and every interval while datagrams are blocked
//	Enrol      after a Hello of another process; with backoff after an unanswered Enrol, a Reject, or an Ack
//	           that refuses a service as not enrolled; after a reload of the configuration; and when heartbeats
//	           stay unacknowledged although pings are answered
//	heartbeat  after the Ack to an Enrol or the end of a network failure, then every interval; as a datagram if
//	           it fits, repeated as a stream without an Ack in time
//	lost       without a successful Hello and an answered ping, or with a certificate that differs from the pin:
//	           only Hello and pings are sent
type link struct {
	*self
	address string
	epoch   uint64 // of this link's messages
	peer    peer
	dial    func(*link) (peer, error) // returns the peer of another link to the same node
	pins    *pins
	metrics *metrics
	logger  zerolog.Logger

	pending *pending    // any goroutine
	status  status      // any goroutine
	inbox   chan []byte // any goroutine: sealed answers
	wake    chan struct{}
	warned  atomic.Bool // any goroutine: warnings changed
	drained atomic.Bool // any goroutine: a drain has begun
	restate atomic.Bool // any goroutine: the set of backends changed
	reprove atomic.Bool // any goroutine: the tokens must be proved
	// introduced is the node's new certificate, from another node; any goroutine
	introduced atomic.Pointer[introduction]
	pongs      chan pong
	done       chan func(now time.Time) // functions of finished tasks
	tasks      int                      // running
	others     sync.WaitGroup           // other goroutines of the link

	session *session // nil before the first Hello
	contact contact
	pings   pings
	beat    beat
	refused rejections
	// duplicate is true while the node reports another agent process with this agent's identity.
	duplicate bool
	renewAt   uint64 // epoch that the node requires; 0: none
}

// session is a process of the node, proved by its Hello.
type session struct {
	node  *identity.Certificate
	hello wire.Hello
	boot  identity.Nonce
	// authenticate heartbeats and their Acks instead of signatures; nil if a later process has the session
	keys *identity.Session

	enrolled  bool
	reporting bool      // heartbeats and transitions may be sent
	enrolFrom uint64    // sequence number of the first Enrol
	enrolAt   time.Time // time of the next Enrol; zero for no Enrol
	unheard   int       // Enrols since the last answer
	retry     backoff   // after rejections
}

func newLink(agent *self, address string, pins *pins, metrics *metrics) *link {
	l := &link{
		self: agent, address: address, epoch: agent.options.Epoch, pins: pins, metrics: metrics,
		logger:  agent.options.Logger.With().Str("node", address).Logger(),
		pending: newPending(), inbox: make(chan []byte, inboxSize), wake: make(chan struct{}, 1), pongs: make(chan pong),
		done:    make(chan func(time.Time), maxTasks), // does not block: a task ends when its function is received
		contact: contact{retry: backoff{first: helloSpread}},
	}
	l.status.state = NodeState{Address: address, Path: pathUDP, Since: time.Now()}
	metrics.appear(address)
	return l
}

// queueAnswer queues a sealed answer. It drops the answer if inboxSize answers are queued.
func (l *link) queueAnswer(message []byte) {
	select {
	case l.inbox <- message:
	default:
	}
}

// queueChange queues a change of a backend and wakes the link.
func (l *link) queueChange(b wire.Backend) {
	l.pending.addChange(b, time.Now())
	l.wakeUp()
}

// wakeUp wakes the goroutine of run.
func (l *link) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run exchanges messages with the node until ctx ends, then deregisters and returns nil. If the node requires a later
// epoch, run returns a link with the later epoch, and the caller must run this link.
func (l *link) run(ctx context.Context) (next *link) {
	pinging, stop := context.WithCancel(ctx)
	defer stop()
	l.others.Go(func() { l.pingRegularly(pinging) })
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
			l.handlePong(p, time.Now())
		case finish := <-l.done:
			finish(time.Now())
		}
		if next := l.successor(); next != nil {
			return next
		}
		l.runDueSteps(ctx, time.Now())
		timer.Reset(l.timeToNextStep(time.Now()))
	}
}

// runDueSteps performs all steps with a due time that has passed.
func (l *link) runDueSteps(ctx context.Context, now time.Time) {
	if in := l.introduced.Swap(nil); in != nil && l.acceptIntroduction(in) {
		l.contact.retry.reset()
		l.contact.at = now
	}
	if hasCome(l.contact.at, now) || l.session == nil && l.contact.at.IsZero() {
		l.sayHello(ctx, now)
	}
	s := l.session
	if s == nil || l.contact.lost {
		return
	}
	l.sendUrgent(now)
	if hasCome(s.enrolAt, now) {
		l.enrolNow(now)
	}
	if hasCome(l.beat.repeat, now) {
		l.repeatHeartbeat(now)
	}
	if hasCome(l.beat.deadline, now) {
		l.handleMissingAck(now)
	}
	if s.reporting && hasCome(l.beat.at, now) {
		l.sendHeartbeat(now, false)
	}
	if s.reporting {
		l.pending.sendDue(now, l.sendTransition)
	}
}

// hasCome reports whether a time is set and is not after now.
func hasCome(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// timeToNextStep returns the time until the next step, at most a minute.
func (l *link) timeToNextStep(now time.Time) time.Duration {
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
			if at, ok := l.pending.nextTime(); ok {
				sooner(at)
			}
		}
	}
	return max(next.Sub(now), time.Millisecond)
}

// startTask runs f in a goroutine, and then finish with the error of f in the link's goroutine. If maxTasks tasks are
// running, it runs neither and returns false.
func (l *link) startTask(f func() error, finish func(err error, now time.Time)) bool {
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
