package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// FailBack is the Object that returns the clients of regions that await failback.
type FailBack struct {
	Domain  string   // as the registry names the service
	Regions []string // empty: all regions of the domain that can serve; regions that await no failback are accepted
	// Returned are the regions whose clients return, and Pending the other regions that await failback. Plan sets both.
	Returned []string
	Pending  []failback.Pending
}

// failbackState is the object of a failback in the audit log.
type failbackState struct {
	Domain  string           `json:"domain"`
	Pending []awaitingRegion `json:"pending"`
}

type awaitingRegion struct {
	Region string    `json:"region"`
	Since  time.Time `json:"since"`
}

func stateOf(domain string, pending []failback.Pending) *failbackState {
	s := &failbackState{Domain: domain, Pending: []awaitingRegion{}}
	for _, p := range pending {
		s.Pending = append(s.Pending, awaitingRegion{p.Region, stamp(p.Since)})
	}
	return s
}

// has reports whether a region awaits failback since the same time.
func (s *failbackState) has(one awaitingRegion) bool {
	return slices.ContainsFunc(s.Pending, func(other awaitingRegion) bool {
		return other.Region == one.Region && other.Since.Equal(one.Since)
	})
}

// Plan implements Object.
func (f *FailBack) Plan(_ context.Context, t *Transaction) error {
	before := t.c.o.Failbacks.Of(f.Domain)
	f.Returned, f.Pending = f.unused(t, before), nil
	var down []string
	for _, p := range before {
		wanted := len(f.Regions) == 0 || slices.Contains(f.Regions, p.Region)
		if wanted && p.CanServe() {
			f.Returned = append(f.Returned, p.Region)
			continue
		}
		f.Pending = append(f.Pending, p)
		if wanted {
			down = append(down, fmt.Sprintf("%s (%d serving backends, %d required)", p.Region, p.Serving, p.Required))
		}
	}
	if len(down) > 0 && (len(f.Returned) == 0 || len(f.Regions) > 0) {
		return fault.Conflictf("failback of %s: the region cannot serve yet: %s; wait for its backends, or set failback: "+
			"automatic to return as soon as it can", f.Domain, strings.Join(down, ", "))
	}
	if len(f.Returned) == 0 {
		t.Unchanged()
		return nil
	}
	t.Entry = Entry{Action: api.AuditFailback, Resource: "domain", ID: f.Domain, Before: stateOf(f.Domain, before),
		After: stateOf(f.Domain, f.Pending)}
	for _, region := range f.Returned {
		t.endFailback(f.Domain, region)
	}
	return nil
}

// unused returns the requested regions that await failback, and that the domain no longer uses.
func (f *FailBack) unused(t *Transaction, pending []failback.Pending) (list []string) {
	for _, region := range t.c.o.Failbacks.Awaiting(f.Domain) {
		if slices.Contains(f.Regions, region) &&
			!slices.ContainsFunc(pending, func(p failback.Pending) bool { return p.Region == region }) {
			list = append(list, region)
		}
	}
	return list
}

// endFailback adds the steps that return the clients of a region.
func (t *Transaction) endFailback(domain, region string) {
	t.batch.DeleteFailback(domain, region)
	t.Publish(func(context.Context) error {
		t.c.o.Failbacks.Remove(domain, region)
		return nil
	})
}

// UndoFailback is the Object that undoes a failback: the clients leave the regions until the next failback. It can also
// undo an undo of a failback.
type UndoFailback struct {
	Of *api.AuditEntry
}

// Plan implements Object.
func (u UndoFailback) Plan(_ context.Context, t *Transaction) error {
	before, after, err := States[failbackState](u.Of)
	if err != nil {
		return err
	}
	if before == nil || after == nil {
		return CannotUndo(u.Of, "it does not have the whole object")
	}
	if !t.c.o.Failbacks.Waits(before.Domain) {
		return CannotUndo(u.Of, "the failback of the domain is automatic now")
	}
	now := stateOf(before.Domain, t.c.o.Failbacks.Of(before.Domain))
	if err := UnchangedSince(u.Of, now); err != nil {
		return err
	}
	t.Entry = Entry{Action: api.AuditFailback, Resource: "domain", ID: before.Domain, Before: now, After: before}
	for _, one := range before.Pending {
		if now.has(one) {
			continue
		}
		f := store.Failback{Domain: before.Domain, Region: one.Region, Since: one.Since, Own: true}
		t.batch.PutFailback(f)
		t.Publish(func(context.Context) error {
			t.c.o.Failbacks.Put(f)
			return nil
		})
	}
	for _, one := range now.Pending {
		if !before.has(one) {
			t.endFailback(before.Domain, one.Region)
		}
	}
	return nil
}

// PresentFailback returns the current object of an entry about a failback in the form of the audit log.
func (c *Changes) PresentFailback(e *api.AuditEntry) (any, error) {
	return stateOf(e.ResourceID, c.o.Failbacks.Of(e.ResourceID)), nil
}

// FollowFailback applies the failback of a region of another node, which the store has after a merge. read returns the
// stored object. The result there of read is false for a region that no longer awaits failback.
func (c *Changes) FollowFailback(read func() (f store.Failback, there bool, err error)) error {
	defer c.exclusive()()
	f, there, err := read()
	if err == nil {
		c.o.Failbacks.Follow(f, there)
	}
	return err
}
