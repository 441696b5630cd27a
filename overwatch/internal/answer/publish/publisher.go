package publish

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/shared/wire"
)

// Publisher keeps the view current.
type Publisher struct {
	measure  <-chan time.Time // nil: at latencyPace
	metrics  *metrics
	marks    *marks
	requests chan request
	tables   chan placing
	signing  *signing // nil: answers are not signed

	view   atomic.Pointer[zone.View]
	latest atomic.Uint32 // serial

	// What follows belongs to the goroutine that publishes: New, then Run.
	decider
	plan       *plan              // in force
	domains    map[string]*domain // by service name
	lines      lines              // written to the log about domains
	serials    serials
	floor      uint32   // zones that come get later serials; 0: any
	settings   Settings // in force
	rebuilding *rebuild // whose names are being decided; nil for none
}

// placing is another table of where clients are; done is closed when it counts.
type placing struct {
	table *geo.Table
	done  chan struct{}
}

// request is other settings, nil for those in force with the keys that are due now, and where its outcome goes.
type request struct {
	settings *Settings
	change   *Change // instead of settings: what is changed in those in force
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
		marks:    newMarks(),
		requests: make(chan request),
		tables:   make(chan placing),
		decider:  newDecider(o),
		floor:    o.Serial,
	}
	p.measurements.restore(o.Latencies)
	if err := p.metrics.register(o.Registerer); err != nil {
		return nil, err
	}
	if o.Signing != nil {
		p.signing = newSigning(o.Signing, p.view.Load)
	}
	b := p.build(o.Settings, nil, nil)
	if o.Ready != nil {
		if err := o.Ready(); err != nil {
			return nil, err
		}
	}
	if err := p.force(context.Background(), b, nil); err != nil {
		return nil, err
	}
	return p, nil
}

// View is the current view. It is never nil, and what it holds is never taken back: a caller may keep it.
func (p *Publisher) View() *zone.View { return p.view.Load() }

// Mark says that the backends of a service have changed. It does not block; the change is in answers after the next
// publication, at once if Run is idle.
func (p *Publisher) Mark(service string) { p.marks.add(wire.CanonicalService(service)) }

// Flush returns when every change marked before the call is in the answers, or with the error of ctx. It needs Run.
func (p *Publisher) Flush(ctx context.Context) error {
	select {
	case <-p.marks.wait():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the change to be in DNS answers: %w", context.Cause(ctx))
	}
}

// Reconfigure puts other settings into force and returns when answers follow them. On any error, the list of Check
// included, the old ones stay. It needs Run.
func (p *Publisher) Reconfigure(ctx context.Context, s Settings) error { return p.request(ctx, &s) }

// Resign puts the keys into force that are due now, and returns when answers are signed with them. On an error those before go on. It
// needs Run.
func (p *Publisher) Resign(ctx context.Context) error { return p.request(ctx, nil) }

func (p *Publisher) request(ctx context.Context, s *Settings) error {
	return p.ask(ctx, request{settings: s, done: make(chan error, 1)})
}

func (p *Publisher) ask(ctx context.Context, r request) error {
	select {
	case p.requests <- r:
		return <-r.done
	case <-ctx.Done():
		return fmt.Errorf("waiting to change what DNS answers: %w", context.Cause(ctx))
	}
}

// Place puts another table of where clients are into force, made from the same regions as the one of the settings in force. Queries
// follow it right after the return. It needs Run.
func (p *Publisher) Place(ctx context.Context, table *geo.Table) error {
	r := placing{table, make(chan struct{})}
	select {
	case p.tables <- r:
		<-r.done
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to change where clients are: %w", context.Cause(ctx))
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
	built := make(chan *rebuild)
	building := false
	var background sync.WaitGroup
	defer background.Wait()
	begin := func(s Settings, done chan error) {
		building = true
		before := p.view.Load()
		background.Go(func() {
			select {
			case built <- p.build(s, before, done):
			case <-ctx.Done():
				if done != nil {
					done <- context.Cause(ctx)
				}
			}
		})
	}
	for {
		// One view is built at a time, from settings that stay as they are.
		requests, tables, keys := p.requests, p.tables, changed
		if building {
			requests, tables, keys = nil, nil, nil
		}
		select {
		case <-measure:
			p.takeMeasurements()
		case <-p.marks.ready:
			p.publishMarked()
		case r := <-requests:
			if r.change != nil {
				r.done <- r.change.next(p)
				continue
			}
			if r.settings == nil {
				r.settings = &p.settings
			}
			begin(*r.settings, r.done)
		case r := <-tables:
			p.place(r.table)
			close(r.done)
		case <-keys:
			begin(p.settings, nil)
		case b := <-built:
			building = false
			p.conclude(ctx, b)
		case <-ctx.Done():
			return nil
		}
	}
}

// Sign makes signatures before queries need them, and others in time, until ctx ends; where answers are not signed it returns at once. It
// is no part of Run, so that a node that starts answers before it signs 100 000 names. It returns nil.
func (p *Publisher) Sign(ctx context.Context) error {
	if p.signing != nil {
		p.signing.run(ctx)
	}
	return nil
}

// place puts another table into force. Names that tell clients apart by position are decided anew, one by one: each follows
// the table that it was decided by.
func (p *Publisher) place(table *geo.Table) {
	p.generation++
	p.settings.Places = table
	p.positions = newPositions(p.positions, p.positions.earth, table)
	view := p.view.Load()
	view.Place(table)
	for _, d := range p.domains {
		if d.rules.NeedsPosition() {
			p.tell(d, p.decide(view, d))
		}
	}
	p.prepareFresh()
}

// prepareFresh has the signatures made that the last decisions need.
func (p *Publisher) prepareFresh() {
	if p.signing != nil {
		p.signing.some(p.writer.Fresh())
	}
}

// conclude puts a view into force and says so, or why not.
func (p *Publisher) conclude(ctx context.Context, b *rebuild) {
	err := p.force(ctx, b, func() {
		select {
		case <-p.marks.ready:
			p.publishMarked()
		default:
		}
	})
	if b.done != nil {
		b.done <- err
	} else if err != nil {
		p.log.Error().Err(err).Msg("the zones were not signed with the keys that are due; those before go on")
	}
}

// publishMarked decides the marked services again.
func (p *Publisher) publishMarked() {
	begin := p.now()
	p.generation++
	services, upTo := p.marks.take()
	for service := range services {
		p.changedMeanwhile(service)
		if d, ok := p.domains[service]; ok {
			p.tell(d, p.decide(p.view.Load(), d))
		}
	}
	p.prepareFresh()
	p.published(begin)
	p.marks.visible(upTo)
}

func (p *Publisher) published(begin time.Time) {
	p.metrics.publications.Inc()
	p.metrics.duration.Observe(p.now().Sub(begin).Seconds())
}
