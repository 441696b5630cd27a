// Package resolve resolves host names to addresses. It queries resolvers for A and AAAA records, repeats the queries
// when the TTL has expired, and retains the last addresses of a name while its resolvers fail. Agents and overwatch
// nodes use it for targets; nodes also send single queries with Ask. The callers decide which addresses are permitted.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// atOnce bounds the number of concurrently resolved names.
const atOnce = 16

// Exchange is a function that sends a DNS query to a server, an address with port, such as Ask.
type Exchange func(ctx context.Context, server, name string, kind uint16, recursive bool) (*dns.Msg, error)

// Options are the parameters of a Book. All except Servers are required.
type Options struct {
	Servers        []string // resolvers, in the order of queries; empty: the resolvers of the machine
	MinTTL, MaxTTL time.Duration
	Exchange       Exchange
	// Changed is called when the addresses of a name change, and when a name becomes resolvable or unresolvable. The
	// Book does not query the name until Changed returns.
	Changed func()
}

// Entry has the addresses of a name after the last queries. Its slices are shared: callers must not change them.
type Entry struct {
	Addresses []netip.Addr // of the last answers with addresses, sorted
	Names     []string     // the name, and the targets of its CNAME records
	Err       string       // error of the last query, or "" after a success
	Asked     bool         // the first query has ended
}

// Book resolves names continuously while it runs. Its methods are safe for concurrent use.
type Book struct {
	o    Options
	busy chan struct{}

	mu      sync.Mutex
	running context.Context // nil before Run
	names   map[string]*followed
}

// followed is the state of a name.
type followed struct {
	entry Entry
	stop  context.CancelFunc
	asked chan struct{} // closed after the first query
	by    [2]found      // the current answers, A and AAAA
}

// NewBook returns a Book without names.
func NewBook(o Options) *Book {
	return &Book{o: o, busy: make(chan struct{}, atOnce), names: make(map[string]*followed)}
}

// Run resolves the followed names until ctx ends. Call it once.
func (b *Book) Run(ctx context.Context) error {
	b.mu.Lock()
	b.running = ctx
	for name, f := range b.names {
		b.start(name, f)
	}
	b.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Follow sets the names to follow. It drops all other names.
func (b *Book) Follow(names map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, f := range b.names {
		if !names[name] {
			if f.stop != nil {
				f.stop()
			}
			delete(b.names, name)
		}
	}
	for name := range names {
		if b.names[name] == nil {
			f := &followed{asked: make(chan struct{})}
			b.names[name] = f
			b.start(name, f)
		}
	}
}

// start follows a name if the Book runs. The caller holds mu.
func (b *Book) start(name string, f *followed) {
	if b.running == nil {
		return
	}
	ctx, stop := context.WithCancel(b.running)
	f.stop = stop
	go b.follow(ctx, name, f)
}

// Get returns the Entry of a name, or the zero Entry if the Book does not follow the name.
func (b *Book) Get(name string) Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.names[name]; f != nil {
		return f.entry
	}
	return Entry{}
}

// Wait waits until the first query for each followed name has ended, or ctx ends.
func (b *Book) Wait(ctx context.Context) {
	b.mu.Lock()
	var all []chan struct{}
	for _, f := range b.names {
		all = append(all, f.asked)
	}
	b.mu.Unlock()
	for _, asked := range all {
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
	}
}

func (b *Book) follow(ctx context.Context, name string, f *followed) {
	retry := b.o.MinTTL // the pause after the next failure, unless a TTL expires earlier
	for {
		select {
		case b.busy <- struct{}{}:
		case <-ctx.Done():
			return
		}
		ttl, err := b.ask(ctx, name, f)
		<-b.busy
		if ctx.Err() != nil {
			return
		}
		pause := min(max(ttl, b.o.MinTTL), b.o.MaxTTL)
		if err == nil {
			retry = b.o.MinTTL
		} else {
			pause, retry = min(pause, retry), min(2*retry, b.o.MaxTTL)
		}
		b.storeResult(f, err)
		// A tenth of jitter spreads the queries of nodes and names. The pause is at least MinTTL.
		timer := time.NewTimer(max(pause-rand.N(pause/10+1), b.o.MinTTL))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// storeResult stores the answers of the last queries, or err, as the Entry of a name. It calls Changed if the Entry
// differs.
func (b *Book) storeResult(f *followed, err error) {
	var next Entry
	for _, one := range f.by {
		next.Addresses = append(next.Addresses, one.addresses...)
		next.Names = append(next.Names, one.names...)
	}
	slices.Sort(next.Names)
	next.Names, next.Asked = slices.Compact(next.Names), true
	if err != nil {
		next.Err = err.Error()
	}
	b.mu.Lock()
	before := f.entry
	f.entry = next
	b.mu.Unlock()
	if !slices.Equal(before.Addresses, next.Addresses) || !slices.Equal(before.Names, next.Names) ||
		(before.Err == "") != (next.Err == "") {
		b.o.Changed()
	}
	if !before.Asked {
		close(f.asked)
	}
}

// ask queries both types of addresses. It fails if a query fails or if the name has no address. A type retains its last
// addresses after a failure, and both types do if the name has no address. ttl is the TTL of the new addresses, or
// MaxTTL without new addresses.
func (b *Book) ask(ctx context.Context, name string, f *followed) (ttl time.Duration, err error) {
	kinds := [2]uint16{dns.TypeA, dns.TypeAAAA}
	var answers [2]found
	var errs [2]error
	for i, kind := range kinds {
		answers[i], errs[i] = b.one(ctx, name, kind)
	}
	if err = errors.Join(errs[0], errs[1]); err == nil && len(answers[0].addresses)+len(answers[1].addresses) == 0 {
		return b.o.MaxTTL, fmt.Errorf("%s has no address", name)
	}
	ttl = b.o.MaxTTL
	for i := range kinds {
		if errs[i] == nil && (err == nil || len(answers[i].addresses) > 0) {
			f.by[i] = answers[i]
			if len(answers[i].addresses) > 0 {
				ttl = min(ttl, answers[i].ttl)
			}
		}
	}
	return ttl, err
}

// one queries the addresses of one type. It tries the resolvers in order until a resolver answers.
func (b *Book) one(ctx context.Context, name string, kind uint16) (f found, err error) {
	servers := b.o.Servers
	if len(servers) == 0 {
		if servers, err = Machine(); err != nil {
			return f, err
		}
	}
	var failed []string
	for _, server := range servers {
		reply, err := b.o.Exchange(ctx, server, name, kind, true)
		if err == nil {
			f, err = read(reply, name, kind)
		}
		if err == nil {
			return f, nil
		}
		failed = append(failed, fmt.Sprintf("the resolver %s: %v", server, err))
	}
	return f, errors.New(strings.Join(failed, "; "))
}
