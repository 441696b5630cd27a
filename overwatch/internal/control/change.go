package control

import (
	"context"
	"errors"
	"net/netip"
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

// changeTimeout is the maximum time for applying the changes of a batch.
const changeTimeout = time.Minute

// errNotMade is the error of the other changes of a batch in which a change has panicked.
var errNotMade = errors.New(
	"the change was not made, since another one made at the same time failed inside; try it again")

// queue contains the changes that wait while a batch of changes is applied. The next batch applies all of them
// together, so that 100 changes cost little more than a single change.
type queue struct {
	mu    sync.Mutex
	edits []*edit
}

// edit is the change of a caller of Define. Plane.mu guards done and err.
type edit struct {
	make     func(*definitions.Draft) error
	attached definitions.Attached
	note     store.Entry
	done     bool
	err      error
}

func (q *queue) add(e *edit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.edits = append(q.edits, e)
}

func (q *queue) takeAll() []*edit {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.edits
	q.edits = nil
	return batch
}

// Define makes a change of the API's definitions, stores it with its note for the audit log, and returns when DNS
// answers reflect the change. An error leaves the state unchanged. An error of change is returned unwrapped. Define may
// call change twice, each time with a new draft.
func (p *Plane) Define(note store.Entry, change func(*definitions.Draft) error) error {
	return p.DefineWith(note, change, definitions.Attached{})
}

// DefineWith is Define together with changes of another owner: a transaction stores both, and a publication applies
// both to the answers.
func (p *Plane) DefineWith(note store.Entry, change func(*definitions.Draft) error,
	attached definitions.Attached) error {
	e := &edit{make: change, note: note, attached: attached}
	p.queue.add(e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !e.done {
		p.apply(p.queue.takeAll())
	}
	return e.err
}

// apply applies a batch: all changes together, or one after another if the combined result is invalid. It sets done and
// err of each change.
func (p *Plane) apply(batch []*edit) {
	ctx, cancel := context.WithTimeout(p.o.Running, changeTimeout)
	defer cancel()
	defer func() { // even after a panic, so that no caller assumes a successful change
		for _, e := range batch {
			if !e.done {
				e.done, e.err = true, errNotMade
			}
		}
	}()
	err := p.applyTogether(ctx, batch)
	if _, unservable := errors.AsType[settings.Problems](err); unservable && len(batch) > 1 {
		for _, e := range batch {
			p.apply([]*edit{e})
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

// applyTogether applies a batch as a single change. It omits an edit with an error of make, and sets its err. After any
// other error, the state is unchanged.
func (p *Plane) applyTogether(ctx context.Context, batch []*edit) error {
	draft := p.set.Edit(p.shown.Load().base, p.file, p.names)
	var notes []store.Entry
	var attached []definitions.Attached
	for _, e := range batch {
		draft.Refresh() // two changes may affect the same setting
		if e.err = e.make(draft); e.err == nil {
			notes = append(notes, e.note)
			if e.attached.Any() {
				attached = append(attached, e.attached)
			}
		}
	}
	next := draft.Set()
	changes, kinds := p.set.Changes(next)
	for _, a := range attached {
		a.Store(changes)
	}
	if changes.Empty() {
		return nil
	}
	changes.PutSerial(serialBound(p.o.Publisher.Serial()))
	restore := p.o.Targets.saveState()
	stored, err := p.activate(ctx, next, p.left.remaining(p.set, next), kinds, true, attached, func() error {
		return p.store.Write(changes, notes...)
	})
	if err != nil && stored {
		back, _ := next.Changes(p.set)
		for _, a := range attached {
			a.Undo(back)
		}
		restore()
		// the caller writes the failure to the audit log
		return errors.Join(err, p.store.Write(back), Declare(ctx, p.o.Registry, p.o.Targets, p.Config()))
	}
	return err
}

// activate applies a set without the objects in left. kinds are the kinds of definitions that differ from the current
// set. refuseMixed sets RefuseMixed and RefuseOmitted of publish.Settings. After validation, activate calls store.
// stored reports whether an error occurred after store had succeeded. After an error of store or an earlier error, the
// current set stays active.
func (p *Plane) activate(ctx context.Context, next *definitions.Set, left leftOut, kinds definitions.Kinds,
	refuseMixed bool, attached []definitions.Attached, store func() error) (stored bool, err error) {
	addresses, err := publish.NodeAddresses(p.o.Listening())
	if err != nil {
		return false, err
	}
	served := left.removeFrom(next, p.file)
	base := p.shown.Load().base
	if kinds.Settings || kinds.Objects || kinds.Regions {
		if base, err = served.Over(p.file); err != nil {
			return false, err
		}
	}
	joined := served.Join(base, p.names)
	settings.KeepRunning(p.running, joined)
	zones := kinds.Regions || kinds.Objects || !reflect.DeepEqual(base.DNS, p.shown.Load().base.DNS)
	shares := kinds.Objects || kinds.Targets || kinds.Regions || kinds.Domains && sharesServers(joined, p.set, next)
	commit := func() error {
		if err := store(); err != nil {
			return err
		}
		stored = true
		for _, a := range attached {
			if err := a.Declare(ctx); err != nil {
				return err
			}
		}
		if zones || shares {
			_, err := p.declareAhead(ctx, joined)
			return err
		}
		return nil
	}
	if zones || kinds.Answers {
		err = p.publishAnswers(ctx, joined, addresses, refuseMixed, commit)
	} else {
		err = commit()
	}
	for _, a := range attached {
		if err == nil {
			err = a.Withdraw(ctx)
		}
	}
	if err != nil {
		return stored, err
	}
	p.set, p.left = next, left
	p.publish(base, next)
	_ = p.logging.Set(joined.Logging) // validated before
	before := p.current.Swap(newCurrent(joined, next, p.current.Load().since))
	p.o.SetMaxUDPSize(joined.DNS.MaxUDPSize)
	if kinds.Settings && p.o.Reconfigured != nil {
		p.o.Reconfigured(joined)
	}
	if before.config.Overwatch.Validation != joined.Overwatch.Validation {
		if err := p.reconfigureChecks(ctx, joined); err != nil {
			return false, err
		}
	}
	if kinds.Regions { // backends store the names of regions
		if err := p.o.Registry.ApplyPolicies(ctx); err != nil {
			return false, err
		}
	}
	if shares {
		return false, Declare(ctx, p.o.Registry, p.o.Targets, joined)
	}
	return false, nil
}

// publishAnswers publishes the DNS answers of a configuration. After validation, it calls commit, which stores the
// change.
func (p *Plane) publishAnswers(ctx context.Context, cfg *config.Config, addresses []netip.Addr, refuseMixed bool,
	commit func() error) error {
	wanted, err := p.Settings(cfg, addresses)
	if err != nil {
		return err
	}
	wanted.RefuseMixed, wanted.RefuseOmitted = refuseMixed, refuseMixed
	err = p.o.Publisher.Reconfigure(ctx, wanted, commit)
	if problems, unservable := errors.AsType[settings.Problems](err); unservable {
		return withoutKeys(problems)
	}
	return err
}

// sharesServers reports whether a changed domain is in a region with servers that serve all domains of the region.
func sharesServers(cfg *config.Config, before, after *definitions.Set) bool {
	shared := make(map[string]bool)
	for i := range cfg.Regions {
		r := &cfg.Regions[i]
		if slices.ContainsFunc(r.Servers, func(s config.Server) bool { return s.Service == "" }) {
			shared[r.Name] = true
		}
	}
	differs := func(a, b *definitions.Set) bool {
		for name, d := range a.Domains {
			if b.Domains[name] != d && slices.ContainsFunc(d.Regions, func(region string) bool { return shared[region] }) {
				return true
			}
		}
		return false
	}
	return len(shared) > 0 && (differs(before, after) || differs(after, before))
}

// withoutKeys removes file, line and key from problems with settings of the API.
func withoutKeys(problems settings.Problems) settings.Problems {
	bare := slices.Clone(problems)
	for i := range bare {
		bare[i].File, bare[i].Line, bare[i].Key = "", 0, ""
	}
	return bare
}
