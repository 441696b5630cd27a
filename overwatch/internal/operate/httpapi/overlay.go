package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// overlayRequest is a request to lay values over an object of the configuration.
type overlayRequest[T any] struct {
	kind, name string
	configured T                                 // what the file says, in the form of the request
	change     T                                 // the fields of the request
	anew       bool                              // fields that the request does not have are the file's again
	check      func(T) error                     // finds what is wrong with all that would be laid
	merge      func(before, change T) (T, error) // nil: fields of the change replace those before
}

// layOver lays values over an object of the configuration. Values that equal the file's are not kept.
func layOver[T any](s *Server, c *call, d *definitions.Draft, ch *change, o overlayRequest[T]) error {
	before := d.Now().Overlay(o.kind, o.name)
	fields := map[string]json.RawMessage{}
	if before != nil {
		ch.before = before
		if !o.anew {
			fields = maps.Clone(before.Fields)
		}
	}
	file := objects.SetFields(o.configured)
	if err := o.add(fields); err != nil {
		return err
	}
	var all T
	if encoded, err := json.Marshal(fields); err != nil {
		return err
	} else if err := json.Unmarshal(encoded, &all); err != nil {
		return err
	}
	if err := o.check(all); err != nil {
		return err
	}
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool { return bytes.Equal(value, file[name]) })
	ch.resource, ch.id = "overlay", definitions.OverlayKey(o.kind, o.name)
	switch {
	case before == nil && len(fields) > 0 && d.Now().CountOverlays() >= definitions.MaxOverlays:
		return problemf(http.StatusInsufficientStorage, "the API has laid values over %d objects of the configuration, "+
			"which is the most", definitions.MaxOverlays)
	case before != nil && maps.EqualFunc(before.Fields, fields, func(a, b json.RawMessage) bool {
		return bytes.Equal(a,
			b)
	}):
		ch.after = before
		return nil
	}
	return putOverlay(d, ch, &definitions.Overlay{Fields: fields, By: c.actor, UpdatedAt: stamp(s.o.Now())})
}

// add adds the fields of the request to those of the overlay before.
func (o *overlayRequest[T]) add(fields map[string]json.RawMessage) error {
	if o.merge == nil {
		maps.Copy(fields, objects.SetFields(o.change))
		return nil
	}
	encoded, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	var before T
	if err := json.Unmarshal(encoded, &before); err != nil {
		return err
	}
	merged, err := o.merge(before, o.change)
	if err != nil {
		return err
	}
	clear(fields)
	maps.Copy(fields, objects.SetFields(merged))
	return nil
}

// putOverlay stores an overlay, or deletes one without fields.
func putOverlay(d *definitions.Draft, ch *change, o *definitions.Overlay) error {
	if len(o.Fields) == 0 {
		d.PutSetting(ch.id, nil)
		return nil
	}
	ch.after = o
	return d.PutOverlay(ch.id, o)
}

// dropOverlay answers DELETE on the overlay of an object: the file's values count again.
func dropOverlay(kind, parameter string) handler {
	return func(s *Server, c *call) (answer, error) {
		name := c.Param(parameter)
		switch kind {
		case definitions.OverDomain:
			name = wire.CanonicalService(name)
		case definitions.OverServer:
			id, err := objects.ParseID(name)
			if err != nil {
				return answer{}, err
			}
			name = id.String()
		}
		ch := &change{action: api.AuditDelete, resource: "overlay", id: definitions.OverlayKey(kind, name)}
		return noContent(), s.define(c, ch, func(d *definitions.Draft) error {
			before := d.Now().Overlay(kind, name)
			if before == nil {
				return notFound("nothing is laid over %s %.260q", kind, name)
			}
			ch.before = before
			d.PutSetting(ch.id, nil)
			return nil
		})
	}
}

// undoOverlay undoes a change of an overlay, or puts back a deleted one.
func (s *Server) undoOverlay(c *call, e *api.AuditEntry, ch *change) error {
	entry := *e
	entry.Before, entry.After = canonical(e, e.Before), canonical(e, e.After)
	before, after, err := changes.States[definitions.Overlay](&entry)
	if err != nil {
		return err
	}
	kind, name, _ := definitions.SplitOverlay(e.ResourceID)
	disables := func(o *definitions.Overlay) bool { return o != nil && string(o.Fields["enabled"]) == "false" }
	if kind == definitions.OverRegion && disables(before) && !disables(after) {
		done, err := s.safely(c, impact.OfRegion(name))
		defer done()
		if err != nil {
			return err
		}
	}
	return s.define(c, ch, func(d *definitions.Draft) error {
		now := d.Now().Overlay(kind, name)
		if err := changes.UnchangedSince(&entry, now); err != nil {
			return err
		}
		if now != nil {
			ch.before = now
		}
		if before == nil {
			before = &definitions.Overlay{}
		}
		return putOverlay(d, ch, before)
	})
}

// listOverlays answers GET /config/overlays.
func (s *Server) listOverlays(c *call) (answer, error) {
	set, file := s.o.Definitions.Defined()
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(set.Settings)) {
		if kind, _, is := definitions.SplitOverlay(key); is && kind != definitions.OverTarget {
			keys = append(keys, key)
		}
	}
	list := api.OverlayList{GeneratedAt: stamp(s.o.Now())}
	list.Overlays, list.Total = pageOf(slices.Values(keys), c.page, func(key string) api.OverlaidObject {
		kind, name, _ := definitions.SplitOverlay(key)
		one := api.OverlaidObject{Kind: kind, ID: name}
		if o := objects.OverlayView(set, file, kind, name); o != nil {
			one.Overlay = *o
		}
		if !one.InForce {
			one.Reason = fmt.Sprintf("the configuration file does not have it, or does not go with it: gslbctl %ss reset %s "+
				"takes it away", kind, name)
		}
		return one
	})
	return ok(list), nil
}
