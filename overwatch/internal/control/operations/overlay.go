package operations

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// overlayRequest is a request to change the overlay of an object of the configuration.
type overlayRequest[T any] struct {
	Kind, Name string
	Configured T             // the values of the file, in the form of the request
	Change     T             // the fields of the request
	Replace    bool          // omitted fields take the values of the file
	Check      func(T) error // returns the fault of all values of the overlay
	// Merge merges the change into base: the stored overlay, or nothing with Replace. Redacted secrets of the change
	// take the values of stored.
	Merge func(stored, base, change T) (T, error)
}

// changeOverlay changes the overlay of an object of the configuration. The overlay omits values equal to the values of
// the file.
func changeOverlay[T any](op *Operations, r *Request, d *definitions.Draft, ch *Change, o overlayRequest[T]) error {
	before := d.Now().Overlay(o.Kind, o.Name)
	stored := map[string]json.RawMessage{}
	if before != nil {
		ch.Before, stored = before, before.Fields
	}
	file := objects.SetFields(o.Configured)
	fields, err := o.applyTo(stored)
	if err != nil {
		return err
	}
	var all T
	if encoded, err := json.Marshal(fields); err != nil {
		return err
	} else if err := json.Unmarshal(encoded, &all); err != nil {
		return err
	}
	if err := o.Check(all); err != nil {
		return err
	}
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool { return bytes.Equal(value, file[name]) })
	ch.Resource, ch.ID = "overlay", definitions.OverlayKey(o.Kind, o.Name)
	switch {
	case before == nil && len(fields) > 0 && d.Now().CountOverlays() >= definitions.MaxOverlays:
		return fault.Fullf("%d objects of the configuration have an overlay, which is the maximum", definitions.MaxOverlays)
	case before != nil && maps.EqualFunc(before.Fields, fields, func(a, b json.RawMessage) bool {
		return bytes.Equal(a,
			b)
	}):
		ch.After = before
		return nil
	}
	defer ch.addConfigured(d, o.Kind, o.Name)
	return putOverlay(d, ch, &definitions.Overlay{Fields: fields, By: r.Actor.Name, UpdatedAt: api.Stamp(op.o.Now())})
}

// applyTo returns the fields of the overlay after the request. stored has the fields before.
func (o *overlayRequest[T]) applyTo(stored map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	encoded, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	var before, base T
	if err := json.Unmarshal(encoded, &before); err != nil {
		return nil, err
	}
	if !o.Replace {
		base = before
	}
	merged, err := o.Merge(before, base, o.Change)
	if err != nil {
		return nil, err
	}
	return objects.SetFields(merged), nil
}

// putOverlay stores an overlay, or deletes it if it has no fields.
func putOverlay(d *definitions.Draft, ch *Change, o *definitions.Overlay) error {
	if len(o.Fields) == 0 {
		d.PutSetting(ch.ID, nil)
		return nil
	}
	ch.After = o
	return d.PutOverlay(ch.ID, o)
}

// addConfigured adds the values of the file for the fields of the overlays before and after the change. An omitted TTL
// is the default TTL.
func (ch *Change) addConfigured(d *definitions.Draft, kind, name string) {
	before, _ := ch.Before.(*definitions.Overlay)
	after, _ := ch.After.(*definitions.Overlay)
	ch.Configured = objects.ConfiguredFields(d.Bare(), kind, name, before, after)
	if kind == definitions.OverDomain && string(ch.Configured["ttl"]) == "0" {
		ch.Configured["ttl"] = json.RawMessage(strconv.Itoa(d.File().DNS.TTL(0)))
	}
}

// undoOverlay undoes a change of an overlay, or restores a deleted overlay.
func (op *Operations) undoOverlay(r *Request, e *api.AuditEntry, ch *Change) error {
	entry := *e
	entry.Before, entry.After = op.canonical(e, e.Before), op.canonical(e, e.After)
	before, after, err := changes.States[definitions.Overlay](&entry)
	if err != nil {
		return err
	}
	kind, name, _ := definitions.SplitOverlay(e.ResourceID)
	disables := func(o *definitions.Overlay) bool { return o != nil && string(o.Fields["enabled"]) == "false" }
	var removes []impact.Withdrawal
	if kind == definitions.OverRegion && disables(before) && !disables(after) {
		removes = append(removes, impact.OfRegion(name))
	}
	return op.Apply(r, &changes.Definition{Entry: ch.entry, Removes: removes, Edit: func(d *definitions.Draft) error {
		now := d.Now().Overlay(kind, name)
		if err := changes.UnchangedSince(&entry, objects.WithoutSecrets(now)); err != nil {
			return err
		}
		if now != nil {
			ch.Before = now
		}
		if before == nil {
			before = &definitions.Overlay{}
		}
		back, err := before.Restore(now)
		if err != nil {
			return changes.CannotUndo(e, "the audit log omits secrets of the health check: "+err.Error())
		}
		defer ch.addConfigured(d, kind, name)
		return putOverlay(d, ch, back)
	}}, ch.Undoes)
}

// DropOverlay deletes the overlay of an object of the configuration. The values of the file take effect.
func (op *Operations) DropOverlay(r *Request, kind, name string) error {
	name, err := objects.OverlayName(kind, name)
	if err != nil {
		return err
	}
	ch := &Change{Action: api.AuditDelete, Resource: "overlay", ID: definitions.OverlayKey(kind, name)}
	return op.Define(r, ch, func(d *definitions.Draft) error {
		before := d.Now().Overlay(kind, name)
		if before == nil {
			return fault.NotFoundf("%s %.260q has no overlay", kind, name)
		}
		ch.Before = before
		ch.addConfigured(d, kind, name)
		d.PutSetting(ch.ID, nil)
		return nil
	})
}
