package operations

import (
	"context"
	"encoding/json"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// ChangePreferences edits the preferences of the console on a node. edit sets the fields of a request in the default
// preferences with Replace, and otherwise in the current preferences.
func (op *Operations) ChangePreferences(r *Request, node string, edit func(*api.Preferences) error) (
	after api.Preferences, err error) {
	ch := &Change{Action: "update", Resource: "preferences", ID: node}
	return after, op.Define(r, ch, func(d *definitions.Draft) error {
		before, err := objects.Preferences(d.Now())
		if err == nil {
			err = r.Condition.Holds(before)
		}
		if err != nil {
			return err
		}
		if after = api.DefaultPreferences(); !r.Replace {
			if after, err = objects.Preferences(d.Now()); err != nil {
				return err
			}
		}
		after.UpdatedAt = nil
		if err := edit(&after); err != nil {
			return err
		}
		if after.CustomSettings == nil {
			after.CustomSettings = map[string]any{}
		}
		if err := objects.CheckPreferences(&after); err != nil {
			return err
		}
		after.UpdatedAt = new(api.Stamp(op.o.Now()))
		encoded, err := json.Marshal(after)
		if err != nil {
			return err
		}
		ch.Before, ch.After = before, after
		d.PutSetting(definitions.Preferences, encoded)
		return nil
	})
}

// ChangeSection changes a section of the configuration. edit sets the fields of a request in the settings of the file
// with Replace, and otherwise in the current settings. A nil edit restores the settings of the file.
func (op *Operations) ChangeSection(r *Request, section string, edit func(settings any) error) error {
	ch := &Change{Action: api.AuditUpdate, Resource: "config", ID: section}
	if edit == nil {
		ch.Action = api.AuditDelete
	}
	if section == definitions.Gossip {
		ch.Resource = "gossip"
	}
	return op.Define(r, ch, func(d *definitions.Draft) error {
		ch.Before = definitions.View(section, d.File())
		if err := r.Condition.Holds(ch.Before); err != nil {
			return err
		}
		from := d.File()
		if edit == nil || r.Replace {
			from = d.Bare()
		}
		after := definitions.View(section, from)
		if edit != nil {
			if err := edit(after); err != nil {
				return err
			}
		}
		ch.After = after
		return d.PutSection(section, after)
	})
}

// Reload records a reload of the configuration of a node. reload returns the changed keys, and the changed keys that
// require a restart.
func (op *Operations) Reload(r *Request, node string, reload func() (changed, restart []string, err error)) (
	changed, restart []string, err error) {
	ch := &Change{Action: api.AuditReload, Resource: "config", ID: node}
	err = op.commit(r, &changes.Event{Entry: ch.entry, Do: func(context.Context) (err error) {
		changed, restart, err = reload()
		ch.After = changed
		return err
	}}, 0)
	return changed, restart, err
}
