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
	// maxAddresses is the maximum number of addresses of a target.
	maxAddresses = 32
	// StartAwaits is the maximum time that the start waits for targets, so that DNS answers within a second.
	StartAwaits = 500 * time.Millisecond
	// reloadAwaits is the maximum time that a reload waits for the addresses of new targets, which can replace addresses.
	reloadAwaits = 3 * time.Second
	// overlap is the time for which the previous addresses of a target serve after all were replaced, so that the new
	// addresses can be checked.
	overlap = 10 * time.Second
)

// Targets resolves the host names of servers, and makes backends of their addresses. Its methods may be called
// concurrently.
type Targets struct {
	book  *resolve.Book
	o     TargetOptions
	moved chan struct{} // has a token after addresses have changed

	mu      sync.Mutex
	inForce map[string]bool // names of the last declarations
	ahead   map[string]bool // names of the next configuration
	kept    map[definitions.TargetID]inUse
	wrong   map[definitions.TargetID]string // by target with a problem, see Problem
	logged  map[definitions.TargetID]loggedProblem
}

// inUse has the addresses of a target: the current addresses, and replaced addresses until they expire.
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

// loggedProblem is the last logged state of a target.
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

// NewTargets returns a Targets. Run resolves the names.
func NewTargets(o TargetOptions) *Targets {
	t := &Targets{o: o, moved: make(chan struct{}, 1), logged: make(map[definitions.TargetID]loggedProblem)}
	t.book = resolve.NewBook(resolve.Options{Servers: o.Resolver.Servers, MinTTL: o.Resolver.MinTTL,
		MaxTTL: o.Resolver.MaxTTL, Exchange: resolve.Ask, Changed: t.signalMoved})
	return t
}

// signalMoved makes WatchTargets declare the servers. It does not block.
func (t *Targets) signalMoved() {
	select {
	case t.moved <- struct{}{}:
	default: // a change waits already
	}
}

// Run resolves the names until ctx ends.
func (t *Targets) Run(ctx context.Context) error { return t.book.Run(ctx) }

// Await resolves the targets of the next configuration, and returns when each has a result, or after atMost. Targets
// refreshes these names until done is called, and after that only the names of the last declarations.
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

// setNames sets the names to resolve: inForce replaces the names of the last declarations. If inForce is nil, ahead
// replaces the names of the next configuration.
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

// saveState returns a function that restores the current names and addresses. Declarations of the current configuration
// then have these addresses immediately, without new queries.
func (t *Targets) saveState() (restore func()) {
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

// declarations returns the backends of a configuration, with the current addresses of its targets, and resolves these
// targets from now on.
func (t *Targets) declarations(cfg *config.Config) []registry.Declaration {
	all := make([]registry.Declaration, 0, cfg.CountServers()) // and more if a server has several domains
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

// expand appends the backends of servers by host name to the backends with addresses. It omits an address that is a
// backend of an earlier server.
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
			problem, detail = "an earlier server has its addresses and port", ""
		}
		if problem != "" {
			t.wrong[id] = strings.TrimSuffix(problem+": "+detail, ": ")
		}
		if problem != unasked { // temporary: seconds later the target has a result
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

// Problem returns a sentence about the fault of a server by host name or of its addresses, "" if it has no fault.
func (t *Targets) Problem(id definitions.TargetID) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wrong[id]
}

// addresses returns the addresses of a server: the allowed addresses of its host name, or the previous addresses if no
// address is allowed. If there are more than maxAddresses, it prefers previous addresses. problem and detail describe a
// fault; both are empty without a fault.
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
		problem, detail = "it has addresses outside the allowed networks", strings.Join(refused, ", ")
	case len(next) > maxAddresses:
		problem = "it has more than 32 addresses: the others are not used"
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

// unasked is the problem of a new target without a result. It is not logged.
const unasked = "no resolver has answered yet"

// bounded returns at most maxAddresses addresses of next in ascending order. It prefers addresses in before.
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

// logProblem logs the start and the end of a problem of a target, with a bounded number of lines. The caller holds mu.
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
		"the target of a server has a problem: its valid addresses serve, or else the previous ones"
	if problem == "" {
		event, message = t.o.Logger.Info(), "the target of a server is resolved"
	}
	if last {
		message += "; it changes often: it is not logged for ten minutes"
	}
	event.Str("service", id.Service).Str("target", id.Name).Int("addresses", addresses).Msg(message)
}

// gatherPause is the time for which changes of addresses are collected, because each declares all servers.
const gatherPause = 200 * time.Millisecond

// WatchTargets declares the servers after each change of the addresses of targets, until ctx ends. It returns nil.
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
			p.log.Error().Err(err).Msg("addresses of targets could not be applied")
		}
	}
}
