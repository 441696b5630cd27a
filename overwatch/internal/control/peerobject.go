package control

import (
	"context"
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

// peerKind is a kind of replicated objects other than definitions.
type peerKind struct {
	// check rejects an object according to the rules of an API change.
	check func(*replica.Object) error
	// follow applies an object.
	follow func(p *Plane, ctx context.Context, key replica.Key) error
	// service returns the service of an object, which has no effect without the domain; nil: the object always has an
	// effect.
	service func(key replica.Key) string
}

// peerKinds are the kinds of replicated objects other than definitions. It is never changed.
var peerKinds = map[string]peerKind{
	store.KindServer:   {check: checkDeclared(checkPeerServer), follow: (*Plane).followServer, service: serverService},
	store.KindOverride: {check: checkPeerAdminState, follow: (*Plane).followAdminState, service: adminStateService},
	store.KindWeight:   {check: checkPeerAdminState, follow: (*Plane).followAdminState, service: adminStateService},
	store.KindDrain:    {check: checkPeerAdminState, follow: (*Plane).followAdminState, service: adminStateService},
	store.KindRevocation: {
		check:  checkAs(func(p *store.Pin) error { return checkAgentID(p.AgentID) }),
		follow: (*Plane).followRevocation},
	store.KindLock: {check: checkAs(checkPeerLock), follow: (*Plane).followLock},
	store.KindFailback: {check: checkAs(checkPeerFailback), follow: (*Plane).followFailback,
		service: failbackService},
}

// CheckObject checks an object of another node according to the rules of an API change. Follow reports faults that
// depend on other objects or on the configuration file, because these can arrive later. The store accepts objects of
// unknown kinds.
func CheckObject(o *replica.Object) error {
	if kind := definitions.Find(o.Kind); kind != nil {
		return kind.Check(o.Name, o.Value)
	}
	if kind, known := peerKinds[o.Kind]; known {
		return kind.check(o)
	}
	return nil
}

// checkAs returns the check of an object with a value of type T.
func checkAs[T any](check func(*T) error) func(*replica.Object) error {
	return func(o *replica.Object) error { return checkValue(o, check) }
}

// checkDeclared is checkAs for an object of a kind of package model.
func checkDeclared[T any](check func(*T) error) func(*replica.Object) error {
	return func(o *replica.Object) error {
		value, err := model.Decode[T](o.Value)
		if err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		return check(value)
	}
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

func checkPeerAdminState(o *replica.Object) error {
	return checkValue(o, func(order *store.Order) error {
		order.Kind = api.OrderKind(o.Kind)
		return changes.CheckAdminState(order)
	})
}

func checkPeerLock(l *store.TokenLock) error {
	if canonical, remedy := settings.ParseService(l.Service); remedy != "" || canonical != l.Service {
		return fmt.Errorf("service is %.260q: it must be the name of a domain", l.Service)
	}
	return nil
}

func serverService(key replica.Key) string {
	service, _, _ := store.EndpointOf(key)
	return service
}

func checkPeerFailback(f *store.Failback) error {
	if canonical, remedy := settings.ParseService(f.Domain); remedy != "" || canonical != f.Domain {
		return fmt.Errorf("domain is %.260q: it must be the name of a domain", f.Domain)
	}
	if remedy := settings.LabelRemedy(f.Region, wire.MaxRegion); remedy != "" {
		return fmt.Errorf("region is %.130q: %s", f.Region, remedy)
	}
	return nil
}

func adminStateService(key replica.Key) string {
	service, _ := store.OrderOf(key)
	return service
}

func failbackService(key replica.Key) string {
	domain, _ := store.FailbackOf(key)
	return domain
}
