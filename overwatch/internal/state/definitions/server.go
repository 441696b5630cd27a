package definitions

import (
	"errors"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// CheckServer returns the first fault of a server of the API that does not depend on other definitions. It checks
// neither the server's id nor its health check.
func CheckServer(s *store.Server) error {
	return errors.Join(CheckWeight(s.Weight), checkOptionalRegion(s.Region), CheckAgent(s.Agent), CheckOwner(s.Owner))
}

// CheckWeight returns an error for a number that cannot be the weight of a server.
func CheckWeight(weight int) error {
	if weight < api.MinWeight || weight > api.MaxWeight {
		return fmt.Errorf("weight is %d: it must be from %d to %d", weight, api.MinWeight, api.MaxWeight)
	}
	return nil
}

// CheckAgent returns an error for a text that cannot be an agent's id; "" stands for none.
func CheckAgent(id string) error {
	if id == "" {
		return nil
	}
	if remedy := settings.LabelRemedy(id, wire.MaxID); remedy != "" {
		return fmt.Errorf("agent is %.130q: it must be the id of an agent: %s", id, remedy)
	}
	return nil
}

// CheckOrder returns the first fault of an override, weight or drain. It does not check which backends the order is
// about.
func CheckOrder(o *store.Order) error {
	if err := checkOrderTexts(o); err != nil {
		return err
	}
	if o.StartsAt != nil && o.ExpiresAt != nil && !o.ExpiresAt.After(*o.StartsAt) {
		return fmt.Errorf("it would end %s, before it starts", o.ExpiresAt.Format(time.RFC3339))
	}
	switch {
	case o.Kind == api.OrderWeight && (o.Weight < 0 || o.Weight > api.MaxWeight):
		return fmt.Errorf("weight is %d: it must be from 0 to %d", o.Weight, api.MaxWeight)
	case o.Kind == api.OrderDrain && !(o.Share >= 0 && o.Share < 1): //nolint:staticcheck // NaN is in no range
		return fmt.Errorf("share is %v: it must be the part that stays, from 0 to below 1, such as 0.25", o.Share)
	case o.Kind == api.OrderDrain && (o.Over < 0 || o.Over > api.MaxDrain):
		return fmt.Errorf("duration is %s: it must be above zero and at most %s, such as 30s", o.Over, api.MaxDrain)
	}
	return nil
}

func checkOrderTexts(o *store.Order) error {
	reason := checkOptionalText
	if o.Kind != api.OrderDrain {
		reason = CheckText
	}
	return errors.Join(reason("reason", o.Reason, api.MaxReason), checkOptionalText("source", o.Source, api.MaxSource),
		checkOptionalText("created_by", o.CreatedBy, maxActor))
}

// maxActor bounds the name of the operator of an order, in characters.
const maxActor = 300
