package publish

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Publisher builds and updates the view. It is safe for concurrent use.
type Publisher struct {
	*Changes
	measure  <-chan time.Time // ticks for the use of measurements; nil: at latencyPace
	metrics  *metrics
	requests chan request
	signing  *signing // nil: answers are not signed

	view   atomic.Pointer[zone.View]
	latest atomic.Uint32 // serial

	omitted atomic.Pointer[Omitted]

	longest atomic.Uint32 // longest TTL of all current answers in seconds

	// The publishing goroutine owns the following fields: the caller of New, then the goroutine of Run.
	decider
	plan     *plan              // current plan
	domains  map[string]*domain // by service name
	lines    lines              // log lines about domains
	floor    uint32             // minimum serial of new zones; 0: none
	building *next              // view under construction; nil: none
}

// request is a request for other settings. Nil settings mean the current settings with the current signing keys.
type request struct {
	settings func(inForce Settings) Settings
	commit   func() error
	done     chan error
}

// New returns a Publisher with a complete view: it contains a decision for each domain with the known backends.
// Problems found by Check are one error that lists all of them.
func New(o Options) (*Publisher, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Publisher{
		measure:  o.Measure,
		metrics:  newMetrics(),
		Changes:  o.Changes,
		requests: make(chan request),
		decider:  newDecider(o),
		floor:    o.Serial,
		domains:  make(map[string]*domain, len(o.Settings.Domains)+len(o.Settings.Defined)),
	}
	if p.Changes == nil {
		p.Changes = NewChanges()
	}
	p.measurements.restore(o.Latencies)
	if err := p.metrics.register(o.Registerer); err != nil {
		return nil, err
	}
	if o.Signing != nil {
		p.signing = newSigning(o.Signing, p.view.Load)
	}
	n := new(next)
	p.build(n, o.Settings)
	if o.Ready != nil {
		if err := o.Ready(); err != nil {
			return nil, err
		}
	}
	known := p.Changes.dropServices()
	if err := p.publishNext(context.Background(), n, nil); err != nil {
		return nil, err
	}
	p.Changes.markVisible(known)
	return p, nil
}

// View returns the current view. It is never nil, and remains valid after its replacement.
func (p *Publisher) View() *zone.View { return p.view.Load() }

// LongestTTL returns the longest TTL of all current answers. Resolvers may cache earlier answers with longer TTLs.
func (p *Publisher) LongestTTL() time.Duration { return time.Duration(p.longest.Load()) * time.Second }

// Flush returns when all previously marked changes are in the answers, or with the error of ctx. It requires Run.
func (p *Publisher) Flush(ctx context.Context) error {
	select {
	case <-p.Changes.wait():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the change to be in DNS answers: %w", context.Cause(ctx))
	}
}

// Reconfigure replaces the settings, and returns when answers follow them. Its cost depends on the changed settings,
// and includes a comparison of each domain. After any error, including problems found by Check, the previous settings
// remain. It requires Run.
//
// commit, which may be nil, is called after validation and before the decisions. If it fails, the previous settings
// remain.
func (p *Publisher) Reconfigure(ctx context.Context, s Settings, commit func() error) error {
	return p.ask(ctx, request{settings: func(Settings) Settings { return s }, commit: commit})
}

// Resign activates the current signing keys, and returns when answers are signed with them. After an error, the
// previous keys remain. It requires Run.
func (p *Publisher) Resign(ctx context.Context) error {
	return p.ask(ctx, request{settings: func(inForce Settings) Settings { return inForce }})
}

func (p *Publisher) ask(ctx context.Context, r request) error {
	r.done = make(chan error, 1)
	select {
	case p.requests <- r:
		return <-r.done
	case <-ctx.Done():
		return fmt.Errorf("waiting to change what DNS answers: %w", context.Cause(ctx))
	}
}

// Run publishes until ctx ends. It returns nil.
func (p *Publisher) Run(ctx context.Context) error {
	var changed <-chan struct{} // keys
	if p.signing != nil {
		changed = p.signing.changed
	}
	measure := p.measure
	if measure == nil {
		measuring := time.NewTicker(latencyPace)
		defer measuring.Stop()
		measure = measuring.C
	}
	built := make(chan *next)
	var background sync.WaitGroup
	defer background.Wait()
	begin := func(s Settings, r request) {
		n := &next{done: r.done, again: make(map[string]struct{})}
		p.building = n
		background.Go(func() {
			p.build(n, s)
			if n.err == nil && r.commit != nil {
				n.err = r.commit()
			}
			select {
			case built <- n:
			case <-ctx.Done():
				if n.done != nil {
					n.done <- context.Cause(ctx)
				}
			}
		})
	}
	for {
		// One view is built at a time, from the unchanged parts of the current view.
		requests, keys := p.requests, changed
		if p.building != nil {
			requests, keys = nil, nil
		}
		select {
		case <-measure:
			p.takeMeasurements()
		case <-p.Changes.ready:
			p.publishChanges()
		case r := <-requests:
			begin(r.settings(p.plan.settings), r)
		case <-keys:
			begin(p.plan.settings, request{})
		case n := <-built:
			p.activateView(ctx, n)
			p.building = nil
		case <-ctx.Done():
			return nil
		}
	}
}

// Sign creates signatures before queries need them, and renews them in time, until ctx ends. It returns immediately if
// answers are not signed. It is separate from Run, so that a node can answer while it signs 100 000 names. It returns
// nil.
func (p *Publisher) Sign(ctx context.Context) error {
	if p.signing != nil {
		p.signing.run(ctx)
	}
	return nil
}

// prepareFresh requests the signatures of the last decisions.
func (p *Publisher) prepareFresh() {
	if p.signing != nil {
		p.signing.requestSome(p.writer.TakeNewSignatures())
	}
}

// activateView makes a view current, and sends the result to the waiting caller.
func (p *Publisher) activateView(ctx context.Context, n *next) {
	err := p.publishNext(ctx, n, func() {
		select {
		case <-p.Changes.ready:
			p.publishChanges()
		default:
		}
	})
	if n.done != nil {
		n.done <- err
	} else if err != nil {
		p.log.Error().Err(err).Msg("the zones were not signed with the keys that are due; those before go on")
	}
}

// publishChanges repeats the decisions of names with changed backends, in the current view.
func (p *Publisher) publishChanges() {
	begin := p.now()
	p.generation++
	services, upTo := p.Changes.takeServices()
	for service := range services {
		p.changedMeanwhile(service)
		if d, ok := p.domains[service]; ok {
			p.logOutcome(d, p.decide(p.view.Load(), d))
		}
	}
	p.prepareFresh()
	p.published(begin)
	p.Changes.markVisible(upTo)
}

func (p *Publisher) published(begin time.Time) {
	p.metrics.publications.Inc()
	p.metrics.duration.Observe(p.now().Sub(begin).Seconds())
}
