package control

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/settings"
)

// changeTimeout bounds the changes that are put into force together.
const changeTimeout = time.Minute

// errNotMade is what became of changes that were to go into force with one that brought its call down.
var errNotMade = errors.New(
	"the change was not made, since another one made at the same time failed inside; try it again")

// queue holds the changes that wait while others are put into force. They go together into the next turn, so that a
// hundred of them cost little more than one.
type queue struct {
	mu    sync.Mutex
	edits []*edit
}

// edit is one caller's change.
type edit struct {
	make func(*definitions.Draft) error
	note store.Entry
	done bool
	err  error
}

func (q *queue) add(e *edit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.edits = append(q.edits, e)
}

func (q *queue) take() []*edit {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.edits
	q.edits = nil
	return batch
}

// Define makes a change of what the API has defined, stores it with its note for the audit log, and returns when DNS
// answers by it. An error leaves everything as it was. What change returns as its error is returned as it is.
func (p *Plane) Define(note store.Entry, change func(*definitions.Draft) error) error {
	e := &edit{make: change, note: note}
	p.queue.add(e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !e.done {
		p.apply(p.queue.take())
	}
	return e.err
}

// apply puts changes into force: all at once, or, if they cannot be served together, one after the other.
func (p *Plane) apply(batch []*edit) {
	ctx, cancel := context.WithTimeout(p.o.Running, changeTimeout)
	defer cancel()
	defer func() { // also where a panic passes through: nobody may take it for done
		for _, e := range batch {
			if !e.done {
				e.done, e.err = true, errNotMade
			}
		}
	}()
	err := p.applyTogether(ctx, batch)
	if _, unservable := errors.AsType[settings.Problems](err); unservable && len(batch) > 1 {
		for _, e := range batch {
			err := p.applyTogether(ctx, []*edit{e})
			e.done = true
			if e.err == nil {
				e.err = err
			}
		}
		return
	}
	for _, e := range batch {
		e.done = true
		if e.err == nil {
			e.err = err
		}
	}
}

// applyTogether makes the changes that can be made, checks what comes of them, stores it, and has it answered. An error
// leaves everything as it was.
func (p *Plane) applyTogether(ctx context.Context, batch []*edit) error {
	draft := p.set.Edit(p.shown.Load().base, p.file, p.names)
	var notes []store.Entry
	for _, e := range batch {
		if e.err = e.make(draft); e.err == nil {
			notes = append(notes, e.note)
		}
	}
	next := draft.Set()
	changes, kinds := p.set.Changes(next)
	if changes.Empty() {
		return nil
	}
	changes.PutSerial(serialBound(p.o.Publisher.Serial()))
	if (kinds == definitions.Kinds{Domains: true}) && !p.partial {
		if err := p.applyDomains(ctx, next, changes, notes); !errors.Is(err, publish.ErrWhole) {
			return err
		}
	}
	addresses, err := publish.NodeAddresses(p.o.Listening())
	if err != nil {
		return err
	}
	base, err := next.Over(p.file)
	if err != nil {
		return err
	}
	joined := next.Join(base)
	settings.KeepRunning(p.running, joined)
	dns := kinds.Domains || kinds.Regions || !reflect.DeepEqual(base.DNS, p.shown.Load().base.DNS)
	var wanted publish.Settings
	if dns || kinds.Mappings {
		if dns {
			if problems := publish.Check(DNSSettings(joined, addresses)); len(problems) > 0 {
				return withoutKeys(problems)
			}
		}
		if wanted, err = p.Settings(joined, addresses); err != nil {
			return err
		}
	}
	if err := p.store.Write(changes, notes...); err != nil {
		return err
	}
	switch {
	case dns:
		if _, err = p.declareAhead(ctx, joined); err == nil {
			err = p.o.Publisher.Reconfigure(ctx, wanted)
		}
	case kinds.Mappings:
		err = p.o.Publisher.Place(ctx, wanted.Places)
	}
	if err != nil {
		back, _ := next.Changes(p.set)
		// the caller notes the failure in the audit log
		return errors.Join(err, p.store.Write(back), Declare(ctx, p.o.Registry, p.Config()))
	}
	p.set = next
	p.show(base, next)
	_ = p.logging.Set(joined.Logging) // which has been checked
	before := p.current.Swap(&current{joined, p.current.Load().since})
	if before.config.Overwatch.Validation != joined.Overwatch.Validation {
		if err := p.retime(ctx, joined); err != nil {
			return err
		}
	}
	if kinds.Domains {
		return Declare(ctx, p.o.Registry, joined)
	}
	return nil
}

// applyDomains is applyTogether for changes of domains alone, and costs what they change. Where that is not possible
// the error is publish.ErrWhole.
func (p *Plane) applyDomains(ctx context.Context, next *definitions.Set, changes *store.Batch,
	notes []store.Entry) error {
	base := p.shown.Load().base
	joined, put, deleted := next.Rejoin(p.set, p.Config(), base, p.names)
	change, err := p.o.Publisher.Prepare(ctx, joined.Domains, put, deleted)
	if err != nil {
		if problems, unservable := errors.AsType[settings.Problems](err); unservable {
			err = withoutKeys(problems)
		}
		return err
	}
	if err := p.store.Write(changes, notes...); err != nil {
		return err
	}
	for i := range put {
		deleted = append(deleted, put[i].Name)
	}
	shares := slices.ContainsFunc(deleted, func(name string) bool {
		return sharesServers(joined, p.set.Domains[name],
			next.Domains[name])
	})
	if shares {
		_, err = p.declareAhead(ctx, joined)
	}
	if err == nil {
		err = change.Apply(ctx)
	}
	if err != nil {
		back, _ := next.Changes(p.set)
		return errors.Join(err, p.store.Write(back), Declare(ctx, p.o.Registry, p.Config()))
	}
	p.set = next
	p.show(base, next)
	p.current.Store(&current{joined, p.current.Load().since})
	if shares {
		return Declare(ctx, p.o.Registry, joined)
	}
	return nil
}

// sharesServers tells whether the domains, each of which may be nil, have servers that are those of all domains of a
// region.
func sharesServers(cfg *config.Config, domains ...*store.Domain) bool {
	for i := range cfg.Regions {
		r := &cfg.Regions[i]
		if slices.ContainsFunc(domains, func(d *store.Domain) bool {
			return d != nil &&
				slices.Contains(d.Regions, r.Name)
		}) &&
			slices.ContainsFunc(r.Servers, func(s config.Server) bool { return s.Service == "" }) {
			return true
		}
	}
	return false
}

// withoutKeys takes the places in a file out of problems that are not in a file.
func withoutKeys(problems settings.Problems) settings.Problems {
	bare := slices.Clone(problems)
	for i := range bare {
		bare[i].File, bare[i].Line, bare[i].Key = "", 0, ""
	}
	return bare
}
