package definitions

import (
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// CheckServer returns the first fault of an API server that is independent of other definitions. It validates neither
// the server's id nor its health check.
func CheckServer(s *model.Server) error {
	return errors.Join(CheckWeight(s.Weight), checkOptionalRegion(s.Region), CheckAgent(s.Agent), CheckHost(s.Host),
		CheckOwner(s.Owner))
}

// CheckHost returns an error for an invalid Host header. The empty text is valid.
func CheckHost(host string) error {
	for _, p := range (check.Spec{Type: check.HTTP, Host: host}).Validate() {
		if p.Field == "host" {
			return p
		}
	}
	return nil
}

// CheckWeight returns an error for an invalid weight of a server.
func CheckWeight(weight int) error {
	if weight < api.MinWeight || weight > api.MaxWeight {
		return fmt.Errorf("weight is %d: it must be from %d to %d", weight, api.MinWeight, api.MaxWeight)
	}
	return nil
}

// CheckAgent returns an error for an invalid agent id. The empty text is valid.
func CheckAgent(id string) error {
	if id == "" {
		return nil
	}
	if remedy := settings.LabelRemedy(id, wire.MaxID); remedy != "" {
		return fmt.Errorf("agent is %.130q: it must be the id of an agent: %s", id, remedy)
	}
	return nil
}

// maxActor is the maximum length of the name of an admin state's author, in characters.
const maxActor = 300

// CheckOrder returns the first fault in the texts of an override, weight or drain.
func CheckOrder(o *store.Order) error {
	reason := CheckText
	if o.Kind == api.OrderDrain {
		reason = checkOptionalText
	}
	return errors.Join(reason("reason", o.Reason, api.MaxReason), checkOptionalText("source", o.Source, api.MaxSource),
		checkOptionalText("created_by", o.CreatedBy, maxActor))
}
