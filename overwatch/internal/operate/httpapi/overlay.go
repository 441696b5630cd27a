package httpapi

import (
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

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
		ch := &operations.Change{Action: api.AuditDelete, Resource: "overlay", ID: definitions.OverlayKey(kind, name)}
		return noContent(), s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
			before := d.Now().Overlay(kind, name)
			if before == nil {
				return notFound("nothing is laid over %s %.260q", kind, name)
			}
			ch.Before = before
			d.PutSetting(ch.ID, nil)
			return nil
		})
	}
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
			one.Reason = fmt.Sprintf("the configuration file does not have it, or does not go with it: gslbctl %ss "+
				"reset %s "+
				"takes it away", kind, name)
		}
		return one
	})
	return ok(list), nil
}
