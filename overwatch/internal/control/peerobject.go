package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// CheckObject checks an object of another node by the rules of an API change. Faults that
// depend on other objects or on the configuration file are reported by Follow, since these may arrive later.
func CheckObject(o *replica.Object) error {
	switch o.Kind {
	case store.KindDomain:
		d, err := model.Decode[model.Domain](o.Value)
		if err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		return definitions.CheckDomain(d)
	case store.KindRegion:
		return checkValue(o, definitions.CheckRegion)
	case store.KindMapping:
		return checkValue(o, definitions.CheckMapping)
	case store.KindAgent:
		return checkValue(o, definitions.CheckNode)
	case store.KindServer:
		s, err := model.Decode[model.Server](o.Value)
		if err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		return checkPeerServer(s)
	case store.KindOverride, store.KindWeight, store.KindDrain:
		return checkValue(o, func(order *store.Order) error {
			order.Kind = api.OrderKind(o.Kind)
			return changes.CheckAdminState(order)
		})
	case store.KindSetting:
		return definitions.CheckPeerSetting(o.Name, o.Value)
	case store.KindRevocation:
		return checkValue(o, func(p *store.Pin) error { return checkAgentID(p.AgentID) })
	case store.KindLock:
		return checkValue(o, func(l *store.TokenLock) error {
			if canonical, remedy := settings.ParseService(l.Service); remedy != "" || canonical != l.Service {
				return fmt.Errorf("service is %.260q: it must be the name of a domain", l.Service)
			}
			return nil
		})
	}
	return nil // the store holds unknown kinds
}

// checkValue checks the value of an object as a T.
func checkValue[T any](o *replica.Object, check func(*T) error) error {
	value := new(T)
	if err := json.Unmarshal(o.Value, value); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return check(value)
}

func checkAgentID(id string) error {
	if remedy := settings.LabelRemedy(id, wire.MaxID); remedy != "" {
		return fmt.Errorf("agent_id is %.130q: %s", id, remedy)
	}
	return nil
}

func checkPeerServer(s *model.Server) error {
	id, err := registry.NewID(s.Service, s.Address, s.Port)
	if err == nil && (id.Service != s.Service || id.Address != s.Address) {
		err = fmt.Errorf("its id is not in the canonical form %s", id)
	}
	return errors.Join(err, definitions.CheckServer(s))
}
