package changes

import (
	"context"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
)

// Definition is the Object for a change of definitions: domains, regions, mappings, settings, overlays and servers with
// host names. The control plane validates the change against the whole configuration.
type Definition struct {
	// Entry returns the description of the change for the audit log. It is valid after Edit.
	Entry func() Entry
	// Edit validates the change against a draft and makes the change there. It can run more than once, each time on a new
	// draft.
	Edit func(*definitions.Draft) error
	// Check rejects the change before Edit; nil accepts it. Until the change is made, other changes cannot delete objects.
	Check func() error
	// Removes lists the backends that the change removes from answers.
	Removes []impact.Withdrawal
	// Publish runs after the change is stored. Optional.
	Publish func(context.Context) error
	// Adds reports whether the change only adds objects. Such changes run concurrently.
	Adds bool
}

func (d *Definition) adds() bool { return d.Adds }

// Plan implements Object.
func (d *Definition) Plan(_ context.Context, t *Transaction) error {
	if d.Check != nil {
		if err := d.Check(); err != nil {
			return err
		}
	}
	t.removes = append(t.removes, d.Removes...)
	if d.Publish != nil {
		t.Publish(d.Publish)
	}
	t.Write(d.Entry, func(_ context.Context, note store.Entry) error { return t.c.o.Definitions.Define(note, d.Edit) })
	return nil
}

// Event is the Object for an action that changes no stored object, such as a reload. The audit log contains its
// rejections.
type Event struct {
	Entry func() Entry // as in Definition, after Do
	Do    func(context.Context) error
}

// Plan implements Object.
func (e *Event) Plan(_ context.Context, t *Transaction) error {
	t.notesRejection = true
	t.Write(e.Entry, func(ctx context.Context, _ store.Entry) error { return e.Do(ctx) })
	return nil
}
