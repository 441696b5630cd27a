package httpapi

import (
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// dropOverlay answers DELETE of the overlay of an object.
func dropOverlay(kind, parameter string) handler {
	return func(s *Server, c *call) (answer, error) {
		return noContent(), s.op.DropOverlay(c.request(), kind, c.Param(parameter))
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
