package publish

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Publisher keeps the view current.
type Publisher struct {
	*Changes
	measure  <-chan time.Time // when measurements count; nil: at latencyPace
	metrics  *metrics
	requests chan request
	signing  *signing // nil: answers are not signed

	view   atomic.Pointer[zone.View]
	latest atomic.Uint32 // serial

	longest atomic.Uint32 // TTL of all answers in force, in seconds

	// The fields below belong to the publishing goroutine: that of New, then that of Run.
	decider
	plan     *plan              // in force
	domains  map[string]*domain // by service name
	lines    lines              // of the log, about domains
	floor    uint32             // new zones get later serials; 0: any
	building *next              // the view that is built; nil: none is
}

// request is a request for other settings; nil settings: those in force, with the signing keys that are due now.
type request struct {
	settings func(inForce Settings) Settings
	commit   func() error
	done     chan error
}

// New makes a Publisher whose view is complete: every domain is decided with the backends that are known now.
// Settings in which Check finds a problem are an error that lists all of them.
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
	known := p.Changes.drop()
	if err := p.publishNext(context.Background(), n, nil); err != nil {
		return nil, err
	}
	p.Changes.visible(known)
	return p, nil
}

// View returns the view in force. It is never nil, and remains valid when another comes into force.
func (p *Publisher) View() *zone.View { return p.view.Load() }

// LongestTTL returns the longest TTL of all answers in force. Resolvers may hold earlier answers with longer TTLs.
func (p *Publisher) LongestTTL() time.Duration { return time.Duration(p.longest.Load()) * time.Second }

// Flush returns when every change marked before the call is in the answers, or with the error of ctx. It needs Run.
func (p *Publisher) Flush(ctx context.Context) error {
	select {
	case <-p.Changes.wait():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the change to be in DNS answers: %w", context.Cause(ctx))
	}
}

// Reconfigure puts other settings into force and returns when answers follow them. Its cost is that of the difference
// to the settings in force, beside a comparison of each domain. On any error, the list of Check included, the settings
// before stay. It needs Run.
//
// commit, which may be nil, is called when the settings have been found right and before names are decided by them. If
// it fails, the settings before stay.
func (p *Publisher) Reconfigure(ctx context.Context, s Settings, commit func() error) error {
	return p.ask(ctx, request{settings: func(Settings) Settings { return s }, commit: commit})
}

// Resign puts the signing keys into force that are due now, and returns when answers are signed with them. On an error
// the keys before stay. It needs Run.
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
		// One view is built at a time, of the parts of the view in force that stay.
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
			p.conclude(ctx, n)
			p.building = nil
		case <-ctx.Done():
			return nil
		}
	}
}

// Sign makes signatures before queries need them, and renews them in time, until ctx ends; if answers are not signed it
// returns at once. It is apart from Run, so that a node that starts answers before it has signed 100 000 names. It
// returns nil.
func (p *Publisher) Sign(ctx context.Context) error {
	if p.signing != nil {
		p.signing.run(ctx)
	}
	return nil
}

// prepareFresh asks for the signatures that the last decisions need.
func (p *Publisher) prepareFresh() {
	if p.signing != nil {
		p.signing.requestSome(p.writer.TakeNewSignatures())
	}
}

// conclude puts a view into force, and sends the outcome to the caller that waits for it.
func (p *Publisher) conclude(ctx context.Context, n *next) {
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

// publishChanges decides again the names whose backends have changed, in the view in force.
func (p *Publisher) publishChanges() {
	begin := p.now()
	p.generation++
	services, upTo := p.Changes.take()
	for service := range services {
		p.changedMeanwhile(service)
		if d, ok := p.domains[service]; ok {
			p.report(d, p.decide(p.view.Load(), d))
		}
	}
	p.prepareFresh()
	p.published(begin)
	p.Changes.visible(upTo)
}

func (p *Publisher) published(begin time.Time) {
	p.metrics.publications.Inc()
	p.metrics.duration.Observe(p.now().Sub(begin).Seconds())
}
