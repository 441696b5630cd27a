package harness

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// keptAnswers bounds the memory of a Watch per node and name: some minutes at the pace used here.
const keptAnswers = 8192

// Watch is a steady client: it queries every node for every name at an even pace and stores the latest answers. Tests
// measure failover only with the answers of a Watch.
type Watch struct {
	// Dial opens its sockets. NewWatch sets the function of a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Patience is the longest wait for an answer while other questions are unanswered as well: all answers are late on
	// a machine that pauses. The wait is at least AnswerBound.
	Patience time.Duration

	pace time.Duration

	mu      sync.Mutex
	answers map[question][]Answer
}

// question is the server and the name of a question of a Watch. All questions are for A records.
type question struct {
	server netip.AddrPort
	name   string
}

// NewWatch prepares a client that queries each node for each name once per pace.
func NewWatch(nodes []*Node, names []string, pace time.Duration) *Watch {
	w := &Watch{Dial: new(net.Dialer).DialContext, pace: pace, answers: map[question][]Answer{}}
	for _, n := range nodes {
		for _, name := range names {
			w.answers[question{n.DNS, name}] = nil
		}
	}
	return w
}

// Run queries until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	var group Group
	w.mu.Lock()
	for q := range w.answers {
		group.Start(func() { w.repeat(ctx, q) })
	}
	w.mu.Unlock()
	group.Wait()
}

func (w *Watch) repeat(ctx context.Context, q question) {
	c := client{server: q.server.String(), dial: w.Dial, patience: w.Patience}
	exchange := func(m *dns.Msg) (*dns.Msg, error) { return c.exchange(ctx, m) }
	tick := time.NewTicker(w.pace)
	defer tick.Stop()
	for {
		a := ask(exchange, q.name)
		if ctx.Err() != nil {
			break
		}
		w.remember(q, a)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	c.close()
}

func (w *Watch) remember(q question, a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.answers[q], a)
	if len(all) > 2*keptAnswers {
		all = slices.Clone(all[len(all)-keptAnswers:])
	}
	w.answers[q] = all
}

// Since returns the answers of a node for a name from the given time on, oldest first.
func (w *Watch) Since(n *Node, name string, from time.Time) []Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.answers[question{n.DNS, name}]
	i, _ := slices.BinarySearchFunc(all, from, func(a Answer, t time.Time) int { return a.At.Compare(t) })
	return slices.Clone(all[i:])
}
