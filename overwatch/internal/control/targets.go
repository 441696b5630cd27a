package control

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/resolve"
)

const (
	// maxAddresses bounds the addresses of one target.
	maxAddresses = 32
	// StartAwaits bounds how long a start waits for targets: DNS answers within a second.
	StartAwaits = 500 * time.Millisecond
	// reloadAwaits bounds how long a reload waits for targets that it brings, which may take the place of addresses.
	reloadAwaits = 3 * time.Second
	// overlap is the time for which the old addresses of a target serve on after all were replaced: the new ones have to
	// be checked first.
	overlap = 10 * time.Second
)

// Targets resolves the host names by which servers are declared, and makes backends of their addresses. It may be used
// from any goroutine.
type Targets struct {
	book  *resolve.Book
	o     TargetOptions
	moved chan struct{} // holds one token when addresses have changed

	mu      sync.Mutex
	inForce map[string]bool // names of the last declarations
	ahead   map[string]bool // names of a configuration that is to come
	kept    map[definitions.TargetID]inUse
	wrong   map[definitions.TargetID]string // Problem of those that have one
	logged  map[definitions.TargetID]loggedProblem
}

// inUse holds the addresses of a target: the present ones, and replaced ones until their time is over.
type inUse struct {
	has, had []netip.Addr
	until    time.Time
}

// all returns present and replaced addresses, at most maxAddresses.
func (u inUse) all() []netip.Addr {
	all := slices.Clone(u.has)
	for _, a := range u.had {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all[:min(len(all), maxAddresses)]
}

// loggedProblem is the state of a target that was logged last.
type loggedProblem struct {
	problem string
	lines   logging.Lines
}

// TargetOptions configures Targets.
type TargetOptions struct {
	Resolver config.Resolver
	// Takes reports whether an address may be a backend: see trust.Host.TakesTarget.
	Takes  func(at netip.AddrPort, allowed, agents []netip.Prefix) bool
	Logger zerolog.Logger
}

// NewTargets makes Targets. Names are resolved from Run on.
func NewTargets(o TargetOptions) *Targets {
	t := &Targets{o: o, moved: make(chan struct{}, 1), logged: make(map[definitions.TargetID]loggedProblem)}
	t.book = resolve.NewBook(resolve.Options{Servers: o.Resolver.Servers, MinTTL: o.Resolver.MinTTL,
		MaxTTL: o.Resolver.MaxTTL, Exchange: resolve.Ask, Changed: t.signalMoved})
	return t
}

// signalMoved has WatchTargets declare the servers again. It does not block.
func (t *Targets) signalMoved() {
	select {
	case t.moved <- struct{}{}:
	default: // a change waits already
	}
}

// Run resolves the names until ctx ends.
func (t *Targets) Run(ctx context.Context) error { return t.book.Run(ctx) }

// Await resolves the targets of a coming configuration, and returns when each was asked for once, or after atMost. They
// are resolved again and again until done is called, and after that only if they are in force.
func (t *Targets) Await(ctx context.Context, cfg *config.Config, atMost time.Duration) (done func()) {
	names := make(map[string]bool)
	for s := range cfg.StaticServers() {
		if s.Target != nil {
			names[s.Target.Name] = true
		}
	}
	done = func() { t.setNames(nil, nil) }
	t.setNames(nil, names)
	if len(names) > 0 {
		bounded, cancel := context.WithTimeout(ctx, atMost)
		defer cancel()
		t.book.Wait(bounded)
	}
	return done
}

// setNames sets the names to resolve: inForce in place of the names in force, or, where inForce is nil, ahead in place
// of those of a coming configuration.
func (t *Targets) setNames(inForce, ahead map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if inForce != nil {
		t.inForce = inForce
	} else {
		t.ahead = ahead
	}
	all := maps.Clone(t.inForce)
	if all == nil {
		all = make(map[string]bool)
	}
	maps.Copy(all, t.ahead)
	t.book.Follow(all)
}

// hold returns a function that takes back what declarations has changed since. Declarations of the configuration before
// then have the addresses of before, and not none until names that were left out have been asked for again.
func (t *Targets) hold() (restore func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	inForce, kept := t.inForce, t.kept
	return func() {
		t.mu.Lock()
		t.kept = kept
		t.mu.Unlock()
		t.setNames(inForce, nil)
	}
}

// declarations returns the backends of a configuration, with the addresses that its targets have now. Its targets are
// then the ones in force.
func (t *Targets) declarations(cfg *config.Config) []registry.Declaration {
	all := make([]registry.Declaration, 0, cfg.CountServers()) // and more where a server is of several domains
	var named []config.StaticServer
	for s := range cfg.StaticServers() {
		if s.Target != nil {
			named = append(named, s)
			continue
		}
		all = append(all, declarationOf(s))
	}
	names := make(map[string]bool, len(named))
	for _, s := range named {
		names[s.Target.Name] = true
	}
	t.setNames(names, nil)
	if len(named) == 0 {
		return all
	}
	return t.expand(cfg, all, named)
}

// expand adds the backends of servers by host name to those by address. It leaves out addresses that are the same
// backend as one before.
func (t *Targets) expand(cfg *config.Config, all []registry.Declaration,
	named []config.StaticServer) []registry.Declaration {
	taken := make(map[registry.ID]bool, len(all))
	for i := range all {
		taken[all[i].ID] = true
	}
	steered := make(map[string]bool, cfg.CountDomains())
	for d := range cfg.AllDomains {
		steered[d.Name] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.kept
	t.kept, t.wrong = make(map[definitions.TargetID]inUse, len(named)), make(map[definitions.TargetID]string)
	for _, s := range named {
		id := definitions.TargetID{Service: s.Service, Name: s.Target.Name, Port: s.Port}
		use, problem, detail := t.addresses(before[id], cfg, s, steered)
		t.kept[id] = use
		addresses := slices.DeleteFunc(use.all(), func(a netip.Addr) bool {
			return taken[registry.ID{Service: s.Service, Address: a, Port: s.Port}]
		})
		if problem == "" && len(addresses) == 0 {
			problem, detail = "another server before it has its addresses and port", ""
		}
		if problem != "" {
			t.wrong[id] = strings.TrimSuffix(problem+": "+detail, ": ")
		}
		if problem != unasked { // which passes in seconds, with an answer or without
			t.logProblem(id, problem, detail, len(addresses))
		}
		for _, a := range addresses {
			s.Address = a
			d := declarationOf(s)
			d.Host = registry.Host{Name: s.Target.Name, Addresses: len(addresses), FromAPI: s.Made}
			taken[d.ID] = true
			all = append(all, d)
		}
	}
	for id := range t.logged {
		if _, still := t.kept[id]; !still {
			delete(t.logged, id)
		}
	}
	return all
}

// Problem returns the fault of a server's name or addresses, as a sentence for people; "" where there is none.
func (t *Targets) Problem(id definitions.TargetID) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wrong[id]
}

// addresses returns the addresses that a server uses from now on: those of its name that are allowed, or, without any,
// those before. Of too many, those before stay and the first of the others fill up. problem and detail say what is
// wrong, empty for nothing.
func (t *Targets) addresses(was inUse, cfg *config.Config, s config.StaticServer,
	steered map[string]bool) (use inUse, problem, detail string) {
	entry := t.book.Get(s.Target.Name)
	agents := cfg.Overwatch.AgentPolicies[s.Service].AllowedCIDRs
	takes := func(a netip.Addr) bool {
		return t.o.Takes(netip.AddrPortFrom(a, s.Port), s.Target.Allowed, agents)
	}
	var next []netip.Addr
	var refused []string
	for _, a := range entry.Addresses {
		if a = a.Unmap(); takes(a) {
			next = append(next, a)
		} else if len(refused) < maxAddresses {
			refused = append(refused, a.String())
		}
	}
	bad := func(a netip.Addr) bool { return !takes(a) }
	before := slices.DeleteFunc(slices.Clone(was.has), bad)
	own := slices.IndexFunc(entry.Names, func(name string) bool { return config.Steers(steered, name) })
	switch {
	case own >= 0:
		problem, detail, next = "it leads to a name that this node answers itself", entry.Names[own], before
	case !entry.Asked:
		problem = unasked
	case entry.Err != "":
		problem, detail = "it is not resolved", entry.Err
	case len(refused) > 0:
		problem, detail = "it has addresses where no backend of it may be", strings.Join(refused, ", ")
	case len(next) > maxAddresses:
		problem = "it has more than 32 addresses: the others are left out"
	}
	if len(next) == 0 {
		next = before
	}
	use = inUse{has: bounded(before, next)}
	if now := time.Now(); len(before) > 0 && !slices.ContainsFunc(use.has, func(a netip.Addr) bool {
		return slices.Contains(before, a)
	}) {
		use.had, use.until = before, now.Add(overlap)
		time.AfterFunc(overlap, t.signalMoved)
	} else if now.Before(was.until) {
		use.had, use.until = slices.DeleteFunc(slices.Clone(was.had), bad), was.until
	}
	return use, problem, detail
}

// unasked is the problem of a new target that no resolver has answered for. It is not logged.
const unasked = "no resolver has answered yet"

// bounded returns at most maxAddresses of next, those of before first, in their order.
func bounded(before, next []netip.Addr) []netip.Addr {
	slices.SortFunc(next, netip.Addr.Compare)
	next = slices.Compact(next)
	if len(next) <= maxAddresses {
		return next
	}
	slices.SortStableFunc(next, func(a, b netip.Addr) int {
		was, will := slices.Contains(before, a), slices.Contains(before, b)
		switch {
		case was && !will:
			return -1
		case will && !was:
			return 1
		}
		return 0
	})
	next = next[:maxAddresses]
	slices.SortFunc(next, netip.Addr.Compare)
	return next
}

// logProblem logs a problem of a target when it begins and when it ends; of a target that changes often, only some
// times. The caller holds mu.
func (t *Targets) logProblem(id definitions.TargetID, problem, detail string, addresses int) {
	before := t.logged[id]
	if before.problem == problem {
		return
	}
	ok, last := before.lines.Take(time.Now())
	if !ok {
		return
	}
	t.logged[id] = loggedProblem{problem, before.lines}
	event, message := t.o.Logger.Warn().Str("problem", problem).Str("detail", detail),
		"the target of a server is not as it should be: what is good of it serves, or what was good last"
	if problem == "" {
		event, message = t.o.Logger.Info(), "the target of a server is resolved again"
	}
	if last {
		message += "; it changes often: no more is told of it for ten minutes"
	}
	event.Str("service", id.Service).Str("target", id.Name).Int("addresses", addresses).Msg(message)
}

// gatherPause is the time for which changes of addresses are gathered, since each declares all servers again.
const gatherPause = 200 * time.Millisecond

// WatchTargets declares the servers again each time that addresses of targets have changed, until ctx ends. It returns
// nil.
func (p *Plane) WatchTargets(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.o.Targets.moved:
		}
		pause := time.NewTimer(gatherPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
		p.mu.Lock()
		err := Declare(ctx, p.o.Registry, p.o.Targets, p.Config())
		p.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			p.log.Error().Err(err).Msg("addresses of targets are not in force")
		}
	}
}
